/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/study/timeline.h"

#include "experiments/study/explain.h"
#include "experiments/study/timeline_file.h"
#include "experiments/traces/traces.h"
#include "sim/units.h"
#include "sim/version.h"

#include <stdlib.h>
#include <string.h>

enum { PRIORITIES = 64, NOT_SEEN = 255, WHY_ROWS = 4096 };

/* What was last written of a vCPU. */
struct vcpu_line {
    char *name;
    uint32_t domain;
    uint8_t state, priority, pcpu;
    bool known, dirty;
};

struct watched_client {
    struct client_watcher watcher;
    struct recorder *recorder;
    uint32_t client, domain;
};

/* What is recorded of one host. */
struct recorder {
    struct observer observer;
    struct explainer explainer;
    const struct world_host *wh;
    struct host *host; /* gone if it was switched off */
    uint32_t pcpus;
    sim_time from, until; /* until: earlier if there are too many segments */
    bool begun, ended, cut;
    struct vcpu_line *vcpu; /* by index */
    uint32_t vcpus;
    uint32_t *dirty, dirties; /* vCPUs whose priority may have changed in this handler */
    const char *priority[PRIORITIES];
    uint32_t priorities;
    struct chunk segments, wakes, decisions;
    struct bytes whys, requests;
    uint64_t request_count;
    struct timeline_file file;
    char *path;
};

struct timelines {
    struct recorder *recorder; /* by host */
    size_t recorders;
    struct watched_client *client;
    const struct study *study;
    const struct variant *variant;
    const struct world *world;
};

int timeline_read_span(const char *text, sim_time *from, sim_time *until, struct errors *e)
{
    const char *dots = strstr(text, "..");
    char *first = xstrdup(text), why[QUANTITY_WHY];
    int status = -1;

    if (dots)
        first[dots - text] = 0;
    if (!dots)
        error_add(e, EXIT_INPUT, "--timeline %s: it must be two dates, as in 5s..5.2s", text);
    else if (quantity_parse(QUANTITY_DURATION, first, from, why) ||
             quantity_parse(QUANTITY_DURATION, dots + 2, until, why))
        error_add(e, EXIT_INPUT, "--timeline %s: %s", text, why);
    else if (*until <= *from || *from < 0)
        error_add(e, EXIT_INPUT, "--timeline %s: the second date must be the later one", text);
    else
        status = 0;
    free(first);
    return status;
}

/* ---- segments -------------------------------------------------------------------------------- */

static struct vcpu_line *line_of(struct recorder *r, const struct vcpu *v)
{
    char name[VCPU_NAME];

    if (v->index >= r->vcpus) {
        r->vcpu = xrealloc(r->vcpu, (v->index + 1) * sizeof *r->vcpu);
        r->dirty = xrealloc(r->dirty, (v->index + 1) * sizeof *r->dirty);
        for (; r->vcpus <= v->index; r->vcpus++)
            r->vcpu[r->vcpus] = (struct vcpu_line){.state = RUNSTATE_OFFLINE};
    }
    if (!r->vcpu[v->index].name) {
        r->vcpu[v->index].name = xstrdup(vcpu_name(v, name));
        r->vcpu[v->index].domain = v->domain->id;
    }
    return &r->vcpu[v->index];
}

static uint8_t priority_of(struct recorder *r, const struct vcpu *v)
{
    const struct scheduler *s = vcpu_scheduler(v);
    const char *text = s->ops->priority ? s->ops->priority(s, v) : "-";

    for (uint32_t i = 0; i < r->priorities; i++)
        if (!strcmp(r->priority[i], text))
            return (uint8_t)i;
    if (r->priorities == PRIORITIES)
        return 0;
    r->priority[r->priorities] = text;
    return (uint8_t)r->priorities++;
}

static void put_row(struct recorder *r, struct chunk *c, sim_time now, uint32_t a, uint32_t b,
                    uint32_t d)
{
    uint32_t value[CHUNK_COLUMNS] = {a, b, d};

    if (chunk_full(c, now - r->from))
        chunk_write(c, &r->file);
    chunk_row(c, now - r->from, value);
}

