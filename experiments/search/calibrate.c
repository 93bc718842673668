/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/search/calibrate.h"

#include "sim/detmath.h"
#include "sim/json_writer.h"
#include "sim/line_file.h"
#include "sim/random.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multimin.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SIGNIFICANT = 0.05;
static const double NO_DIFFERENCE = 0.002; /* of losses: 0.2 % of a value is none */
static const double STEP = 0.2;            /* first side of a simplex, as a share of the ranges */
static const double SMALL_STEP = 0.07;     /* when fitting again along a profile */
static const double NARROW = 1e-3;         /* a simplex of this size has arrived */

enum { FINALISTS = 3, PROFILE_VALUES = 5 };

struct evaluation {
    double *x, *simulated;
    double loss;
};

struct search {
    const struct calibration_problem *p;
    const struct calibration_options *o;
    struct evaluation *done; /* each setting once, those of the journal included */
    size_t count, groups;
    /* Those asked for, in that order: what a journal holds beyond is not looked at before, so that
     * a search is the same with and without one. */
    size_t *seen, spent;
    size_t best;
    size_t limit; /* of spent, for the stage under way */
    bool failed;
    struct line_file *journal;
    struct errors *e;
};

/* ---- loss ------------------------------------------------------------------------------------ */

double calibration_point_loss(double measured, double simulated)
{
    double off;

    if (isnan(simulated) || simulated <= 0 || measured <= 0)
        return CALIBRATION_WORST;
    off = fabs(det_log(simulated / measured));
    return off < CALIBRATION_WORST ? off : CALIBRATION_WORST;
}

static size_t groups_of(const struct calibration_problem *p)
{
    size_t most = 0;

    for (size_t i = 0; i < p->points; i++)
        if (p->point[i].group >= most)
            most = p->point[i].group + 1;
    return most;
}

/* The mean loss of each group's points; NAN of a group without. */
static void group_losses(const struct calibration_problem *p, const double *simulated, double *loss,
                         size_t groups)
{
    size_t *n = xcalloc(groups, sizeof *n);

    memset(loss, 0, groups * sizeof *loss);
    for (size_t i = 0; i < p->points; i++) {
        loss[p->point[i].group] += calibration_point_loss(p->point[i].measured, simulated[i]);
        n[p->point[i].group]++;
    }
    for (size_t g = 0; g < groups; g++)
        loss[g] = n[g] ? loss[g] / (double)n[g] : NAN;
    free(n);
}

double calibration_loss(const struct calibration_problem *p, const double *simulated)
{
    size_t groups = groups_of(p), n = 0;
    double *loss = xcalloc(groups, sizeof *loss), sum = 0;

    group_losses(p, simulated, loss, groups);
    for (size_t g = 0; g < groups; g++)
        if (!isnan(loss[g])) {
            sum += loss[g];
            n++;
        }
    free(loss);
    return n ? sum / (double)n : NAN;
}

/* Is b significantly worse than a? Paired over groups. */
static bool worse(const struct search *s, const struct evaluation *a, const struct evaluation *b)
{
    double *x = xcalloc(s->groups, sizeof *x), *y = xcalloc(s->groups, sizeof *y);
    double n = 0, mean = 0, square = 0, error;

    group_losses(s->p, a->simulated, x, s->groups);
    group_losses(s->p, b->simulated, y, s->groups);
    for (size_t g = 0; g < s->groups; g++) {
        double d = y[g] - x[g], before = mean;

        if (isnan(d))
            continue;
        n++;
        mean += (d - before) / n;
        square += (d - before) * (d - mean);
    }
    free(x);
    free(y);
    if (n < 2 || mean <= NO_DIFFERENCE)
        return false;
    error = sqrt(square / (n - 1) / n);
    return mean > error * gsl_cdf_tdist_Pinv(1 - SIGNIFICANT, n - 1);
}

/* ---- settings that were simulated ------------------------------------------------------------ */

static size_t find(const struct search *s, const double *x)
{
    for (size_t i = 0; i < s->count; i++)
        if (!memcmp(s->done[i].x, x, s->p->unknowns * sizeof *x))
            return i;
    return SIZE_MAX;
}

static size_t keep(struct search *s, const double *x, const double *simulated)
{
    struct evaluation *d;

    s->done = xrealloc(s->done, (s->count + 1) * sizeof *s->done);
    d = &s->done[s->count];
    d->x = xcalloc(s->p->unknowns + 1, sizeof *d->x);
    d->simulated = xcalloc(s->p->points + 1, sizeof *d->simulated);
    memcpy(d->x, x, s->p->unknowns * sizeof *x);
    memcpy(d->simulated, simulated, s->p->points * sizeof *simulated);
    d->loss = calibration_loss(s->p, simulated);
    return s->count++;
}

