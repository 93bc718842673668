/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Points are taken in the order of their numbers, each up to the replications that its rule asks
 * for next, so that a point is finished soon and its results are forgotten again. What is kept in
 * memory is little, because every worker is forked from it.
 *
 * A worker that something killed with SIGKILL was killed from outside (an operator, a machine short
 * of memory): its replication is tried again twice. All other failures are the point's own.
 */
#include "experiments/sweep/sweep_run.h"

#include "experiments/sweep/sweep_index.h"
#include "sim/pool.h"
#include "sim/progress.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    REPLICATION_BITS = 20, /* of a task's number; the rest is the entry */
    KILLED_TRIES = 3
};

/* A replication that runs now; its place is also that of its progress. */
struct running {
    size_t entry;
    uint32_t replication;
    bool there;
};

struct killed {
    size_t task;
    int times;
};

struct run {
    const struct sweep *sweep;
    const struct sweep_options *options;
    struct sweep_outcome *out;
    struct store store;
    struct running *running; /* by worker */
    int64_t *reached;        /* by worker: simulated ns; shared with them */
    unsigned jobs;
    size_t *active; /* entries that were begun and are not finished */
    size_t actives;
    size_t next;     /* entry to begin */
    size_t unsynced; /* finished points whose last line is not on disk yet */
    struct killed *killed;
    size_t killed_count;
    struct progress progress;
    bool broken; /* nothing can be saved any more */
    struct errors *e;
};

static bool in_share(const struct entry *n, uint32_t shard, uint32_t shards)
{
    return !shards || n->point % shards == shard - 1;
}

static bool mine(const struct run *r, size_t entry)
{
    return in_share(&r->store.entry[entry], r->options->shard, r->options->shards);
}

static struct entry_verdict judge(struct run *r, size_t entry)
{
    struct entry_rule rule = sweep_rule(r->sweep, r->store.entry[entry].point);

    return entry_judge(&r->store.entry[entry], &rule);
}

/* ---- what to start next -----------------------------------------------------------------------
 */

static bool is_running(const struct run *r, size_t entry, uint32_t replication)
{
    for (unsigned i = 0; i < r->jobs; i++)
        if (r->running[i].there && r->running[i].entry == entry &&
            r->running[i].replication == replication)
            return true;
    return false;
}

/* The first replication of an entry that is wanted and neither there nor running; UINT32_MAX if
 * there is none for now. After a failure only those before it are of use. */
static uint32_t next_replication(struct run *r, size_t entry, uint32_t limit)
{
    const struct entry *n = &r->store.entry[entry];

    for (uint32_t i = n->prefix; i < limit; i++) {
        if (i < n->reps && n->rep[i].failed)
            return UINT32_MAX;
        if ((i >= n->reps || !n->rep[i].done) && !is_running(r, entry, i))
            return i;
    }
    return UINT32_MAX;
}

static size_t start(struct run *r, size_t entry, uint32_t replication)
{
    unsigned i = 0;

    while (r->running[i].there)
        i++;
    r->running[i] = (struct running){entry, replication, true};
    r->reached[i] = 0;
    return entry << REPLICATION_BITS | replication;
}

/* Begin points until one has something to do; those that were finished before are passed over. */
static size_t begin(struct run *r)
{
    while (r->next < r->store.entries) {
        size_t entry = r->next++;
        struct entry_verdict v;

        if (!mine(r, entry))
            continue;
        v = judge(r, entry);
        if (v.state != ENTRY_MORE)
            continue; /* counted when the run began */
        r->active[r->actives++] = entry;
        return start(r, entry, next_replication(r, entry, v.n));
    }
    return POOL_END;
}

static size_t choose(void *ctx)
{
    struct run *r = ctx;
    size_t task;

    if (r->broken)
        return POOL_END;
    for (size_t i = 0; i < r->actives; i++) {
        struct entry_verdict v = judge(r, r->active[i]);
        uint32_t replication = next_replication(r, r->active[i], v.n);

        if (replication != UINT32_MAX)
            return start(r, r->active[i], replication);
    }
    task = begin(r);
    return task == POOL_END && r->actives ? POOL_LATER : task;
}

/* ---- workers ----------------------------------------------------------------------------------
 */

static int work(void *ctx, size_t task, FILE *out, struct errors *e)
{
    struct run *r = ctx;
    size_t entry = task >> REPLICATION_BITS;
    uint32_t replication = (uint32_t)(task & ((1u << REPLICATION_BITS) - 1));
    struct sweep_time took;
    unsigned i = 0;
    char *text;

    while (!r->running[i].there || r->running[i].entry != entry ||
           r->running[i].replication != replication)
        i++;
    if (sweep_replicate(r->sweep, r->store.entry[entry].point, replication, &r->reached[i], &text,
                        &took, e))
        return -1;
    fprintf(out, "%.6f %.6f %s", took.wall, took.cpu, text);
    fputc('\0', out);
    free(text);
    return 0;
}