static void put_segment(struct recorder *r, uint32_t vcpu, sim_time now)
{
    const struct vcpu_line *l = &r->vcpu[vcpu];

    put_row(r, &r->segments, now, vcpu, l->pcpu, l->state | (uint32_t)l->priority << 2);
    if (r->segments.total + r->segments.rows >= TIMELINE_SEGMENTS && !r->cut) {
        r->cut = true;
        r->until = now + 1;
    }
}

/* The first record at or after `from`: where everybody is by then. */
static void begin(struct recorder *r)
{
    r->begun = true;
    for (uint32_t i = 0; i < r->vcpus; i++)
        if (r->vcpu[i].known)
            put_segment(r, i, r->from);
}

static void note_state(struct recorder *r, const struct vcpu *v, int64_t state, uint32_t pcpu,
                       sim_time now)
{
    struct vcpu_line *l = line_of(r, v);

    l->state = (uint8_t)state;
    l->pcpu = (uint8_t)(state == RUNSTATE_RUNNING ? pcpu : v->processor);
    l->priority = priority_of(r, v);
    l->known = true;
    if (r->begun)
        put_segment(r, v->index, now);
}

static void soil(struct recorder *r, const struct vcpu *v)
{
    struct vcpu_line *l;

    if (!v || v->idle)
        return;
    l = line_of(r, v);
    if (!l->dirty)
        r->dirty[r->dirties++] = v->index;
    l->dirty = true;
}

/* Priorities change after the records that announce it: look when the handler is over. */
static void handled(struct observer *o, struct host *h)
{
    struct recorder *r = container_of(o, struct recorder, observer);

    for (uint32_t i = 0; i < r->dirties; i++) {
        struct vcpu_line *l = &r->vcpu[r->dirty[i]];
        uint8_t priority = priority_of(r, h->vcpu[r->dirty[i]]);

        l->dirty = false;
        if (priority == l->priority || !l->known)
            continue;
        l->priority = priority;
        if (r->begun && !r->ended)
            put_segment(r, r->dirty[i], h->queue->now);
    }
    r->dirties = 0;
}

static void see(struct observer *o, struct host *h, const struct observation *obs)
{
    struct recorder *r = container_of(o, struct recorder, observer);

    (void)h;
    if (r->ended || obs->time >= r->until) {
        r->ended = true;
        return;
    }
    if (!r->begun && obs->time >= r->from)
        begin(r);
    if (obs->vcpu && obs->vcpu->idle)
        return;
    soil(r, obs->vcpu);
    if (obs->kind == OBS_RUNSTATE)
        note_state(r, obs->vcpu, obs->arg[1], obs->pcpu, obs->time);
    else if (obs->kind == OBS_WAKE && r->begun)
        put_row(r, &r->wakes, obs->time, obs->vcpu->index, obs->pcpu, 0);
}

/* ---- decisions ------------------------------------------------------------------------------- */

static void write_whys(struct recorder *r)
{
    chunk_write(&r->decisions, &r->file);
    if (r->whys.size)
        timeline_block(&r->file, "WHYS", r->whys.data, r->whys.size);
    r->whys.size = 0;
}

static bool decided(void *ctx, struct explainer *x, const struct decided *d)
{
    struct recorder *r = ctx;
    uint32_t value[CHUNK_COLUMNS] = {d->pcpu, explainer_continued(x, d->pcpu), 0};
    char *text;
    size_t size;
    FILE *out;

    if (d->time < r->from || d->time >= r->until || r->ended)
        return false;
    if (r->decisions.rows == WHY_ROWS || chunk_full(&r->decisions, d->time - r->from))
        write_whys(r);
    chunk_row(&r->decisions, d->time - r->from, value);
    out = open_memstream(&text, &size);
    if (out) {
        explainer_print(x, r->host, d->pcpu, out);
        fclose(out);
        bytes_put(&r->whys, text, size);
        free(text);
    }
    bytes_put(&r->whys, "", 1);
    return false;
}

/* ---- requests -------------------------------------------------------------------------------- */