/* ---- the journal: {"x": [...], "simulated": [...]}, after a line that tells the problem -------
 */

static void put_numbers(struct json_writer *w, const char *key, const double *x, size_t n)
{
    json_begin(w, key, '[');
    for (size_t i = 0; i < n; i++)
        json_put_number(w, NULL, x[i]);
    json_end(w);
}

enum { HOW = 17 };

uint64_t calibration_how(const double *x, size_t all, const size_t *fitted, size_t unknowns,
                         const double *sizes, size_t count)
{
    double *how = xcalloc(all + count + 1, sizeof *how);
    uint64_t hash;

    for (size_t i = 0; i < all; i++)
        how[i] = x[i];
    for (size_t i = 0; i < unknowns; i++)
        how[fitted[i]] = 0;
    for (size_t i = 0; i < count; i++)
        how[all + i] = sizes[i];
    hash = hash_bytes(0, 0, how, (all + count) * sizeof *how);
    free(how);
    return hash;
}

static const char *how_text(const struct search *s, char text[HOW])
{
    snprintf(text, HOW, "%016" PRIx64, s->o->how);
    return text;
}

static char *line_of(const struct search *s, const double *x, const double *simulated)
{
    char *text, how[HOW];
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct json_writer w = json_writer(out, JSON_COMPACT);

    json_begin(&w, NULL, '{');
    json_put_string(&w, "how", how_text(s, how));
    put_numbers(&w, "x", x, s->p->unknowns);
    put_numbers(&w, "simulated", simulated, s->p->points);
    json_end(&w);
    fclose(out);
    return text;
}

/* The problem: names, ranges, data. A journal of another one is refused. */
static char *title_of(const struct calibration_problem *p)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct json_writer w = json_writer(out, JSON_COMPACT);

    json_begin(&w, NULL, '{');
    json_begin(&w, "unknowns", '[');
    for (size_t i = 0; i < p->unknowns; i++) {
        const struct unknown *u = &p->unknown[i];

        json_put_string(&w, NULL, u->name);
        json_put_number(&w, NULL, u->low);
        json_put_number(&w, NULL, u->high);
    }
    json_end(&w);
    json_begin(&w, "points", '[');
    for (size_t i = 0; i < p->points; i++) {
        json_put_string(&w, NULL, p->point[i].name);
        json_put_number(&w, NULL, p->point[i].measured);
    }
    json_end(&w);
    json_end(&w);
    fclose(out);
    return text;
}

/* null is NAN: nothing to observe. */
static int take_numbers(struct json_value v, bool nulls, double *x, size_t n)
{
    size_t i = 0;

    if (json_kind(v) != JSON_ARRAY || json_length(v) != n)
        return -1;
    JSON_FOR_EACH(one, v)
    {
        if (nulls && json_kind(one) == JSON_NULL)
            x[i++] = NAN;
        else if (json_double(one, &x[i++]))
            return -1;
    }
    return 0;
}

struct replay {
    struct search *s;
    size_t lines; /* after the title */
};

static int take_line(void *ctx, const char *line, size_t length, struct errors *e)
{
    struct replay *r = ctx;
    const struct calibration_problem *p = r->s->p;
    struct errors in_line = ERRORS_NONE;
    double *x, *simulated;
    struct json *doc;
    const char *how;
    char ours[HOW];
    int status = -1;

    r->lines++;
    x = xcalloc(p->unknowns + 1, sizeof *x);
    simulated = xcalloc(p->points + 1, sizeof *simulated);
    doc = json_parse(r->s->o->journal, line, length, &in_line);
    errors_free(&in_line);
    how = doc ? json_string(json_member(json_root(doc), "how")) : NULL;
    if (how && !take_numbers(json_member(json_root(doc), "x"), false, x, p->unknowns) &&
        !take_numbers(json_member(json_root(doc), "simulated"), true, simulated, p->points)) {
        if (!strcmp(how, how_text(r->s, ours)))
            keep(r->s, x, simulated);
        status = 0;
    } else {
        error_add(e, EXIT_INPUT,
                  "%s:%zu: the line is damaged: expected an object with \"how\", \"x\" of %zu "
                  "numbers and \"simulated\" of %zu; remove it, and it is simulated again",
                  r->s->o->journal, r->lines + 1, p->unknowns, p->points);
    }
    json_free(doc);
    free(x);
    free(simulated);
    return status;
}