/* ---- results ----------------------------------------------------------------------------------
 */

/* So often has this replication been killed from outside. */
static int killed_again(struct run *r, size_t task)
{
    for (size_t i = 0; i < r->killed_count; i++)
        if (r->killed[i].task == task)
            return ++r->killed[i].times;
    r->killed = xrealloc(r->killed, (r->killed_count + 1) * sizeof *r->killed);
    r->killed[r->killed_count++] = (struct killed){task, 1};
    return 1;
}

/* False if it was finished before: replications that ran side by side come in late. */
static bool finish(struct run *r, size_t entry, enum entry_state state)
{
    size_t i = 0;

    while (i < r->actives && r->active[i] != entry)
        i++;
    if (i == r->actives)
        return false;
    memmove(&r->active[i], &r->active[i + 1], (--r->actives - i) * sizeof *r->active);
    entry_drop(&r->store.entry[entry]);
    if (state == ENTRY_FAILED)
        r->out->failed++;
    else
        r->unsynced++;
    return true;
}

static int save(struct run *r, size_t entry, uint32_t replication, const struct pool_result *result)
{
    struct entry *n = &r->store.entry[entry];
    const char *text = result->data;
    struct sweep_time took;
    char *end;

    if (result->outcome != POOL_DONE)
        return store_add_failure(&r->store, n, replication, result->seconds, result->reason, r->e);
    if (!result->size || text[result->size - 1])
        return store_add_failure(&r->store, n, replication, result->seconds,
                                 "its result did not arrive whole", r->e);
    took.wall = strtod(text, &end);
    took.cpu = strtod(end, &end);
    r->out->replications++;
    r->out->simulated.wall += took.wall;
    r->out->simulated.cpu += took.cpu;
    return store_add(&r->store, n, replication, took.cpu, end + 1,
                     sweep_rule(r->sweep, n->point).stop >= 0, r->e);
}

static int completed(void *ctx, const struct pool_result *result)
{
    struct run *r = ctx;
    size_t entry = result->index >> REPLICATION_BITS;
    uint32_t replication = (uint32_t)(result->index & ((1u << REPLICATION_BITS) - 1));
    struct entry_verdict v;
    struct entry_rule rule;

    for (unsigned i = 0; i < r->jobs; i++)
        if (r->running[i].entry == entry && r->running[i].replication == replication)
            r->running[i].there = false;
    if (result->outcome == POOL_CRASHED && result->signal == SIGKILL &&
        killed_again(r, result->index) < KILLED_TRIES)
        return 0;
    if (save(r, entry, replication, result))
        return 1;
    v = judge(r, entry);
    if (v.state == ENTRY_MORE || !finish(r, entry, v.state))
        return 0;
    rule = sweep_rule(r->sweep, r->store.entry[entry].point);
    return store_add_decision(&r->store, &r->store.entry[entry], &rule, r->e) ? 1 : 0;
}

/* ---- progress ---------------------------------------------------------------------------------
 */

/* The share of an unfinished point that is done, its running replications included. */
static double share_done(const struct run *r, size_t entry)
{
    const struct entry *n = &r->store.entry[entry];
    uint32_t wanted = r->sweep->point[n->point].replications;

    if (r->sweep->spec.stop) /* a guess: the rule does not know either */
        wanted = n->stopping.confirming ? (uint32_t)n->stopping.n : 2 * (uint32_t)n->stopping.n;
    return n->prefix < wanted ? (double)n->prefix / wanted : 0.99;
}

static void tick(void *ctx)
{
    struct run *r = ctx;
    double done;
    unsigned busy = 0;
    char note[80];
    size_t before = r->e->count;

    if (!r->broken && line_file_tick(r->store.own, r->e) == -1) {
        r->out->done += r->unsynced;
        r->unsynced = 0;
    }
    r->broken = r->broken || r->e->count > before;
    done = (double)(r->out->done + r->out->failed);
    for (size_t i = 0; i < r->actives; i++)
        done += share_done(r, r->active[i]);
    for (unsigned i = 0; i < r->jobs; i++)
        busy += r->running[i].there;
    snprintf(note, sizeof note, "%u running, %zu failed", busy, r->out->failed);
    progress_update(&r->progress, done, note);
}

/* ---- the whole --------------------------------------------------------------------------------
 */

uint64_t sweep_memory(const struct sweep *s, unsigned jobs)
{
    uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t least = UINT64_C(1) << 30, share = all / (jobs ? jobs : 1);

#if defined(__SANITIZE_ADDRESS__)
    return 0; /* it reserves terabytes of addresses */
#endif
    if (s->spec.limits.memory)
        return (uint64_t)s->spec.limits.memory;
    return share > least ? share : least;
}

/* What is there already; failures that are not to be tried again count as finished. */
static void count_points(struct run *r)
{
    for (size_t i = 0; i < r->store.entries; i++) {
        struct entry_verdict v;

        if (!mine(r, i))
            continue;
        v = judge(r, i);
        r->out->points++;
        r->out->before += v.state == ENTRY_DONE;
        r->out->failed += v.state == ENTRY_FAILED;
    }
    r->out->done = r->out->before;
}

