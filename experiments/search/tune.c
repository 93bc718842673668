/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/search/tune.h"

#include "sim/random.h"
#include "sim/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rounds and how fast they close in: of those tried on the problems of validation/unit/test_tune.c,
 * the ones that missed the best mixture least often (1 of 100 seeds; 6 with three rounds by half).
 */
#define SHRINK 0.6
enum { ROUNDS = 5, ELITES = 5, TRIES = 30, LEAST_FIRST = 5 };

/* How values of the candidates of a race are looked at: [candidate] -> n values. */
struct look {
    size_t *index; /* of candidates in the race */
    size_t count;
    double **objective, **excess;
    uint32_t n;
};

struct search {
    const struct tune_problem *p;
    const struct tune_options *o;
    struct tune_result *r;
    struct rng rng;
    uint32_t first;
    size_t looks; /* made so far, in all races */
    struct errors *e;
};

const char *candidate_fate_name(enum candidate_fate f)
{
    static const char *const names[] = {
        [FATE_WINNER] = "best",   [FATE_CLOSE] = "not worse",
        [FATE_OPEN] = "open",     [FATE_BREAKS] = "breaks a constraint",
        [FATE_WORSE] = "worse",   [FATE_LEFT] = "left behind",
        [FATE_FAILED] = "failed", [FATE_OUTSIDE] = "nearest to the constraints",
    };

    return names[f];
}

void tune_result_free(struct tune_result *r)
{
    for (size_t i = 0; i < r->candidates; i++) {
        free(r->candidate[i].x);
        free(r->candidate[i].excess);
    }
    free(r->candidate);
}

/* ---- candidates -------------------------------------------------------------------------------
 */

static bool known(const struct search *s, const double *x)
{
    for (size_t i = 0; i < s->r->candidates; i++)
        if (!memcmp(s->r->candidate[i].x, x, s->p->variables * sizeof *x))
            return true;
    return false;
}

static bool add(struct search *s, const double *x)
{
    struct candidate *c;

    if (known(s, x))
        return false;
    s->r->candidate = xrealloc(s->r->candidate, (s->r->candidates + 1) * sizeof *s->r->candidate);
    c = &s->r->candidate[s->r->candidates++];
    *c = (struct candidate){.alive = true, .fate = FATE_LEFT};
    c->x = xcalloc(s->p->variables, sizeof *c->x);
    memcpy(c->x, x, s->p->variables * sizeof *x);
    c->excess = xcalloc(s->p->constraints + 1, sizeof *c->excess);
    return true;
}

static size_t alive(const struct search *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->r->candidates; i++)
        n += s->r->candidate[i].alive;
    return n;
}

static double worst_excess(const struct search *s, const struct candidate *c)
{
    double worst = -INFINITY;

    for (size_t i = 0; i < s->p->constraints; i++)
        worst = c->excess[i] > worst ? c->excess[i] : worst;
    return worst;
}

/* Order of preference by what was seen: those within their constraints by their objective, then
 * the others by how far they are outside. */
static bool better(const struct search *s, const struct candidate *a, const struct candidate *b)
{
    bool in_a = worst_excess(s, a) <= 0, in_b = worst_excess(s, b) <= 0;

    if (in_a != in_b)
        return in_a;
    if (in_a)
        return a->objective < b->objective;
    return worst_excess(s, a) < worst_excess(s, b);
}

/* ---- replications -----------------------------------------------------------------------------
 */

/* A figure without a value (no request was answered) is no figure to choose by. */
static void take_means(const struct search *s, size_t candidate)
{
    struct candidate *c = &s->r->candidate[candidate];
    double *objective = xcalloc(c->n, sizeof *objective);
    double *excess = xcalloc((size_t)c->n * (s->p->constraints + 1), sizeof *excess);

    s->p->values(s->p->ctx, candidate, c->n, objective, excess);
    c->objective = mean_of(objective, c->n);
    for (size_t i = 0; i < s->p->constraints; i++)
        c->excess[i] = mean_of(&excess[i * c->n], c->n);
    for (size_t i = 0; i < (size_t)c->n * s->p->constraints; i++)
        c->alive = c->alive && !isnan(excess[i]);
    c->alive = c->alive && !isnan(c->objective);
    if (!c->alive)
        c->fate = FATE_FAILED;
    free(objective);
    free(excess);
}

