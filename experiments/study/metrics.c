/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/study/metrics.h"

#include "experiments/scenario/entitlement.h"
#include "sim/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NS_TO_MS 1e6

const char *const subject_kind_names[SUBJECT_KINDS] = {"client", "host",         "group",
                                                       "domain", "control loop", "replica"};

enum {
    CLIENT = 1 << SUBJECT_CLIENT,
    HOST = 1 << SUBJECT_HOST,
    GROUP = 1 << SUBJECT_GROUP,
    DOMAIN = 1 << SUBJECT_DOMAIN,
    LOOP = 1 << SUBJECT_LOOP,
    REPLICA = 1 << SUBJECT_REPLICA
};

/* ---- readers --------------------------------------------------------------------------------- */

static struct sample nothing(void)
{
    return (struct sample){NAN, 0};
}

static struct sample of_histogram(const struct histogram *h, const struct metric *m)
{
    if (!h || !h->count)
        return nothing();
    if (m->estimate == ESTIMATE_MAXIMUM)
        return (struct sample){(double)h->max / NS_TO_MS, h->count};
    if (m->estimate == ESTIMATE_MEAN)
        return (struct sample){histogram_mean(h) / NS_TO_MS, h->count};
    return (struct sample){histogram_estimate(h, m->q) / NS_TO_MS, h->count};
}

static struct sample latency(const struct view *v, const struct metric *m)
{
    return of_histogram(&v->client->latency, m);
}

static struct sample intended(const struct view *v, const struct metric *m)
{
    return of_histogram(&v->client->intended, m);
}

static struct sample wake_to_run(const struct view *v, const struct metric *m)
{
    return of_histogram(v->wake_to_run, m);
}

#define LATE_WAKE (10 * 1000000) /* ns; the threshold of Bobtail's probe */

static struct sample late_wakes(const struct view *v, const struct metric *m)
{
    uint64_t late = v->wake_to_run ? histogram_above(v->wake_to_run, LATE_WAKE) : 0;

    (void)m;
    return (struct sample){(double)late / v->seconds, late};
}

static struct sample disk_latency(const struct view *v, const struct metric *m)
{
    return of_histogram(v->disk_latency, m);
}

static struct sample per_second(const struct view *v, uint64_t count)
{
    return (struct sample){(double)count / v->seconds, count};
}

static struct sample throughput(const struct view *v, const struct metric *m)
{
    (void)m;
    if (!isnan(v->stream_rate))
        return nothing(); /* it sends no requests */
    return per_second(v, v->client->latency.count);
}

static struct sample failed(const struct view *v, const struct metric *m)
{
    (void)m;
    return per_second(v, v->client->counts.recorded_failed);
}

static struct sample retransmitted(const struct view *v, const struct metric *m)
{
    (void)m;
    return per_second(v, v->client->counts.retransmitted);
}

static struct sample refused(const struct view *v, const struct metric *m)
{
    (void)m;
    return per_second(v, v->client->counts.refused);
}

static struct sample percent_of_time(const struct view *v, sim_time time)
{
    return (struct sample){(double)time / 1e9 / v->seconds * 100, v->use.runs};
}

static struct sample cpu_share(const struct view *v, const struct metric *m)
{
    (void)m;
    return percent_of_time(v, v->use.running);
}

static struct sample utilisation(const struct view *v, const struct metric *m)
{
    struct sample s = percent_of_time(v, v->use.running);

    (void)m;
    s.value /= v->pcpus;
    return s;
}

static struct sample wake_wait(const struct view *v, const struct metric *m)
{
    (void)m;
    return percent_of_time(v, v->use.wake_wait);
}

static struct sample preempt_wait(const struct view *v, const struct metric *m)
{
    (void)m;
    return percent_of_time(v, v->use.preempt_wait);
}

static struct sample runs(const struct view *v, const struct metric *m)
{
    (void)m;
    return per_second(v, v->use.runs);
}

static struct sample moves(const struct view *v, const struct metric *m)
{
    (void)m;
    return per_second(v, v->use.moves);
}

