/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Printing a summary, for people and as JSON. */
#include "experiments/traces/xentrace_summary.h"
#include "sim/json_writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const state_name[XT_STATES] = {"running", "runnable", "blocked", "offline",
                                                  "lost"};
static const char *const wait_name[XT_WAITS] = {"wake", "preempt", "other"};
static const char *const scheduler_name[8] = {"credit", "credit2", NULL, "arinc653",
                                              "rtds",   "null",    NULL, NULL};
static const double quantile[] = {0.5, 0.9, 0.99, 0.999};
static const char *const quantile_key[] = {"p50_ns", "p90_ns", "p99_ns", "p999_ns"};

enum { QUANTILES = sizeof quantile / sizeof *quantile };

static int by_number(const void *a, const void *b)
{
    const struct xt_vcpu *x = *(struct xt_vcpu *const *)a, *y = *(struct xt_vcpu *const *)b;

    return x->domain != y->domain ? (x->domain > y->domain) - (x->domain < y->domain)
                                  : (x->number > y->number) - (x->number < y->number);
}

/* The vCPUs that have a summary, by domain and number; the idle ones come last by their number. */
static struct xt_vcpu **sorted_vcpus(const struct xentrace_summary *s, uint32_t *count)
{
    struct xt_vcpu **list = xcalloc(s->track->vcpus, sizeof *list);

    *count = 0;
    for (uint32_t i = 0; i < s->track->vcpus; i++)
        if (xentrace_summary_vcpu(s->track->vcpu[i]))
            list[(*count)++] = s->track->vcpu[i];
    qsort(list, *count, sizeof *list, by_number);
    return list;
}