/* A request that is complete; its dates may lie outside of what is recorded. */
static void seen_request(struct client_watcher *w, const struct packet *p)
{
    const struct watched_client *c = container_of(w, struct watched_client, watcher);
    struct recorder *r = c->recorder;
    sim_time part[PARTS];

    if (p->stamp[HOP_DONE] < r->from || p->stamp[HOP_INTENDED] >= r->until)
        return;
    breakdown_of(p, part);
    bytes_put_signed(&r->requests, c->client);
    bytes_put_signed(&r->requests, c->domain);
    bytes_put_signed(&r->requests, p->flags & PACKET_RECORDED);
    for (int i = 0; i < HOPS; i++) {
        bool there = p->stamp[i] || i == HOP_INTENDED;

        bytes_put_signed(&r->requests, there ? p->stamp[i] - p->stamp[HOP_INTENDED] : -1);
        if (i == HOP_INTENDED) /* the others count from it, and it from `from` */
            bytes_put_signed(&r->requests, p->stamp[i] - r->from);
    }
    for (int i = 0; i < PARTS; i++)
        bytes_put_signed(&r->requests, part[i]);
    r->request_count++;
}

/* ---- beginning and ending -------------------------------------------------------------------- */

static void watch_host(struct recorder *r, struct errors *e)
{
    struct host *h = r->host;
    static const enum observation_kind kinds[] = {
        OBS_RUNSTATE, OBS_WAKE,   OBS_SWITCH_IN, OBS_SWITCH_OUT, OBS_BOOST,      OBS_UNBOOST,
        OBS_PARK,     OBS_UNPARK, OBS_TICK,      OBS_ACCT,       OBS_ACCT_START, OBS_ACCT_STOP,
        OBS_YIELD,    OBS_RESET,  OBS_REPLENISH, OBS_NETEVENT,   OBS_C2_BURN};

    if (timeline_file_open(&r->file, r->path, e))
        return;
    r->pcpus = h->pcpu_count;
    r->segments = (struct chunk){.name = "SEGS", .columns = 3, .width = {2, 1, 1}};
    r->wakes = (struct chunk){.name = "WAKE", .columns = 2, .width = {2, 1}};
    r->decisions = (struct chunk){.name = "DECS", .columns = 2, .width = {1, 1}};
    for (uint32_t i = 0; i < h->vcpu_count; i++) {
        struct vcpu *v = h->vcpu[i];

        note_state(r, v, v->runstate, v->processor, h->queue->now);
    }
    r->explainer = (struct explainer){.pcpu = -1, .decided = decided, .ctx = r};
    explainer_attach(&r->explainer, h);
    r->observer = (struct observer){.see = see, .handled = handled};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        r->observer.kinds |= UINT64_C(1) << kinds[i];
    host_observe(h, &r->observer);
}

struct timelines *timelines_begin(const struct study *s, const struct variant *v, struct world *w,
                                  struct errors *e)
{
    struct timelines *t = xcalloc(1, sizeof *t);
    size_t before = e->count;

    t->study = s;
    t->variant = v;
    t->world = w;
    t->recorders = w->roster->hosts;
    t->recorder = xcalloc(t->recorders, sizeof *t->recorder);
    t->client = xcalloc(w->roster->clients, sizeof *t->client);
    for (size_t i = 0; i < t->recorders && e->count == before; i++) {
        struct recorder *r = &t->recorder[i];

        r->wh = &w->host[i];
        r->host = w->host[i].host;
        r->from = s->timeline.from;
        r->until = s->timeline.until < w->end ? s->timeline.until : w->end;
        r->path = xasprintf("%s/timeline-%zu-%s.hvt", s->timeline.dir, (size_t)(v - s->variant) + 1,
                            r->wh->roster->name);
        watch_host(r, e);
    }
    for (size_t i = 0; i < w->roster->clients; i++) {
        const struct world_domain *server = w->client[i].target->server;

        t->client[i] = (struct watched_client){.watcher.seen = seen_request,
                                               .recorder = &t->recorder[server->host - w->host],
                                               .client = (uint32_t)i,
                                               .domain = server->roster->id};
        client_watch(w->client[i].client, &t->client[i].watcher);
    }
    return t;
}