static const struct domain_use *use_of(const struct world *w, size_t domain)
{
    const struct world_domain *wd = &w->domain[domain];

    return &wd->host->meter.use[wd->roster->id];
}

static struct sample fairness(const struct view *v, const struct metric *m)
{
    const struct roster_group *g = &v->world->roster->group[v->subject->index];
    double *share = xcalloc(g->domains, sizeof *share);
    struct sample s;

    (void)m;
    for (size_t i = 0; i < g->domains; i++)
        share[i] = (double)use_of(v->world, g->first + i)->running;
    s = (struct sample){jain_index(share, g->domains), g->domains};
    free(share);
    return s;
}

/* Of the subject's domains together, in per cent of one pCPU. */
static struct sample entitled(const struct view *v, const struct metric *m)
{
    const struct roster_group *g = &v->world->roster->group[v->subject->index];
    struct entitlement e = entitlement_of(&v->world->host[g->host]);
    double sum = 0;

    (void)m;
    for (size_t i = 0; i < g->domains && e.known; i++)
        sum += e.share[g->first + i - e.first];
    entitlement_free(&e);
    return e.known ? (struct sample){sum * 100, g->domains} : nothing();
}

static struct sample deviation(const struct view *v, const struct metric *m)
{
    const struct roster *r = v->world->roster;
    bool all = v->subject->kind == SUBJECT_HOST;
    const struct roster_group *g = all ? NULL : &r->group[v->subject->index];
    const struct roster_host *h = &r->host[all ? v->subject->index : g->host];
    size_t first = all ? h->first_domain : g->first, count = all ? h->domains : g->domains;
    struct entitlement e = entitlement_of(&v->world->host[h - r->host]);
    double most = 0;

    (void)m;
    for (size_t i = first; i < first + count && e.known; i++) {
        double share = e.share[i - e.first], d = e.got[i - e.first] / share - 1;

        if (share > 0 && fabs(d) > most)
            most = fabs(d);
    }
    entitlement_free(&e);
    return e.known ? (struct sample){most * 100, count} : nothing();
}

static struct sample stream_rate_of(const struct view *v, const struct metric *m)
{
    (void)m;
    return isnan(v->stream_rate) ? nothing() : (struct sample){v->stream_rate / 1e6, 1};
}

static struct sample disk_rate(const struct view *v, const struct metric *m)
{
    (void)m;
    if (!v->disk)
        return nothing();
    return (struct sample){(double)v->disk_bytes / 1e6 / v->seconds, 1};
}

static struct sample job_time(const struct view *v, const struct metric *m)
{
    (void)m;
    if (!v->work.jobs || !v->work.job_time)
        return nothing();
    return (struct sample){(double)v->work.job_time / 1e9 / (double)v->work.jobs, v->work.jobs};
}

/* ---- control loops --------------------------------------------------------------------------- */

static struct sample delay(const struct view *v, const struct metric *m)
{
    return of_histogram(&v->loop->measures.delay[v->replica], m);
}

static struct sample service(const struct view *v, const struct metric *m)
{
    return of_histogram(&v->loop->measures.service, m);
}

static struct sample gap(const struct view *v, const struct metric *m)
{
    return of_histogram(&v->loop->measures.gap, m);
}

static struct sample percent_of_rounds(const struct view *v, uint64_t count)
{
    size_t rounds = v->loop->measures.rounds;

    return rounds ? (struct sample){(double)count / (double)rounds * 100, rounds} : nothing();
}

static struct sample late(const struct view *v, const struct metric *m)
{
    (void)m;
    return percent_of_rounds(v, v->loop->measures.late[v->replica].bad);
}

static struct sample lost(const struct view *v, const struct metric *m)
{
    (void)m;
    return percent_of_rounds(v, v->loop->measures.lost[v->replica]);
}

static struct sample late_run(const struct view *v, const struct metric *m)
{
    const struct runs *r = &v->loop->measures.late[v->replica];

    (void)m;
    return (struct sample){runs_mean(r), r->bad_runs};
}