static int open_journal(struct search *s)
{
    char *title;
    struct replay r = {.s = s};

    if (!s->o->journal)
        return 0;
    title = title_of(s->p);
    s->journal = line_file_open_titled(
        s->o->journal, title, "is the journal of another calibration", take_line, &r, s->e);
    free(title);
    return s->journal ? 0 : -1;
}

/* ---- asking the simulator -------------------------------------------------------------------- */

static size_t evaluate(struct search *s, const double *x)
{
    size_t at = find(s, x);
    double *simulated;
    bool known = false;

    if (at == SIZE_MAX) {
        simulated = xcalloc(s->p->points + 1, sizeof *simulated);
        if (s->p->simulate(s->p->ctx, x, simulated, s->e)) {
            s->failed = true;
            free(simulated);
            return SIZE_MAX;
        }
        at = keep(s, x, simulated);
        if (s->journal) {
            char *line = line_of(s, x, simulated);

            if (line_file_append(s->journal, line, strlen(line), s->e) ||
                line_file_sync(s->journal, s->e))
                s->failed = true;
            free(line);
        }
        free(simulated);
    }
    for (size_t i = 0; i < s->spent && !known; i++)
        known = s->seen[i] == at;
    if (!known) {
        s->seen = xrealloc(s->seen, (s->spent + 1) * sizeof *s->seen);
        s->seen[s->spent++] = at;
    }
    if (s->best == SIZE_MAX || s->done[at].loss < s->done[s->best].loss)
        s->best = at;
    if (s->o->tell)
        s->o->tell(s->p->ctx, s->spent, s->done[s->best].loss);
    return at;
}

static bool out_of_budget(const struct search *s)
{
    return s->failed || s->spent >= s->limit;
}

/* ---- discrete unknowns ----------------------------------------------------------------------- */

static void start_of(const struct calibration_problem *p, double *x)
{
    for (size_t i = 0; i < p->unknowns; i++)
        x[i] = p->unknown[i].start;
}

/* Number of combinations, at most `most` + 1. */
static size_t combinations(const struct calibration_problem *p, size_t most)
{
    size_t n = 1;

    for (size_t i = 0; i < p->unknowns; i++)
        if (p->unknown[i].choice && (n *= p->unknown[i].choices) > most)
            return most + 1;
    return n;
}

static void all_combinations(struct search *s, size_t count)
{
    double *x = xcalloc(s->p->unknowns, sizeof *x);

    start_of(s->p, x);
    for (size_t k = 0; k < count && !out_of_budget(s); k++) {
        size_t rest = k;

        for (size_t i = 0; i < s->p->unknowns; i++) {
            const struct unknown *u = &s->p->unknown[i];

            if (u->choice) {
                x[i] = u->choice[rest % u->choices];
                rest /= u->choices;
            }
        }
        evaluate(s, x);
    }
    free(x);
}

/* One after the other, each at the best of the others, until nothing changes. From the best so far,
 * or from the start. */
static void by_turns(struct search *s)
{
    double *x = xcalloc(s->p->unknowns, sizeof *x);
    size_t before;

    if (s->best == SIZE_MAX) {
        start_of(s->p, x);
        evaluate(s, x);
    }
    do {
        before = s->best;
        for (size_t i = 0; i < s->p->unknowns && !s->failed; i++)
            for (size_t c = 0; c < s->p->unknown[i].choices && !out_of_budget(s); c++) {
                memcpy(x, s->done[s->best].x, s->p->unknowns * sizeof *x);
                x[i] = s->p->unknown[i].choice[c];
                evaluate(s, x);
            }
    } while (s->best != before && !out_of_budget(s));
    free(x);
}

/* ---- continuous unknowns --------------------------------------------------------------------- */

/* A value of a continuous unknown at a share of its range, and back. */
static double at_share(const struct unknown *u, double share)
{
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    return u->log ? u->low * det_pow(u->high / u->low, share) : u->low + share * (u->high - u->low);
}

static double share_of(const struct unknown *u, double value)
{
    return u->log ? det_log(value / u->low) / det_log(u->high / u->low)
                  : (value - u->low) / (u->high - u->low);
}