static void put_names(struct json_writer *j, const struct timelines *t, const struct recorder *r)
{
    const struct roster *roster = t->world->roster;
    const struct roster_host *host = r->wh->roster;

    json_begin_inline(j, "domains", '[');
    for (size_t i = 0; i < host->domains; i++)
        json_put_string(j, NULL, roster->domain[host->first_domain + i].name);
    json_end(j);
    json_begin(j, "vcpus", '[');
    for (uint32_t i = 0; i < r->vcpus; i++) {
        json_begin_inline(j, NULL, '{');
        json_put_string(j, "name", r->vcpu[i].name);
        json_put_integer(j, "domain", r->vcpu[i].domain);
        json_end(j);
    }
    json_end(j);
    json_begin_inline(j, "priorities", '[');
    for (uint32_t i = 0; i < r->priorities; i++)
        json_put_string(j, NULL, r->priority[i]);
    json_end(j);
    json_begin_inline(j, "clients", '[');
    for (size_t i = 0; i < roster->clients; i++)
        json_put_string(j, NULL, roster->client[i].name);
    json_end(j);
}

static void put_way(struct json_writer *j)
{
    static const char *const hops[HOPS] = {
#define X(name, meaning) [HOP_##name] = (meaning),
        HOP_TABLE(X)
#undef X
    };

    json_begin(j, "hops", '[');
    for (int i = 0; i < HOPS; i++)
        json_put_string(j, NULL, hops[i]);
    json_end(j);
    parts_put_names(j);
}

static void write_head(const struct timelines *t, struct recorder *r)
{
    char number[32], *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct json_writer j;

    if (!out) {
        r->file.failed = true;
        return;
    }
    j = json_writer(out, JSON_LINES);
    json_begin(&j, NULL, '{');
    json_put_integer(&j, "format", 1);
    json_put_string(&j, "hvsim", hvsim_version);
    json_put_string(&j, "title", t->variant->scenario->title);
    json_put_string(&j, "variant", t->variant->label);
    json_put_string(&j, "host", r->wh->roster->name);
    json_put_string(&j, "scheduler", r->wh->roster->spec->scheduler.choice->name);
    snprintf(number, sizeof number, "%lld", (long long)r->from);
    json_put_string(&j, "from", number);
    json_put_integer(&j, "length", r->until - r->from);
    json_put_boolean(&j, "cut", r->cut);
    json_put_integer(&j, "pcpus", r->pcpus);
    json_put_integer(&j, "segments", (int64_t)r->segments.total);
    json_put_integer(&j, "wakes", (int64_t)r->wakes.total);
    json_put_integer(&j, "decisions", (int64_t)r->decisions.total);
    json_put_integer(&j, "requests", (int64_t)r->request_count);
    put_names(&j, t, r);
    put_way(&j);
    json_end(&j);
    fclose(out);
    timeline_block(&r->file, "HEAD", text, size);
    free(text);
}

static int finish(const struct timelines *t, struct recorder *r, struct errors *e)
{
    if (!r->begun && !r->ended)
        begin(r); /* nothing happened since */
    chunk_write(&r->segments, &r->file);
    chunk_write(&r->wakes, &r->file);
    write_whys(r);
    if (r->requests.size)
        timeline_block(&r->file, "REQS", r->requests.data, r->requests.size);
    write_head(t, r);
    return timeline_file_close(&r->file, r->path, e);
}

int timelines_end(struct timelines *t, struct errors *e)
{
    size_t before = e->count;

    for (size_t i = 0; t && i < t->recorders; i++) {
        struct recorder *r = &t->recorder[i];

        if (r->file.output)
            finish(t, r, e);
        for (uint32_t k = 0; k < r->vcpus; k++)
            free(r->vcpu[k].name);
        explainer_free(&r->explainer);
        chunk_free(&r->segments);
        chunk_free(&r->wakes);
        chunk_free(&r->decisions);
        bytes_free(&r->whys);
        bytes_free(&r->requests);
        free(r->vcpu);
        free(r->dirty);
        free(r->path);
    }
    if (t) {
        free(t->recorder);
        free(t->client);
    }
    free(t);
    return e->count > before ? -1 : 0;
}