/* Crashed, being restarted, or on a host that is off. */
static struct sample crashed(const struct view *v, const struct metric *m)
{
    const struct roster_replica *p = &v->world->roster->replica[v->subject->index];
    sim_time down = v->loop->counts[v->replica].down;

    (void)m;
    if (p->domain != SIZE_MAX)
        down += v->world->domain[p->domain].host->asleep;
    return (struct sample){(double)down / 1e9 / v->seconds * 100, 1};
}

static struct sample unavailable(const struct view *v, const struct metric *m)
{
    (void)m;
    return percent_of_rounds(v, v->loop->measures.outage.bad);
}

static struct sample all_late(const struct view *v, const struct metric *m)
{
    (void)m;
    return percent_of_rounds(v, v->loop->measures.all_late);
}

static struct sample outages(const struct view *v, const struct metric *m)
{
    (void)m;
    return (struct sample){(double)v->loop->measures.outage.bad_runs / v->seconds * 3600,
                           v->loop->measures.outage.bad_runs};
}

static struct sample outage_mean(const struct view *v, const struct metric *m)
{
    const struct loop_measures *l = &v->loop->measures;

    (void)m;
    return (struct sample){runs_mean(&l->outage) * (double)v->loop->loop.params->period / 1e6,
                           l->outage.bad_runs};
}

static struct sample cost(const struct view *v, const struct metric *m)
{
    (void)m;
    if (v->loop->plant.kind == PLANT_NONE)
        return nothing();
    return (struct sample){v->loop->agent.cost / v->loop->agent.seconds, v->loop->measures.rounds};
}

static struct sample falls(const struct view *v, const struct metric *m)
{
    (void)m;
    if (v->loop->plant.kind == PLANT_NONE)
        return nothing();
    return (struct sample){(double)v->loop->agent.falls / v->loop->agent.seconds * 3600,
                           v->loop->measures.rounds};
}

/* ---- the table ------------------------------------------------------------------------------- */

#define FIGURE(name_, heading_, meaning_, subjects_, estimate_, q_, of_, read_)                    \
    {                                                                                              \
        .name = (name_), .unit = "ms", .heading = (heading_), .meaning = (meaning_),               \
        .subjects = (subjects_), .estimate = (estimate_), .q = (q_), .of = (of_), .read = (read_)  \
    }

#define DISTRIBUTION(prefix, subjects, of, reader, what)                                           \
    FIGURE(prefix "_p50", "p50", "Half of " what " are below this.", subjects, ESTIMATE_QUANTILE,  \
           0.5, of, reader),                                                                       \
        FIGURE(prefix "_p90", "p90", "90 % of " what " are below this.", subjects,                 \
               ESTIMATE_QUANTILE, 0.9, of, reader),                                                \
        FIGURE(prefix "_p99", "p99", "99 % of " what " are below this.", subjects,                 \
               ESTIMATE_QUANTILE, 0.99, of, reader),                                               \
        FIGURE(prefix "_p99.9", "p99.9", "99.9 % of " what " are below this.", subjects,           \
               ESTIMATE_QUANTILE, 0.999, of, reader),                                              \
        FIGURE(prefix "_max", "max", "The largest of " what ".", subjects, ESTIMATE_MAXIMUM, 1,    \
               of, reader),                                                                        \
        FIGURE(prefix "_mean", "mean", "The mean of " what ".", subjects, ESTIMATE_MEAN, -1, of,   \
               reader)

#define PLAIN(name_, unit_, heading_, meaning_, subjects_, read_)                                  \
    {                                                                                              \
        .name = (name_), .unit = (unit_), .heading = (heading_), .meaning = (meaning_),            \
        .subjects = (subjects_), .estimate = ESTIMATE_MEAN, .q = -1, .read = (read_)               \
    }