/* What a simplex moves: the free unknowns' shares; the others stay as in `base`. */
struct moved {
    struct search *s;
    const double *base;
    const size_t *free;
    size_t count;
    size_t best;  /* of this simplex */
    size_t calls; /* settings asked for, known ones included, and ... */
    size_t most;  /* ... how many may be: at the end of a range a simplex can go on for ever */
};

static double loss_at(const gsl_vector *v, void *ctx)
{
    struct moved *m = ctx;
    struct search *s = m->s;
    double *x, beyond = 0, loss;
    size_t at;

    if (out_of_budget(s) || ++m->calls > m->most)
        return 2 * CALIBRATION_WORST;
    x = xcalloc(s->p->unknowns, sizeof *x);
    memcpy(x, m->base, s->p->unknowns * sizeof *x);
    for (size_t i = 0; i < m->count; i++) {
        double share = gsl_vector_get(v, i);

        beyond += share < 0 ? -share : share > 1 ? share - 1 : 0;
        x[m->free[i]] = at_share(&s->p->unknown[m->free[i]], share);
    }
    at = evaluate(s, x);
    free(x);
    if (at == SIZE_MAX)
        return 2 * CALIBRATION_WORST;
    loss = s->done[at].loss;
    if (m->best == SIZE_MAX || loss < s->done[m->best].loss)
        m->best = at;
    return loss + beyond;
}

/* Into the range when the start is at its end. */
static double step_from(double share, double step)
{
    return share + step > 1 ? -step : step;
}

/* Fit all continuous unknowns but `held` from a setting; the best setting found. */
static size_t simplex(struct search *s, const double *base, size_t held, double step)
{
    size_t *list = xcalloc(s->p->unknowns, sizeof *list);
    struct moved m = {.s = s, .base = base, .free = list, .best = SIZE_MAX};
    gsl_multimin_fminimizer *minimizer;
    gsl_multimin_function f = {.f = loss_at, .n = 0, .params = &m};
    gsl_vector *start, *steps;

    for (size_t i = 0; i < s->p->unknowns; i++)
        if (!s->p->unknown[i].choice && i != held)
            list[m.count++] = i;
    if (!m.count || out_of_budget(s)) {
        free(list);
        return out_of_budget(s) ? SIZE_MAX : evaluate(s, base);
    }
    f.n = m.count;
    m.most = 3 * (s->limit - s->spent) + 3 * m.count;
    start = gsl_vector_alloc(m.count);
    steps = gsl_vector_alloc(m.count);
    for (size_t i = 0; i < m.count; i++) {
        double share = share_of(&s->p->unknown[list[i]], base[list[i]]);

        gsl_vector_set(start, i, share);
        gsl_vector_set(steps, i, step_from(share, step));
    }
    minimizer = gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, m.count);
    gsl_multimin_fminimizer_set(minimizer, &f, start, steps);
    while (!out_of_budget(s) && m.calls < m.most && !gsl_multimin_fminimizer_iterate(minimizer))
        if (gsl_multimin_fminimizer_size(minimizer) < NARROW)
            break;
    gsl_multimin_fminimizer_free(minimizer);
    gsl_vector_free(start);
    gsl_vector_free(steps);
    free(list);
    return m.best;
}

/* ---- the search ------------------------------------------------------------------------------ */

static bool same_choices(const struct calibration_problem *p, const double *x, const double *y)
{
    for (size_t i = 0; i < p->unknowns; i++)
        if (p->unknown[i].choice && x[i] != y[i])
            return false;
    return true;
}

/* The best settings so far that differ in discrete unknowns. */
static size_t finalists(const struct search *s, size_t out[FINALISTS])
{
    size_t n = 0;

    while (n < FINALISTS) {
        size_t next = SIZE_MAX;

        for (size_t i = 0; i < s->spent; i++) {
            size_t at = s->seen[i];
            bool taken = false;

            for (size_t k = 0; k < n && !taken; k++)
                taken = same_choices(s->p, s->done[at].x, s->done[out[k]].x);
            if (!taken && (next == SIZE_MAX || s->done[at].loss < s->done[next].loss))
                next = at;
        }
        if (next == SIZE_MAX)
            break;
        out[n++] = next;
    }
    return n;
}

static size_t continuous(const struct calibration_problem *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->unknowns; i++)
        n += !p->unknown[i].choice;
    return n;
}

static size_t values_of(const struct search *s)
{
    return s->o->profile ? s->o->profile : PROFILE_VALUES;
}

static size_t profile_values(const struct search *s, const struct unknown *u)
{
    return u->choice ? u->choices - 1 : values_of(s);
}