/* Bring all that are alive to n replications. 1: the budget does not allow it. */
static int replicate_to(struct search *s, uint32_t n)
{
    uint64_t wanted = 0;
    struct tune_job *job;
    size_t jobs = 0;
    bool *failed;
    int status;

    for (size_t i = 0; i < s->r->candidates; i++)
        if (s->r->candidate[i].alive && s->r->candidate[i].n < n)
            wanted += n - s->r->candidate[i].n;
    if (s->r->spent + wanted > s->o->budget)
        return 1;
    job = xcalloc(wanted, sizeof *job);
    failed = xcalloc(wanted, sizeof *failed);
    for (uint32_t k = 0; k < n; k++) /* replications first: all are treated alike */
        for (size_t i = 0; i < s->r->candidates; i++)
            if (s->r->candidate[i].alive && s->r->candidate[i].n <= k)
                job[jobs++] = (struct tune_job){i, s->r->candidate[i].x, k};
    status = s->p->evaluate(s->p->ctx, job, jobs, failed, s->e);
    s->r->spent += jobs;
    for (size_t i = 0; i < jobs && !status; i++)
        if (failed[i]) {
            s->r->candidate[job[i].candidate].alive = false;
            s->r->candidate[job[i].candidate].fate = FATE_FAILED;
        }
    for (size_t i = 0; i < s->r->candidates && !status; i++)
        if (s->r->candidate[i].alive && s->r->candidate[i].n < n) {
            s->r->candidate[i].n = n;
            take_means(s, i);
        }
    free(job);
    free(failed);
    return status;
}

/* ---- looks ------------------------------------------------------------------------------------
 */

static void look_begin(const struct search *s, struct look *l, uint32_t n)
{
    *l = (struct look){.n = n};
    l->index = xcalloc(s->r->candidates, sizeof *l->index);
    l->objective = xcalloc(s->r->candidates, sizeof *l->objective);
    l->excess = xcalloc(s->r->candidates, sizeof *l->excess);
    for (size_t i = 0; i < s->r->candidates; i++) {
        size_t k = l->count;

        if (!s->r->candidate[i].alive || s->r->candidate[i].n < n)
            continue;
        l->index[l->count++] = i;
        l->objective[k] = xcalloc(n, sizeof **l->objective);
        l->excess[k] = xcalloc((size_t)n * (s->p->constraints + 1), sizeof **l->excess);
        s->p->values(s->p->ctx, i, n, l->objective[k], l->excess[k]);
    }
}

static void look_end(struct look *l)
{
    for (size_t k = 0; k < l->count; k++) {
        free(l->objective[k]);
        free(l->excess[k]);
    }
    free(l->index);
    free(l->objective);
    free(l->excess);
}

/* Which candidates are known to break a constraint, which to keep all. */
static void look_at_constraints(struct search *s, struct look *l, double alpha)
{
    double *zero = xcalloc(l->n, sizeof *zero);
    double each = alpha / (double)(l->count * (s->p->constraints ? s->p->constraints : 1));

    for (size_t k = 0; k < l->count; k++) {
        struct candidate *c = &s->r->candidate[l->index[k]];
        bool feasible = true;

        for (size_t i = 0; i < s->p->constraints; i++) {
            const double *x = &l->excess[k][i * l->n];

            if (c->alive && paired_t_test(x, zero, l->n, GREATER) <= each) {
                c->alive = c->feasible = false;
                c->fate = FATE_BREAKS;
                c->constraint = (uint32_t)i;
            }
            feasible = feasible && paired_t_test(x, zero, l->n, LESS) <= each;
        }
        c->feasible = c->alive && (c->feasible || feasible);
    }
    free(zero);
}