const struct metric metrics[] = {
    DISTRIBUTION("latency", CLIENT, OF_LATENCY, latency,
                 "latencies, from the send of the request to its reply"),
    DISTRIBUTION("intended", CLIENT, OF_INTENDED, intended,
                 "latencies, from the date the request was meant to be sent to its reply"),
    PLAIN("throughput", "1/s", "replies/s", "Requests of the measured time that were answered.",
          CLIENT, throughput),
    PLAIN("failed", "1/s", "failed/s", "Requests of the measured time that were given up.", CLIENT,
          failed),
    PLAIN("retransmitted", "1/s", "resent/s",
          "Requests sent again after a time-out; of the whole run, per second measured.", CLIENT,
          retransmitted),
    PLAIN("refused", "1/s", "refused/s",
          "Requests that found the client's backlog full; of the whole run, per second measured.",
          CLIENT, refused),
    PLAIN("goodput", "Mbit/s", "Mbit/s", "Payload that streams have received in order.", CLIENT,
          stream_rate_of),
    PLAIN("disk_rate", "MB/s", "disk MB/s", "Bytes read from and written to disk.", GROUP | DOMAIN,
          disk_rate),
    PLAIN("job_time", "s", "s/job",
          "Mean time that a job took; for disk users, a request. Of the whole run.", GROUP | DOMAIN,
          job_time),
    PLAIN("utilisation", "%", "busy", "Share of the host's CPU time given to domains.", HOST,
          utilisation),
    DISTRIBUTION("disk_latency", GROUP, OF_DISK, disk_latency,
                 "times from a disk request's submission to its completion in the guest"),
    PLAIN("cpu_share", "%", "CPU", "CPU time received, in per cent of one pCPU.", GROUP | DOMAIN,
          cpu_share),
    PLAIN("wake_wait", "%", "wake wait",
          "vCPU time spent waiting for a pCPU after waking up, in per cent of one vCPU.",
          GROUP | DOMAIN, wake_wait),
    PLAIN("preempt_wait", "%", "preempt wait",
          "vCPU time spent waiting for a pCPU after having lost it, in per cent of one vCPU.",
          GROUP | DOMAIN, preempt_wait),
    DISTRIBUTION("wake_to_run", GROUP, OF_WAKING, wake_to_run,
                 "times from a vCPU's waking up to its running"),
    PLAIN("late_wakes", "1/s", ">10ms/s",
          "Wake-ups after which a vCPU waited 10 ms or longer for a pCPU.", GROUP, late_wakes),
    PLAIN("runs", "1/s", "runs/s", "Times that a vCPU was switched in.", HOST | GROUP | DOMAIN,
          runs),
    PLAIN("moves", "1/s", "moves/s",
          "Times that a vCPU was switched in on another pCPU than before.", HOST | GROUP | DOMAIN,
          moves),
    PLAIN("fairness", "", "fairness",
          "Jain's index of the CPU time of the group's domains: 1 if all are equal.", GROUP,
          fairness),
    PLAIN(
        "entitled", "%", "entitled",
        "CPU time that its domains' weights entitle them to, in per cent of one pCPU: fair shares "
        "of those that were never idle, what they used of the others (docs/models/fairness.md).",
        GROUP, entitled),
    PLAIN("deviation", "%", "deviation",
          "Largest deviation of a domain's CPU time from what it is entitled to, in per cent of "
          "the latter.",
          HOST | GROUP, deviation),
    PLAIN("unavailable", "%", "unavailable",
          "Rounds of which no setpoint was implemented within its validity.", LOOP, unavailable),
    PLAIN("all_late", "%", "all late",
          "Rounds in which no replica's setpoint came within its validity.", LOOP, all_late),
    PLAIN("outages", "1/h", "outages/h", "Runs of rounds that implemented nothing.", LOOP, outages),
    PLAIN("outage_mean", "ms", "outage", "Their mean length.", LOOP, outage_mean),
    PLAIN("control_cost", "1/s", "cost", "The plant's cost, by time.", LOOP, cost),
    PLAIN("falls", "1/h", "falls/h", "Times that the plant got beyond its limit.", LOOP, falls),
    DISTRIBUTION("service", LOOP, OF_SERVICE, service,
                 "times from the start of a round to the implementation of its setpoint"),
    DISTRIBUTION("gap", LOOP, OF_GAP, gap, "times between two implemented setpoints"),
    PLAIN("late", "%", "late", "Rounds whose setpoint did not come within its validity.", REPLICA,
          late),
    PLAIN("lost", "%", "lost", "Rounds whose setpoint did not come at all.", REPLICA, lost),
    PLAIN("late_run", "", "late run", "Mean length of runs of late rounds.", REPLICA, late_run),
    PLAIN("crashed", "%", "crashed", "Time for which the replica or its host was down.", REPLICA,
          crashed),
    DISTRIBUTION("delay", REPLICA, OF_DELAY, delay,
                 "delays of setpoints, from the start of their round to their arrival"),
};
const size_t metric_count = sizeof metrics / sizeof *metrics;