/* A third for the choices, another for the others with a second look at the choices (which may have
 * made up for a bad start of the others), the rest for profiles: at least one evaluation for each
 * value, even if the budget is used up. */
static void fit(struct search *s, struct calibration_result *r)
{
    size_t budget = s->o->budget, values = 0, third = budget / 3, first, end, best[FINALISTS], n;

    for (size_t i = 0; i < s->p->unknowns; i++)
        values += profile_values(s, &s->p->unknown[i]);
    s->limit = third ? third : 1;
    n = combinations(s->p, s->limit);
    r->all_combinations = n <= s->limit;
    if (r->all_combinations)
        all_combinations(s, n);
    else
        by_turns(s);
    end = budget > 3 * values ? budget * 2 / 3 : budget > values ? budget - values : budget;
    first = s->spent;
    if (end < first)
        end = first;
    n = continuous(s->p) ? finalists(s, best) : 0;
    /* The first, the most promising one, gets half of what is left for them; and so on. */
    for (size_t i = 0; i < n; i++) {
        s->limit = first + (end - first) / 2;
        simplex(s, s->done[best[i]].x, SIZE_MAX, STEP);
        first = s->spent;
    }
    s->limit = end;
    if (!r->all_combinations && !out_of_budget(s))
        by_turns(s);
    /* Once more from the best, with a fresh simplex: Nelder and Mead's may collapse. */
    if (n && !out_of_budget(s))
        simplex(s, s->done[s->best].x, SIZE_MAX, SMALL_STEP);
    s->limit = budget;
}

/* ---- profiles -------------------------------------------------------------------------------- */

struct candidate_value {
    double value;
    size_t at; /* its evaluation; SIZE_MAX: none */
};

static int by_value(const void *a, const void *b)
{
    const struct candidate_value *x = a, *y = b;

    return (x->value > y->value) - (x->value < y->value);
}

/* The best setting seen that has this value. */
static size_t best_with(const struct search *s, size_t unknown, double value)
{
    size_t best = SIZE_MAX;

    for (size_t i = 0; i < s->spent; i++) {
        const struct evaluation *d = &s->done[s->seen[i]];

        if (d->x[unknown] == value && (best == SIZE_MAX || d->loss < s->done[best].loss))
            best = s->seen[i];
    }
    return best;
}

static size_t list_values(const struct unknown *u, size_t values, double now,
                          struct candidate_value *v)
{
    size_t n = 0;
    bool listed = u->choice != NULL;

    for (size_t i = 0; u->choice && i < u->choices; i++)
        v[n++].value = u->choice[i];
    for (size_t i = 0; !u->choice && i < values; i++) {
        v[n].value = at_share(u, (double)i / (double)(values - 1));
        listed = listed || v[n++].value == now;
    }
    if (!listed)
        v[n++].value = now;
    qsort(v, n, sizeof *v, by_value);
    return n;
}

/* Fit the others with an unknown held, in at most `refits` simulations. */
static size_t fit_held(struct search *s, size_t unknown, double value, size_t refits)
{
    double *x = xcalloc(s->p->unknowns, sizeof *x);
    size_t end = s->limit;

    memcpy(x, s->done[s->best].x, s->p->unknowns * sizeof *x);
    x[unknown] = value;
    if (!s->failed)
        evaluate(s, x);
    if (s->spent + refits - 1 < s->limit)
        s->limit = s->spent + refits - 1;
    if (refits > 1 && !s->failed)
        simplex(s, x, unknown, SMALL_STEP);
    s->limit = end;
    free(x);
    return best_with(s, unknown, value);
}

static void judge(const struct search *s, const struct unknown *u, struct unknown_result *r,
                  const struct candidate_value *v, size_t n)
{
    size_t accepted = 0;

    r->profile = xcalloc(n, sizeof *r->profile);
    r->points = n;
    r->low = r->high = r->value;
    for (size_t i = 0; i < n; i++) {
        const struct evaluation *d = &s->done[v[i].at];
        struct profile_point *p = &r->profile[i];

        *p = (struct profile_point){v[i].value, d->loss, !worse(s, &s->done[s->best], d)};
        if (!p->acceptable)
            continue;
        accepted++;
        r->low = fmin(r->low, p->value);
        r->high = fmax(r->high, p->value);
    }
    /* Between the last value that does and the first that does not. */
    for (size_t i = 0; !u->choice && i + 1 < n; i++) {
        if (r->profile[i + 1].value == r->low && !r->profile[i].acceptable)
            r->low = (r->profile[i].value + r->profile[i + 1].value) / 2;
        if (r->profile[n - 2 - i].value == r->high && !r->profile[n - 1 - i].acceptable)
            r->high = (r->profile[n - 1 - i].value + r->profile[n - 2 - i].value) / 2;
    }
    if (accepted == n)
        r->identified = n > 1 ? IDENTIFIED_NOT : IDENTIFIED_VALUE;
    else if (u->choice)
        r->identified = accepted == 1 ? IDENTIFIED_VALUE : IDENTIFIED_WITHIN;
    else
        r->identified = r->profile[0].acceptable || r->profile[n - 1].acceptable
                            ? IDENTIFIED_BOUNDED
                            : IDENTIFIED_WITHIN;
}