/* Drop what is worse than the best of those that are known to keep all constraints. */
static void look_at_objective(struct search *s, struct look *l, double alpha)
{
    struct race race = {.alpha = alpha, .looks = 1};
    bool *may_win = xcalloc(l->count, sizeof *may_win), *in = xcalloc(l->count, sizeof *in);
    const double *const *score = (const double *const *)l->objective;
    size_t best;

    for (size_t k = 0; k < l->count; k++) {
        in[k] = s->r->candidate[l->index[k]].alive;
        may_win[k] = in[k] && s->r->candidate[l->index[k]].feasible;
    }
    best = race_best(&race, score, may_win, l->count, l->n);
    if (best < l->count)
        race_against(&race, score, in, l->count, l->n, best);
    for (size_t k = 0; k < l->count; k++) {
        struct candidate *c = &s->r->candidate[l->index[k]];

        if (c->alive && !in[k])
            c->fate = FATE_WORSE;
        c->alive = in[k];
    }
    free(may_win);
    free(in);
}

static void look(struct search *s, uint32_t n)
{
    double k = (double)++s->looks, alpha = s->o->alpha / (k * (k + 1));
    struct look l;

    look_begin(s, &l, n);
    if (l.count)
        look_at_constraints(s, &l, alpha / 2);
    look_at_objective(s, &l, s->p->constraints ? alpha / 2 : alpha);
    look_end(&l);
}

/* ---- races ------------------------------------------------------------------------------------
 */

static uint32_t next_look(const struct search *s, uint32_t n)
{
    return n < s->first ? s->first : n + (n / 4 ? n / 4 : 1);
}

/* One that is left and known to keep its constraints needs no further look. */
static bool decided(const struct search *s)
{
    size_t left = 0, open = 0;

    for (size_t i = 0; i < s->r->candidates; i++) {
        left += s->r->candidate[i].alive;
        open += s->r->candidate[i].alive && !s->r->candidate[i].feasible;
    }
    return left == 0 || (left == 1 && !open);
}

/* Race those that are alive, up to so many replications spent in all, or until `enough` are left.
 */
static int race(struct search *s, uint64_t until, size_t enough)
{
    uint32_t n = UINT32_MAX;
    int status = 0;

    s->r->races++;
    for (size_t i = 0; i < s->r->candidates; i++)
        if (s->r->candidate[i].alive && s->r->candidate[i].n < n)
            n = s->r->candidate[i].n;
    while (!decided(s) && (alive(s) > enough || n < s->first)) {
        uint32_t next = next_look(s, n);

        if ((s->o->most && next > s->o->most) || s->r->spent >= until)
            break;
        status = replicate_to(s, next);
        if (status)
            break;
        n = next;
        if (s->o->tell)
            s->o->tell(s->p->ctx, s->r->spent, alive(s));
        look(s, n);
    }
    return status < 0 ? -1 : 0;
}

/* ---- sampling ---------------------------------------------------------------------------------
 */

/* Only the best go on; they are what new ones are sampled around. */
static size_t keep_elites(struct search *s, size_t *elite)
{
    size_t count = 0;

    for (size_t i = 0; i < s->r->candidates; i++) {
        struct candidate *c = &s->r->candidate[i];
        size_t k = count;

        if (!c->alive || !c->n) { /* the budget ended before it began */
            c->alive = false;
            continue;
        }
        while (k && better(s, c, &s->r->candidate[elite[k - 1]]))
            k--;
        if (k == ELITES) {
            c->alive = false;
            continue;
        }
        if (count == ELITES)
            s->r->candidate[elite[--count]].alive = false;
        memmove(&elite[k + 1], &elite[k], (count - k) * sizeof *elite);
        elite[k] = i;
        count++;
    }
    return count;
}

static void sample(struct search *s, size_t count)
{
    double *x = xcalloc(s->p->variables, sizeof *x);

    for (size_t i = 0, tries = 0; i < count && tries < count + TRIES; tries++) {
        space_sample(s->p->variable, s->p->variables, &s->rng, x);
        i += add(s, x);
    }
    free(x);
}

/* Around the elites, the better ones more often; a fifth of them anywhere, lest all elites are in
 * the wrong place. */