const struct metric *metric_by_name(const char *name)
{
    for (size_t i = 0; i < metric_count; i++)
        if (!strcmp(metrics[i].name, name))
            return &metrics[i];
    return NULL;
}

/* ---- subjects -------------------------------------------------------------------------------- */

static bool concerns(const struct metric *m, const struct subject *s)
{
    return m->subjects >> s->kind & 1;
}

static void add_subject(struct layout *l, enum subject_kind kind, char *name, size_t index,
                        size_t members)
{
    struct subject *s;

    l->subject = xrealloc(l->subject, (l->subjects + 1) * sizeof *l->subject);
    s = &l->subject[l->subjects++];
    *s = (struct subject){kind, name, index, members, l->cells, l->pools};
    l->pools += kind == SUBJECT_CLIENT || kind == SUBJECT_LOOP || kind == SUBJECT_GROUP ? 2
                : kind == SUBJECT_REPLICA                                               ? 1
                                                                                        : 0;
    for (size_t i = 0; i < metric_count; i++)
        l->cells += concerns(&metrics[i], s);
}

static void add_group(struct layout *l, size_t g)
{
    const struct roster *r = l->roster;
    const struct roster_group *group = &r->group[g];
    const char *host = r->host[group->host].name;

    add_subject(l, SUBJECT_GROUP, xasprintf("%s/%s", host, group->name), g, group->domains);
    for (size_t i = 0; i < group->domains && group->domains > 1; i++)
        add_subject(l, SUBJECT_DOMAIN, xasprintf("%s/%s", host, r->domain[group->first + i].name),
                    group->first + i, 1);
}

static void add_loop(struct layout *l, size_t i)
{
    const struct roster_loop *loop = &l->roster->loop[i];

    add_subject(l, SUBJECT_LOOP, xstrdup(loop->spec->name), i, loop->replicas);
    for (size_t k = 0; k < loop->replicas; k++)
        add_subject(l, SUBJECT_REPLICA, xstrdup(l->roster->replica[loop->first_replica + k].name),
                    loop->first_replica + k, 1);
}

struct layout *layout_new(const struct scenario *s, const struct roster *r)
{
    struct layout *l = xcalloc(1, sizeof *l);

    l->roster = r;
    for (size_t i = 0; i < s->clients.count; i++)
        add_subject(l, SUBJECT_CLIENT, xstrdup(scenario_client(s, i)->name), i,
                    (size_t)scenario_client(s, i)->count);
    l->clients = l->subjects;
    for (size_t i = 0; i < r->hosts; i++)
        add_subject(l, SUBJECT_HOST, xstrdup(r->host[i].name), i, r->host[i].domains);
    for (size_t i = 0; i < r->groups; i++)
        add_group(l, i);
    for (size_t i = 0; i < r->loops; i++)
        add_loop(l, i);
    return l;
}

void layout_free(struct layout *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->subjects; i++)
        free(l->subject[i].name);
    free(l->subject);
    free(l);
}

size_t layout_cell(const struct subject *s, const struct metric *m)
{
    size_t cell = s->cell;

    if (!concerns(m, s))
        return SIZE_MAX;
    for (const struct metric *k = metrics; k < m; k++)
        cell += concerns(k, s);
    return cell;
}