static void profiles(struct search *s, struct calibration_result *r)
{
    size_t values = 0, left = s->limit > s->spent ? s->limit - s->spent : 0;
    struct candidate_value *v = NULL;

    for (size_t i = 0; i < s->p->unknowns; i++)
        values += profile_values(s, &s->p->unknown[i]);
    r->refits = values && left > values ? left / values : 1;
    /* All first, since a profile may find something better than the best so far. */
    for (int pass = 0; pass < 2 && !s->failed; pass++)
        for (size_t i = 0; i < s->p->unknowns && !s->failed; i++) {
            const struct unknown *u = &s->p->unknown[i];
            size_t n = 0;
            bool all = true;

            v = xrealloc(v, (u->choices + values_of(s) + 1) * sizeof *v);
            n = list_values(u, values_of(s), s->done[s->best].x[i], v);
            for (size_t k = 0; k < n && !s->failed; k++) {
                v[k].at = best_with(s, i, v[k].value);
                if (v[k].value != s->done[s->best].x[i] && (!pass || v[k].at == SIZE_MAX))
                    v[k].at = fit_held(s, i, v[k].value, pass ? 1 : r->refits);
                all = all && v[k].at != SIZE_MAX;
            }
            r->unknown[i].value = s->done[s->best].x[i];
            if (pass && all)
                judge(s, u, &r->unknown[i], v, n);
        }
    free(v);
}

/* ---- calibrating ----------------------------------------------------------------------------- */

static void hand_over(const struct search *s, struct calibration_result *r)
{
    const struct evaluation *d = &s->done[s->best];

    memcpy(r->x, d->x, s->p->unknowns * sizeof *r->x);
    memcpy(r->simulated, d->simulated, s->p->points * sizeof *r->simulated);
    r->loss = d->loss;
    r->spent = s->spent;
}

int calibrate(const struct calibration_problem *p, const struct calibration_options *o,
              struct calibration_result *r, struct errors *e)
{
    struct search s = {.p = p, .o = o, .best = SIZE_MAX, .e = e, .groups = groups_of(p)};
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    size_t before = e->count;

    *r = (struct calibration_result){.x = xcalloc(p->unknowns + 1, sizeof *r->x),
                                     .simulated = xcalloc(p->points + 1, sizeof *r->simulated),
                                     .unknown = xcalloc(p->unknowns + 1, sizeof *r->unknown)};
    if (!open_journal(&s)) {
        fit(&s, r);
        if (!s.failed)
            profiles(&s, r);
        if (!s.failed)
            hand_over(&s, r);
    }
    if (s.journal)
        line_file_close(s.journal, e);
    for (size_t i = 0; i < s.count; i++) {
        free(s.done[i].x);
        free(s.done[i].simulated);
    }
    free(s.done);
    free(s.seen);
    gsl_set_error_handler(handler);
    return s.failed || e->count > before ? -1 : 0;
}

void calibration_result_free(struct calibration_result *r, size_t unknowns)
{
    for (size_t i = 0; r->unknown && i < unknowns; i++)
        free(r->unknown[i].profile);
    free(r->unknown);
    free(r->simulated);
    free(r->x);
    *r = (struct calibration_result){0};
}

const char *identified_name(enum identified i)
{
    static const char *const name[IDENTIFIED_COUNT] = {[IDENTIFIED_NOT] = "not identified",
                                                       [IDENTIFIED_BOUNDED] = "bounded on one side",
                                                       [IDENTIFIED_WITHIN] = "within",
                                                       [IDENTIFIED_VALUE] = "identified",
                                                       [IDENTIFIED_GIVEN] = "given"};

    return name[i];
}