static void sample_around(struct search *s, size_t count, const size_t *elite, size_t elites,
                          double spread)
{
    double *x = xcalloc(s->p->variables, sizeof *x);

    sample(s, count / 5);
    count -= count / 5;
    for (size_t i = 0, tries = 0; i < count && tries < 4 * count + TRIES; tries++) {
        size_t a = (size_t)rng_below(&s->rng, elites), b = (size_t)rng_below(&s->rng, elites);

        space_near(s->p->variable, s->p->variables, s->r->candidate[elite[a < b ? a : b]].x, spread,
                   &s->rng, x);
        i += add(s, x);
    }
    free(x);
}

static int search_all(struct search *s, size_t size)
{
    double *x = xcalloc(s->p->variables, sizeof *x);

    s->r->whole_space = true;
    for (size_t i = 0; i < size; i++) {
        space_setting(s->p->variable, s->p->variables, i, x);
        add(s, x);
    }
    free(x);
    return race(s, s->o->budget, 1);
}

/* Races of which each has an equal share of the budget, and one more for the finalists. */
static int search_iterated(struct search *s)
{
    size_t rounds = ROUNDS, elite[ELITES + 1], elites, count;
    double spread = 0.3;
    int status;

    for (size_t v = s->p->variables; v > 1; v /= 2)
        rounds++;
    for (size_t i = 0; i < rounds; i++) {
        uint64_t share = (s->o->budget - s->r->spent) / (rounds - i + 1);

        count = (size_t)(share / (s->first + 3 + i));
        count = count < 4 ? 4 : count;
        if (i == 0) {
            sample(s, count);
        } else {
            elites = keep_elites(s, elite);
            if (!elites)
                sample(s, count);
            else
                sample_around(s, count, elite, elites, spread);
            spread *= SHRINK;
        }
        status = race(s, s->r->spent + share, ELITES - 2);
        if (status)
            return status;
    }
    keep_elites(s, elite);
    return race(s, s->o->budget, 1);
}

/* ---- the answer -------------------------------------------------------------------------------
 */

/* The best of those known to keep their constraints; else of those that seem to; else the one that
 * is least outside. Only candidates that were still in the race count, if there are any. */
static size_t choose(const struct search *s)
{
    size_t best = SIZE_MAX;

    for (int pass = 0; pass < 2 && best == SIZE_MAX; pass++)
        for (size_t i = 0; i < s->r->candidates; i++) {
            const struct candidate *c = &s->r->candidate[i];
            const struct candidate *b = best == SIZE_MAX ? NULL : &s->r->candidate[best];

            if (c->fate == FATE_FAILED || !c->n || (!pass && !c->alive))
                continue;
            if (!b || (c->feasible && !b->feasible) ||
                (c->feasible == b->feasible && better(s, c, b)))
                best = i;
        }
    return best;
}

/* Those that are left and not worse than the winner. */
static void tell_fates(struct search *s, size_t winner)
{
    struct candidate *w = &s->r->candidate[winner];

    for (size_t i = 0; i < s->r->candidates; i++) {
        struct candidate *c = &s->r->candidate[i];

        if (i == winner || !c->alive)
            continue;
        c->fate = !c->feasible && s->p->constraints && c->objective < w->objective ? FATE_OPEN
                                                                                   : FATE_CLOSE;
    }
    w->fate =
        s->p->constraints && !w->feasible && worst_excess(s, w) > 0 ? FATE_OUTSIDE : FATE_WINNER;
}

int tune_search(const struct tune_problem *p, const struct tune_options *o, struct tune_result *r,
                struct errors *e)
{
    struct search s = {.p = p, .o = o, .r = r, .e = e};
    size_t size;
    int status;

    *r = (struct tune_result){.winner = SIZE_MAX};
    s.first = o->first < LEAST_FIRST ? LEAST_FIRST : o->first;
    rng_init(&s.rng, o->seed, 0, "tune", "settings");
    if (o->budget < s.first)
        return error_add(e, EXIT_INPUT, "the budget of %llu replications is less than the first %u",
                         (unsigned long long)o->budget, s.first);
    if (p->first_given)
        add(&s, p->first);
    size = space_size(p->variable, p->variables, (size_t)(o->budget / (2 * (uint64_t)s.first)));
    status = size ? search_all(&s, size) : search_iterated(&s);
    if (status)
        return -1;
    r->winner = choose(&s);
    if (r->winner != SIZE_MAX)
        tell_fates(&s, r->winner);
    return 0;
}