size_t layout_pool(const struct subject *s, enum distribution_kind of)
{
    if (s->kind == SUBJECT_CLIENT && (of == OF_LATENCY || of == OF_INTENDED))
        return s->pool + (of == OF_INTENDED);
    if (s->kind == SUBJECT_LOOP && (of == OF_SERVICE || of == OF_GAP))
        return s->pool + (of == OF_GAP);
    if (s->kind == SUBJECT_REPLICA && of == OF_DELAY)
        return s->pool;
    if (s->kind == SUBJECT_GROUP && (of == OF_WAKING || of == OF_DISK))
        return s->pool + (of == OF_DISK);
    return SIZE_MAX;
}

/* ---- reading a world ------------------------------------------------------------------------- */

void client_counts_add(struct client_counts *to, const struct client_counts *from)
{
    uint64_t *sum = (uint64_t *)(void *)to;
    const uint64_t *more = (const uint64_t *)(const void *)from;

    _Static_assert(sizeof *to % sizeof *sum == 0, "client_counts is all uint64_t");
    for (size_t i = 0; i < sizeof *to / sizeof *sum; i++)
        sum[i] += more[i];
}

static void merge_clients(const struct world *w, size_t entry, struct client_results *to)
{
    for (size_t i = 0; i < w->roster->clients; i++) {
        const struct client_results *from;

        if (w->roster->client[i].spec_index != entry)
            continue;
        from = client_results(w->client[i].client);
        if (!to->latency.bucket) {
            histogram_init(&to->latency, from->latency.bits);
            histogram_init(&to->intended, from->intended.bits);
            breakdown_init(&to->breakdown);
        }
        histogram_merge(&to->latency, &from->latency);
        histogram_merge(&to->intended, &from->intended);
        breakdown_merge(&to->breakdown, &from->breakdown);
        client_counts_add(&to->counts, &from->counts);
    }
}

/* Bit/s of an entry's streams, all together; NAN: it has none. */
static double all_streams(const struct world *w, size_t entry)
{
    double rate = NAN;

    for (size_t i = 0; i < w->roster->clients; i++)
        if (w->roster->client[i].spec_index == entry && w->client[i].stream)
            rate = (isnan(rate) ? 0 : rate) + stream_rate(stream_results(w->client[i].stream));
    return rate;
}

static void add_use(struct domain_use *to, const struct domain_use *from)
{
    to->running += from->running;
    to->wake_wait += from->wake_wait;
    to->preempt_wait += from->preempt_wait;
    to->runs += from->runs;
    to->moves += from->moves;
}

static void view_domains(struct view *v, size_t first, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct world_domain *wd = &v->world->domain[first + i];

        add_use(&v->use, use_of(v->world, first + i));
        v->work.jobs += wd->work.jobs;
        v->work.job_time += wd->work.job_time;
        v->disk_bytes += wd->disk_bytes;
        v->disk = v->disk || wd->roster->spec->disk;
    }
}

static const struct histogram *waking(const struct world *w, const struct subject *s)
{
    const struct roster_group *g = &w->roster->group[s->index];

    return &w->host[g->host].meter.wake_to_run[use_of(w, g->first)->group];
}

static const struct histogram *of_disks(const struct world *w, const struct subject *s)
{
    const struct roster_group *g = &w->roster->group[s->index];

    return &w->host[g->host].meter.disk[use_of(w, g->first)->group];
}

static void view_group(struct view *v)
{
    const struct roster_group *g = &v->world->roster->group[v->subject->index];
    const struct histogram *h = waking(v->world, v->subject), *d = of_disks(v->world, v->subject);

    view_domains(v, g->first, g->domains);
    v->wake_to_run = h->bucket ? h : NULL;
    v->disk_latency = d->bucket ? d : NULL;
}

static void view_host(struct view *v)
{
    const struct world_host *wh = &v->world->host[v->subject->index];

    view_domains(v, wh->roster->first_domain, wh->roster->domains);
    v->pcpus = (uint32_t)wh->roster->spec->pcpus;
}