char *sweep_failures(const struct sweep *s, struct store *store, uint32_t shard, uint32_t shards)
{
    size_t size;
    char *text;
    FILE *out = open_memstream(&text, &size);

    for (size_t i = 0; i < store->entries; i++) {
        struct entry *n = &store->entry[i];
        struct entry_rule rule = sweep_rule(s, n->point);
        struct entry_verdict v;
        char *name, *rerun;

        if (!in_share(n, shard, shards) || entry_failure(n) < 0)
            continue;
        v = entry_judge(n, &rule);
        if (v.state != ENTRY_FAILED)
            continue;
        name = sweep_point_name(s, n->point);
        rerun = sweep_rerun(s, n->point, v.n + 1);
        fprintf(out, "point %zu (%s), replication %u: %s\n    alone: %s\n", n->point, name, v.n,
                entry_reason(n), rerun);
        free(name);
        free(rerun);
    }
    fclose(out);
    return text;
}

static int claim(struct run *r)
{
    const struct sweep_options *o = r->options;
    char *name = o->shards ? xasprintf("results-%u-of-%u.lines", o->shard, o->shards)
                           : xstrdup("results.lines");
    int status = store_claim(&r->store, o->shards ? STORE_SHARE : STORE_ALONE, name, r->e);

    free(name);
    if (!status)
        status = index_write(r->sweep, o->dir, &r->out->known, &r->out->gone, r->e);
    return status ? status : store_read(&r->store, o->keep_failed, r->e);
}

static double cpu_now(void)
{
    static const int who[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
    double sum = 0;

    for (int i = 0; i < 2; i++) {
        struct rusage u;

        getrusage(who[i], &u);
        sum += (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
               (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
    }
    return sum;
}

static int simulate(struct run *r)
{
    struct pool pool = {.jobs = r->jobs,
                        .seconds = (double)r->sweep->spec.limits.time / 1e9,
                        .memory = sweep_memory(r->sweep, r->jobs),
                        .ctx = r,
                        .work = work,
                        .choose = choose,
                        .completed = completed,
                        .tick = tick};
    size_t size = r->jobs * sizeof *r->reached, before = r->e->count;
    double cpu = cpu_now();
    int64_t began = wall_now();

    if (sweep_prepare(r->sweep, r->jobs, r->e))
        return -1;
    r->reached = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (r->reached == MAP_FAILED)
        return error_add(r->e, EXIT_INTERNAL, "no memory for %u workers", r->jobs);
    r->running = xcalloc(r->jobs, sizeof *r->running);
    r->active = xcalloc(r->store.entries, sizeof *r->active);
    progress_begin(&r->progress, "sweep", "points", (double)r->out->points, r->options->quiet);
    r->out->interrupted = pool_run(&pool, r->e) == POOL_INTERRUPTED;
    progress_end(&r->progress);
    line_file_sync(r->store.own, r->e);
    r->out->done += r->unsynced;
    r->out->elapsed = (double)(wall_now() - began) / 1e9;
    r->out->cpu = cpu_now() - cpu;
    munmap(r->reached, size);
    free(r->running);
    free(r->active);
    free(r->killed);
    return r->e->count > before ? -1 : 0;
}

int sweep_run(const struct sweep *s, const struct sweep_options *o, struct sweep_outcome *out,
              struct errors *e)
{
    struct run r = {
        .sweep = s, .options = o, .out = out, .jobs = o->jobs ? o->jobs : pool_cpus(), .e = e};
    uint64_t *key = sweep_keys(s);
    int status;

    *out = (struct sweep_outcome){.jobs = r.jobs};
    store_init(&r.store, o->dir, key, s->points);
    free(key);
    status = claim(&r);
    out->damaged = r.store.damaged;
    if (!status) {
        count_points(&r);
        if (out->done + out->failed < out->points)
            status = simulate(&r);
        out->failures = sweep_failures(s, &r.store, o->shard, o->shards);
    }
    store_free(&r.store);
    return status;
}

int sweep_shard_read(const char *text, uint32_t *shard, uint32_t *shards, struct errors *e)
{
    unsigned long i, n;
    char *end;

    i = strtoul(text, &end, 10);
    if (end != text && *end == '/' && end[1] >= '0' && end[1] <= '9') {
        n = strtoul(end + 1, &end, 10);
        if (!*end && i >= 1 && i <= n && n <= 1000000) {
            *shard = (uint32_t)i;
            *shards = (uint32_t)n;
            return 0;
        }
        if (!*end && !i && n)
            return error_add(e, EXIT_INPUT,
                             "--shard %s: shares are counted from 1: 1/%lu to %lu/%lu", text, n, n,
                             n);
    }
    return error_add(e, EXIT_INPUT, "--shard %s: write I/N, share I of N, such as 1/8", text);
}