static uint64_t running(const struct xt_vcpu_summary *vs)
{
    return vs->state[XT_RUNNING].cycles + vs->began;
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Whether the frequency used contradicts the run times that the trace gives in ns. */
static bool hz_doubtful(const struct xentrace_summary *s, uint64_t hz)
{
    double told = (double)xentrace_summary_hz(s);

    return s->told_count >= 10 && (told < 0.98 * (double)hz || told > 1.02 * (double)hz);
}

/* ---- For people --------------------------------------------------------------------------------
 */

struct table {
    const struct xentrace_summary *s;
    const struct xentrace_report *r;
    struct xt_vcpu **vcpu;
    uint32_t vcpus;
    FILE *out;
};

static double us(const struct table *t, uint64_t cycles)
{
    return (double)xentrace_ns(cycles, t->r->hz) / 1000;
}

static double seconds(const struct table *t, uint64_t cycles)
{
    return (double)cycles / (double)t->r->hz;
}

static const char *vcpu_name(const struct xt_vcpu *v, char name[24])
{
    if (XT_IDLE(v))
        snprintf(name, 24, "idle p%u", v->number);
    else
        snprintf(name, 24, "d%uv%u", v->domain, v->number);
    return name;
}

static void print_durations(const struct table *t, const struct xt_stat *st)
{
    fprintf(t->out, "  %9" PRIu64 " %10.3f %11.1f", st->count, seconds(t, st->cycles),
            st->count ? us(t, st->cycles) / (double)st->count : 0);
    for (unsigned i = 0; i < QUANTILES - 1; i++) {
        bool known;
        uint64_t cycles = xt_stat_quantile(st, quantile[i], &known);

        if (known)
            fprintf(t->out, " %11.1f", us(t, cycles));
        else
            fprintf(t->out, " %11s", "-");
    }
    fprintf(t->out, " %11.1f\n", us(t, st->max));
}

static void print_section(const struct table *t, const char *title, size_t offset)
{
    bool headed = false;

    for (uint32_t i = 0; i < t->vcpus; i++) {
        const struct xt_vcpu_summary *vs = xentrace_summary_vcpu(t->vcpu[i]);
        const struct xt_stat *st = (const void *)((const char *)vs + offset);
        char name[24];

        if (!st->count || XT_IDLE(t->vcpu[i]))
            continue;
        if (!headed)
            fprintf(t->out, "\n%-12s  %9s %10s %11s %11s %11s %11s %11s\n", title, "count",
                    "total s", "mean us", "p50 us", "p90 us", "p99 us", "max us");
        headed = true;
        fprintf(t->out, "%-12s", vcpu_name(t->vcpu[i], name));
        print_durations(t, st);
    }
}

static void print_pcpus(const struct table *t)
{
    uint64_t total = xt_track_cycles(t->s->track);

    fprintf(t->out, "\n%-6s %7s %7s %7s %10s %10s %8s  bytes by class\n", "pCPU", "busy %",
            "idle %", "lost %", "switches", "records", "lost");
    for (unsigned i = 0; i < XENTRACE_PCPUS; i++) {
        const struct xt_pcpu_summary *ps = t->s->pcpu[i];
        const struct xt_pcpu *p = t->s->track->pcpu[i];

        if (!ps || !p)
            continue;
        fprintf(t->out, "%-6u %7.2f %7.2f %7.2f %10" PRIu64 " %10" PRIu64 " %8" PRIu64 " ", i,
                percent(p->busy.cycles, total), percent(p->idle.cycles, total),
                percent(p->lost.cycles, total), p->switches, ps->records, p->lost_records);
        for (unsigned c = 0; c < XT_CLASS_COUNT; c++)
            if (ps->bytes[c])
                fprintf(t->out, " %s %" PRIu64, xt_class_name[c] ? xt_class_name[c] : "other",
                        ps->bytes[c]);
        fputc('\n', t->out);
    }
}

static void print_shares(const struct table *t)
{
    uint64_t total = xt_track_cycles(t->s->track);

    fprintf(t->out, "\n%-12s %8s %10s %9s %9s %9s %9s %9s  on pCPU %%\n", "vCPU", "share %",
            "running s", "wakes", "boosts", "unboosts", "stolen", "migrated");
    for (uint32_t i = 0; i < t->vcpus; i++) {
        const struct xt_vcpu *v = t->vcpu[i];
        const struct xt_vcpu_summary *vs = xentrace_summary_vcpu(v);
        char name[24];

        if (XT_IDLE(v))
            continue;
        fprintf(t->out,
                "%-12s %8.2f %10.3f %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64
                " ",
                vcpu_name(v, name), percent(running(vs), total), seconds(t, running(vs)),
                vs->tally[XT_TALLY_WAKE], vs->tally[XT_TALLY_BOOST_START],
                vs->tally[XT_TALLY_BOOST_END], vs->tally[XT_TALLY_STOLEN], v->migrations);
        for (unsigned k = 0; k < vs->on_count; k++)
            fprintf(t->out, " %u:%.2f", vs->on[k].pcpu, percent(vs->on[k].cycles, total));
        fputc('\n', t->out);
    }
}

static void print_domains(const struct table *t)
{
    uint64_t total = xt_track_cycles(t->s->track);

    fprintf(t->out, "\n%-12s %8s %10s %6s\n", "domain", "share %", "running s", "vCPUs");
    for (uint32_t i = 0, next; i < t->vcpus; i = next) {
        unsigned domain = t->vcpu[i]->domain;
        uint64_t cycles = 0;

        for (next = i; next < t->vcpus && t->vcpu[next]->domain == domain; next++)
            cycles += running(xentrace_summary_vcpu(t->vcpu[next]));
        if (domain != XT_IDLE_DOMAIN)
            fprintf(t->out, "d%-11u %8.2f %10.3f %6" PRIu32 "\n", domain, percent(cycles, total),
                    seconds(t, cycles), next - i);
    }
}

static void print_runstates(const struct table *t)
{
    fprintf(t->out,
            "\nRunstates as xenalyze counts them (\"continue running\" ends an interval)\n"
            "%-12s %-10s %9s %10s %14s\n",
            "vCPU", "state", "count", "total s", "mean cycles");
    for (uint32_t i = 0; i < t->vcpus; i++) {
        const struct xt_vcpu_summary *vs = xentrace_summary_vcpu(t->vcpu[i]);
        char name[24];

        vcpu_name(t->vcpu[i], name);
        for (unsigned k = 0; k < XT_STATES; k++) {
            const struct xt_stat *st = &vs->state[k];

            if (!st->count)
                continue;
            fprintf(t->out, "%-12s %-10s %9" PRIu64 " %10.2f %14" PRIu64 "\n", name, state_name[k],
                    st->count, seconds(t, st->cycles), st->cycles / st->count);
            for (unsigned w = 0; k == XT_RUNNABLE && w < XT_WAITS; w++)
                if ((st = &vs->wait[w])->count)
                    fprintf(t->out, "%-12s   %-8s %9" PRIu64 " %10.2f %14" PRIu64 "\n", name,
                            wait_name[w], st->count, seconds(t, st->cycles),
                            st->cycles / st->count);
        }
        if (t->vcpu[i]->residences.count)
            fprintf(t->out, "%-12s %-10s %9" PRIu64 " %10.2f %14" PRIu64 "\n", name, "on a pCPU",
                    t->vcpu[i]->residences.count, seconds(t, t->vcpu[i]->residences.cycles),
                    t->vcpu[i]->residences.cycles / t->vcpu[i]->residences.count);
    }
}

static void print_events(const struct table *t)
{
    fprintf(t->out, "\n%-10s %12s  event\n", "number", "count");
    for (unsigned g = 0; g < XT_GROUPS; g++)
        for (uint32_t i = 0; t->s->event[g] && i < XT_GROUP_EVENTS; i++) {
            const struct xt_event_count *n = &t->s->event[g][i];
            uint32_t event = xt_group_event(g, i);
            const struct xt_event_info *info = xt_event_find(event, 0);
            bool runstate = info && info->event == XT_RUNSTATE_CHANGE;

            if (!n->count)
                continue;
            fprintf(t->out, "0x%08" PRIx32 " %12" PRIu64 "  %s", event, n->count,
                    info ? info->name : "(unknown)");
            if (runstate)
                fprintf(t->out, " %s to %s", xt_runstate_name[event >> 8 & 3],
                        xt_runstate_name[event >> 4 & 3]);
            if (info && n->odd)
                fprintf(t->out, " (%" PRIu64 " of unknown length)", n->odd);
            fputc('\n', t->out);
        }
}

static void damage_line(FILE *out, uint64_t n, const char *what)
{
    if (n)
        fprintf(out, "  %12" PRIu64 " %s\n", n, what);
}

static uint64_t unknown_events(const struct xentrace_summary *s)
{
    uint64_t sum = 0;

    for (unsigned g = 0; g < XT_GROUPS; g++)
        for (uint32_t i = 0; s->event[g] && i < XT_GROUP_EVENTS; i++)
            if (!s->event[g][i].known)
                sum += s->event[g][i].count;
    return sum;
}

static void print_damage(const struct table *t)
{
    const struct xentrace_damage *d = t->r->damage;
    const struct xt_track *k = t->s->track;
    uint64_t unknown = unknown_events(t->s);

    if (!xentrace_damaged(d) && !unknown && !k->unfit && !k->impossible && !k->refused)
        return;
    fprintf(t->out, "\nDamaged or not understood\n");
    damage_line(t->out, d->skipped_bytes, "bytes skipped");
    damage_line(t->out, d->skipped_pieces, "stretches skipped");
    damage_line(t->out, d->wrong_windows, "windows of another size than they say");
    damage_line(t->out, d->absurd_windows, "windows of an impossible size");
    damage_line(t->out, d->wild_tsc, "time stamps far from their neighbours (those were used)");
    damage_line(t->out, d->restarts, "times the TSC went back for good (nothing known after it)");
    damage_line(t->out, d->malformed, "malformed lost-records records");
    damage_line(t->out, d->truncated_bytes, "bytes of a last record that is not whole");
    damage_line(t->out, d->spill_errors, "pieces lost for want of temporary space");
    damage_line(t->out, unknown, "records of unknown events (counted, otherwise ignored)");
    damage_line(t->out, k->unfit, "runstate changes that do not follow from what was before");
    damage_line(t->out, k->impossible, "records of impossible domains, vCPUs or states");
    damage_line(t->out, k->refused, "records of vCPUs beyond the 16384th");
    if (d->input_trouble)
        fprintf(t->out, "  input: %s\n", d->input_trouble);
    for (unsigned i = 0; i < d->places; i++)
        fprintf(t->out, "  at byte %" PRIu64 ": %s, %" PRIu64 " bytes\n", d->place[i].offset,
                d->place[i].why, d->place[i].bytes);
}

static void print_head(const struct table *t)
{
    const struct xentrace_summary *s = t->s;
    uint64_t lost = 0, gaps = 0, told = xentrace_summary_hz(s);
    const char *separator = "";
    unsigned pcpus = 0;

    for (unsigned i = 0; i < XENTRACE_PCPUS; i++)
        if (s->track->pcpu[i]) {
            pcpus++;
            lost += s->track->pcpu[i]->lost_records;
            gaps += s->track->pcpu[i]->gaps;
        }
    fprintf(t->out, "%s: %.3f s, %u pCPUs, %" PRIu64 " records, %" PRIu64 " bytes, scheduler ",
            t->r->file, seconds(t, xt_track_cycles(s->track)), pcpus, t->r->volume->records,
            t->r->volume->bytes);
    for (unsigned i = 0; i < 8; i++)
        if (s->schedulers >> i & 1) {
            fprintf(t->out, "%s%s", separator, scheduler_name[i] ? scheduler_name[i] : "unknown");
            separator = ", ";
        }
    if (!s->schedulers)
        fputs("not told", t->out);
    fprintf(t->out, "\nTSC taken at %" PRIu64 " Hz (%s)\n", t->r->hz,
            t->r->hz_given ? "as given"
                           : "xenalyze's default; give the machine's by --cpu-hz 3.1G");
    if (hz_doubtful(s, t->r->hz))
        fprintf(t->out,
                "  but run times that the trace gives in ns say %.1f MHz: try --cpu-hz %" PRIu64
                "\n",
                (double)told / 1e6, told);
    if (gaps)
        fprintf(t->out, "%" PRIu64 " records lost in %" PRIu64 " gaps\n", lost, gaps);
}

#define STAT(member) offsetof(struct xt_vcpu_summary, member)

void xentrace_summary_text(const struct xentrace_summary *s, const struct xentrace_report *r,
                           FILE *out)
{
    struct table t = {.s = s, .r = r, .out = out};

    t.vcpu = sorted_vcpus(s, &t.vcpus);
    print_head(&t);
    print_pcpus(&t);
    print_domains(&t);
    print_shares(&t);
    print_section(&t, "runs", STAT(run));
    print_section(&t, "wake waits", STAT(wait[XT_WAIT_WAKE]));
    print_section(&t, "preempt waits", STAT(wait[XT_WAIT_PREEMPT]));
    print_section(&t, "other waits", STAT(wait[XT_WAIT_OTHER]));
    print_section(&t, "blocked", STAT(state[XT_BLOCKED]));
    print_section(&t, "offline", STAT(state[XT_OFFLINE]));
    print_section(&t, "lost in gaps", STAT(state[XT_LOST]));
    print_runstates(&t);
    print_events(&t);
    if (s->coarse)
        fprintf(out, "\nPercentiles of later vCPUs are %s: more vCPUs than there is room for.\n",
                s->no_room ? "missing" : "within 3 %");
    print_damage(&t);
    free(t.vcpu);
}

/* ---- JSON --------------------------------------------------------------------------------------
 */

static void put_u64(struct json_writer *w, const char *key, uint64_t value)
{
    json_put_integer(w, key, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

static void put_sum(struct json_writer *w, const char *key, const struct xt_sum *sum, uint64_t hz)
{
    json_begin_inline(w, key, '{');
    put_u64(w, "count", sum->count);
    put_u64(w, "cycles", sum->cycles);
    put_u64(w, "ns", xentrace_ns(sum->cycles, hz));
    json_end(w);
}

static void put_stat(struct json_writer *w, const char *key, const struct xt_stat *st, uint64_t hz)
{
    json_begin_inline(w, key, '{');
    put_u64(w, "count", st->count);
    put_u64(w, "cycles", st->cycles);
    put_u64(w, "ns", xentrace_ns(st->cycles, hz));
    if (st->count) {
        put_u64(w, "mean_cycles", st->cycles / st->count);
        put_u64(w, "mean_ns", xentrace_ns(st->cycles / st->count, hz));
        put_u64(w, "min_ns", xentrace_ns(st->min, hz));
        for (unsigned i = 0; i < QUANTILES; i++) {
            bool known;
            uint64_t cycles = xt_stat_quantile(st, quantile[i], &known);

            if (known)
                put_u64(w, quantile_key[i], xentrace_ns(cycles, hz));
        }
        put_u64(w, "max_ns", xentrace_ns(st->max, hz));
    }
    json_end(w);
}

static void put_vcpu(struct json_writer *w, const struct table *t, const struct xt_vcpu *v)
{
    const struct xt_vcpu_summary *vs = xentrace_summary_vcpu(v);
    uint64_t total = xt_track_cycles(t->s->track), hz = t->r->hz;

    json_begin(w, NULL, '{');
    put_u64(w, "vcpu", v->number);
    json_put_number(w, "share", total ? (double)running(vs) / (double)total : 0);
    put_u64(w, "running_ns", xentrace_ns(running(vs), hz));
    put_u64(w, "migrations", v->migrations);
    put_sum(w, "residences", &v->residences, hz);
    json_begin_inline(w, "events", '{');
    for (unsigned k = 1; k < XT_TALLY_COUNT; k++)
        if (vs->tally[k])
            put_u64(w, xt_tally_name[k], vs->tally[k]);
    json_end(w);
    json_begin_inline(w, "on_pcpus", '[');
    for (unsigned k = 0; k < vs->on_count; k++) {
        json_begin_inline(w, NULL, '{');
        put_u64(w, "pcpu", vs->on[k].pcpu);
        put_u64(w, "ns", xentrace_ns(vs->on[k].cycles, hz));
        json_end(w);
    }
    json_end(w);
    put_stat(w, "runs", &vs->run, hz);
    json_begin_inline(w, "runs_ended_by", '{');
    put_u64(w, "preemption", vs->run_ends[XT_RUNNABLE]);
    put_u64(w, "block", vs->run_ends[XT_BLOCKED]);
    put_u64(w, "offline", vs->run_ends[XT_OFFLINE]);
    json_end(w);
    json_begin(w, "waits", '{');
    for (unsigned k = 0; k < XT_WAITS; k++)
        put_stat(w, wait_name[k], &vs->wait[k], hz);
    json_end(w);
    json_begin(w, "runstates", '{');
    for (unsigned k = 0; k < XT_STATES; k++)
        put_stat(w, state_name[k], &vs->state[k], hz);
    json_end(w);
    json_end(w);
}

static void put_domains(struct json_writer *w, const struct table *t)
{
    uint64_t total = xt_track_cycles(t->s->track);

    json_begin(w, "domains", '[');
    for (uint32_t i = 0, next; i < t->vcpus; i = next) {
        unsigned domain = t->vcpu[i]->domain;
        uint64_t cycles = 0;

        for (next = i; next < t->vcpus && t->vcpu[next]->domain == domain; next++)
            cycles += running(xentrace_summary_vcpu(t->vcpu[next]));
        json_begin(w, NULL, '{');
        put_u64(w, "domain", domain);
        json_put_boolean(w, "idle", domain == XT_IDLE_DOMAIN);
        json_put_number(w, "share", total ? (double)cycles / (double)total : 0);
        put_u64(w, "running_ns", xentrace_ns(cycles, t->r->hz));
        json_begin(w, "vcpus", '[');
        for (uint32_t k = i; k < next; k++)
            put_vcpu(w, t, t->vcpu[k]);
        json_end(w);
        json_end(w);
    }
    json_end(w);
}

static void put_pcpus(struct json_writer *w, const struct table *t)
{
    json_begin(w, "pcpus", '[');
    for (unsigned i = 0; i < XENTRACE_PCPUS; i++) {
        const struct xt_pcpu_summary *ps = t->s->pcpu[i];
        const struct xt_pcpu *p = t->s->track->pcpu[i];

        if (!ps || !p)
            continue;
        json_begin(w, NULL, '{');
        put_u64(w, "pcpu", i);
        put_u64(w, "records", ps->records);
        json_begin_inline(w, "bytes", '{');
        for (unsigned c = 0; c < XT_CLASS_COUNT; c++)
            if (ps->bytes[c])
                put_u64(w, xt_class_name[c] ? xt_class_name[c] : "other", ps->bytes[c]);
        json_end(w);
        put_u64(w, "switches", p->switches);
        put_sum(w, "busy", &p->busy, t->r->hz);
        put_sum(w, "idle", &p->idle, t->r->hz);
        put_sum(w, "lost", &p->lost, t->r->hz);
        put_u64(w, "gaps", p->gaps);
        put_u64(w, "lost_records", p->lost_records);
        json_end(w);
    }
    json_end(w);
}

static void put_events(struct json_writer *w, const struct xentrace_summary *s)
{
    json_begin(w, "events", '[');
    for (unsigned g = 0; g < XT_GROUPS; g++)
        for (uint32_t i = 0; s->event[g] && i < XT_GROUP_EVENTS; i++) {
            const struct xt_event_count *n = &s->event[g][i];
            uint32_t event = xt_group_event(g, i);
            const struct xt_event_info *info = xt_event_find(event, 0);
            char number[16];

            if (!n->count)
                continue;
            json_begin_inline(w, NULL, '{');
            snprintf(number, sizeof number, "0x%08" PRIx32, event);
            json_put_string(w, "event", number);
            json_put_string(w, "name", info ? info->name : NULL);
            put_u64(w, "count", n->count);
            if (info && n->odd)
                put_u64(w, "unknown_length", n->odd);
            json_end(w);
        }
    json_end(w);
}

static void put_damage(struct json_writer *w, const struct table *t)
{
    const struct xentrace_damage *d = t->r->damage;
    const struct xt_track *k = t->s->track;

    json_begin(w, "damage", '{');
    put_u64(w, "skipped_bytes", d->skipped_bytes);
    put_u64(w, "skipped_pieces", d->skipped_pieces);
    put_u64(w, "wrong_windows", d->wrong_windows);
    put_u64(w, "absurd_windows", d->absurd_windows);
    put_u64(w, "malformed_records", d->malformed);
    put_u64(w, "wild_time_stamps", d->wild_tsc);
    put_u64(w, "time_restarts", d->restarts);
    put_u64(w, "truncated_bytes", d->truncated_bytes);
    put_u64(w, "spill_errors", d->spill_errors);
    put_u64(w, "unknown_events", unknown_events(t->s));
    put_u64(w, "unfit_runstates", k->unfit);
    put_u64(w, "impossible_records", k->impossible);
    put_u64(w, "refused_records", k->refused);
    json_put_string(w, "input", d->input_trouble);
    json_begin(w, "places", '[');
    for (unsigned i = 0; i < d->places; i++) {
        json_begin_inline(w, NULL, '{');
        put_u64(w, "offset", d->place[i].offset);
        put_u64(w, "bytes", d->place[i].bytes);
        json_put_string(w, "why", d->place[i].why);
        json_end(w);
    }
    json_end(w);
    json_end(w);
}

void xentrace_summary_json(const struct xentrace_summary *s, const struct xentrace_report *r,
                           FILE *out)
{
    struct table t = {.s = s, .r = r, .out = out};
    struct json_writer w = json_writer(out, JSON_LINES);
    uint64_t told = xentrace_summary_hz(s);

    t.vcpu = sorted_vcpus(s, &t.vcpus);
    json_begin(&w, NULL, '{');
    json_put_string(&w, "file", r->file);
    put_u64(&w, "cpu_hz", r->hz);
    json_put_string(&w, "cpu_hz_from", r->hz_given ? "given" : "default");
    if (told)
        put_u64(&w, "cpu_hz_by_trace", told);
    else
        json_put_null(&w, "cpu_hz_by_trace");
    put_u64(&w, "cycles", xt_track_cycles(s->track));
    put_u64(&w, "ns", xentrace_ns(xt_track_cycles(s->track), r->hz));
    put_u64(&w, "records", r->volume->records);
    put_u64(&w, "bytes", r->volume->bytes);
    put_u64(&w, "windows", r->volume->windows);
    json_begin_inline(&w, "schedulers", '[');
    for (unsigned i = 0; i < 8; i++)
        if (s->schedulers >> i & 1)
            json_put_string(&w, NULL, scheduler_name[i] ? scheduler_name[i] : "unknown");
    json_end(&w);
    json_put_string(&w, "percentiles",
                    s->no_room  ? "missing for some"
                    : s->coarse ? "within 3 %"
                                : "within 0.8 %");
    put_pcpus(&w, &t);
    put_domains(&w, &t);
    put_events(&w, s);
    put_damage(&w, &t);
    json_end(&w);
    free(t.vcpu);
}