void metrics_read(const struct layout *l, const struct world *w, struct client_results *merged,
                  struct sample *samples)
{
    for (size_t i = 0; i < l->subjects; i++) {
        const struct subject *s = &l->subject[i];
        struct view v = {.world = w, .subject = s, .seconds = (double)w->scenario->duration / 1e9};
        struct sample *at = &samples[s->cell];

        if (s->kind == SUBJECT_CLIENT) {
            merge_clients(w, s->index, &merged[i]);
            v.client = &merged[i];
            v.stream_rate = all_streams(w, s->index);
        } else if (s->kind == SUBJECT_GROUP) {
            view_group(&v);
        } else if (s->kind == SUBJECT_HOST) {
            view_host(&v);
        } else if (s->kind == SUBJECT_LOOP) {
            v.loop = &w->loop[s->index];
        } else if (s->kind == SUBJECT_REPLICA) {
            v.loop = &w->loop[l->roster->replica[s->index].loop];
            v.replica = l->roster->replica[s->index].index;
        } else {
            view_domains(&v, s->index, 1);
        }
        for (size_t k = 0; k < metric_count; k++)
            if (concerns(&metrics[k], s))
                *at++ = metrics[k].read(&v, &metrics[k]);
    }
}

void metrics_distributions(const struct layout *l, const struct world *w,
                           const struct client_results *merged, const struct histogram **pools)
{
    for (size_t i = 0; i < l->subjects; i++) {
        const struct subject *s = &l->subject[i];

        if (s->kind == SUBJECT_CLIENT) {
            pools[layout_pool(s, OF_LATENCY)] = &merged[i].latency;
            pools[layout_pool(s, OF_INTENDED)] = &merged[i].intended;
        } else if (s->kind == SUBJECT_GROUP) {
            pools[layout_pool(s, OF_WAKING)] = waking(w, s);
            pools[layout_pool(s, OF_DISK)] = of_disks(w, s);
        } else if (s->kind == SUBJECT_LOOP) {
            pools[layout_pool(s, OF_SERVICE)] = &w->loop[s->index].measures.service;
            pools[layout_pool(s, OF_GAP)] = &w->loop[s->index].measures.gap;
        } else if (s->kind == SUBJECT_REPLICA) {
            const struct roster_replica *p = &l->roster->replica[s->index];

            pools[layout_pool(s, OF_DELAY)] = &w->loop[p->loop].measures.delay[p->index];
        }
    }
}

/* ---- replications to one figure -------------------------------------------------------------- */

static struct interval maximum(const double *x, size_t n, double level)
{
    struct interval i = {
        .estimate = NAN, .low = NAN, .high = NAN, .level = level, .none = INTERVAL_MAXIMUM, .n = n};

    for (size_t k = 0; k < n; k++)
        if (!(i.estimate >= x[k]))
            i.estimate = x[k];
    return i;
}

/* Replications in which there was nothing to observe have no value; then there is no interval. */
static struct interval incomplete(const double *x, size_t n, double level)
{
    struct interval i = {.estimate = NAN,
                         .low = NAN,
                         .high = NAN,
                         .level = level,
                         .none = INTERVAL_FEW_VALUES,
                         .n = n};
    double sum = 0;
    size_t there = 0;

    for (size_t k = 0; k < n; k++)
        if (!isnan(x[k])) {
            sum += x[k];
            there++;
        }
    if (there)
        i.estimate = sum / (double)there;
    return i;
}

struct interval metric_interval(const struct metric *m, const struct sample *samples, size_t n,
                                double level)
{
    double *x = xcalloc(n, sizeof *x);
    struct interval i;
    bool complete = n > 0;

    for (size_t k = 0; k < n; k++) {
        x[k] = samples[k].value;
        complete = complete && !isnan(x[k]);
    }
    if (m->estimate == ESTIMATE_MAXIMUM)
        i = maximum(x, n, level);
    else
        i = complete ? interval_mean(x, n, level) : incomplete(x, n, level);
    free(x);
    return i;
}
