/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/results/results.h"

#include "experiments/results/breakdown_report.h"
#include "experiments/results/control_report.h"
#include "experiments/results/distributions.h"

#include "sim/output.h"
#include "sim/random.h"
#include "sim/simgrid.h"
#include "sim/stats.h"
#include "sim/version.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- JSON ------------------------------------------------------------------------------------ */

void results_put_versions(struct json_writer *w)
{
    json_begin(w, "hvsim", '{');
    json_put_integer(w, "results", 1);
    json_put_string(w, "version", hvsim_version);
    json_put_string(w, "simgrid", platform_version());
    json_end(w);
}

/* A digest of the platform's text: which file it was, wherever it stood. */
static void put_digest(const struct scenario *s, struct json_writer *w)
{
    FILE *in = fopen(s->platform_file, "rb");
    uint64_t digest = 0;
    char block[4096], text[17];
    size_t n;

    while (in && (n = fread(block, 1, sizeof block, in)) > 0)
        digest = hash_bytes(digest, n, block, n);
    if (in)
        fclose(in);
    snprintf(text, sizeof text, "%016llx", (unsigned long long)digest);
    json_put_string(w, "platform_digest", text);
}

void results_put_interval(struct json_writer *w, const struct interval *i)
{
    json_put_number(w, "value", i->estimate);
    if (interval_given(i)) {
        json_put_number(w, "low", i->low);
        json_put_number(w, "high", i->high);
    } else {
        json_put_string(w, "no_interval", interval_reason(i->none));
    }
}

static void put_metric(const struct variant *v, const struct subject *s, const struct metric *m,
                       struct json_writer *w)
{
    struct interval i = tally_interval(&v->tally, s, m);
    sim_time needed = tally_duration_needed(&v->tally, s, m, &i, v->scenario->duration);

    json_begin_inline(w, NULL, '{');
    json_put_string(w, "metric", m->name);
    json_put_string(w, "unit", m->unit);
    results_put_interval(w, &i);
    if (needed)
        json_put_quantity(w, "duration_needed", QUANTITY_DURATION, needed);
    json_end(w);
}

static void put_counts(const struct client_counts *c, struct json_writer *w)
{
    json_begin_inline(w, "requests", '{');
    json_put_integer(w, "sent", (int64_t)c->recorded_sent);
    json_put_integer(w, "answered", (int64_t)c->recorded);
    json_put_integer(w, "failed", (int64_t)c->recorded_failed);
    json_put_integer(w, "refused", (int64_t)c->refused);
    json_put_integer(w, "sent_again", (int64_t)c->retransmitted);
    json_end(w);
}

static void put_subject(const struct variant *v, size_t index, struct json_writer *w)
{
    const struct subject *s = &v->layout->subject[index];

    json_begin(w, NULL, '{');
    json_put_string(w, "kind", subject_kind_names[s->kind]);
    json_put_string(w, "name", s->name);
    json_put_integer(w, "members", (int64_t)s->members);
    json_begin(w, "metrics", '[');
    for (size_t i = 0; i < metric_count; i++)
        if (layout_cell(s, &metrics[i]) != SIZE_MAX)
            put_metric(v, s, &metrics[i], w);
    json_end(w);
    if (s->kind == SUBJECT_CLIENT && v->tally.client[index].breakdown.cell) {
        put_counts(&v->tally.client[index].counts, w);
        breakdown_put(&v->tally.client[index].breakdown, w);
    }
    json_end(w);
}

void results_put_variant(const struct study *s, const struct variant *v, struct json_writer *w)
{
    (void)s;
    json_put_integer(w, "seed", v->scenario->seed);
    json_put_integer(w, "replications", (int64_t)v->tally.count);
    json_put_quantity(w, "confidence", QUANTITY_PERCENT, v->scenario->confidence);
    put_digest(v->scenario, w);
    config_write(&scenario_format, v->scenario, w, "scenario");
    params_write_status(scenario_format.table, v->scenario, &v->scenario->calibrated, w,
                        "rests_on");
    json_begin(w, "subjects", '[');
    for (size_t i = 0; i < v->layout->subjects; i++)
        put_subject(v, i, w);
    json_end(w);
    control_json(v, w);
}

void results_put_completeness(const struct study *s, struct json_writer *w)
{
    json_put_boolean(w, "partial", study_partial(s));
    if (!s->losses)
        return;
    json_begin(w, "lost", '[');
    for (size_t i = 0; i < s->losses; i++) {
        const struct lost_run *l = &s->lost[i];

        json_begin_inline(w, NULL, '{');
        if (s->variants > 1)
            json_put_string(w, "variant", s->variant[l->variant].label);
        json_put_integer(w, "replication", (int64_t)l->replication);
        json_put_string(w, "reason", l->reason);
        json_end(w);
    }
    json_end(w);
}

void results_json(const struct study *s, FILE *out)
{
    struct json_writer w = json_writer(out, JSON_LINES);

    json_begin(&w, NULL, '{');
    results_put_versions(&w);
    results_put_completeness(s, &w);
    results_put_variant(s, &s->variant[0], &w);
    json_end(&w);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

const char *unit_in_header(const char *unit)
{
    static const struct {
        const char *unit, *header;
    } names[] = {{"%", "percent"}, {"1/s", "per_s"}, {"", "1"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i].unit, unit))
            return names[i].header;
    return unit;
}

void results_put_cell(double x, FILE *out)
{
    char text[NUMBER_TEXT];

    fprintf(out, ",%s", isnan(x) ? "" : number_format(x, text));
}

struct csv {
    const struct study *study;
    enum subject_kind kind;
    bool variants; /* a first column with the variant */
};

static size_t subjects_of(const struct study *s, enum subject_kind kind)
{
    size_t n = 0;

    for (size_t v = 0; v < s->variants; v++)
        for (size_t i = 0; i < s->variant[v].layout->subjects; i++)
            n += s->variant[v].layout->subject[i].kind == kind;
    return n;
}

/* A field in quotes if it needs them. */
void results_put_text(const char *text, FILE *out)
{
    if (!strpbrk(text, ",\"\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void write_subjects(const void *ctx, FILE *out)
{
    const struct csv *c = ctx;

    fprintf(out, "%s%s", c->variants ? "variant," : "", subject_kind_names[c->kind]);
    for (size_t i = 0; i < metric_count; i++)
        if (metrics[i].subjects >> c->kind & 1)
            fprintf(out, ",%s_%s,%s_low_%s,%s_high_%s", metrics[i].name,
                    unit_in_header(metrics[i].unit), metrics[i].name,
                    unit_in_header(metrics[i].unit), metrics[i].name,
                    unit_in_header(metrics[i].unit));
    fputc('\n', out);
    for (size_t v = 0; v < c->study->variants; v++)
        for (size_t k = 0; k < c->study->variant[v].layout->subjects; k++) {
            const struct variant *variant = &c->study->variant[v];
            const struct subject *s = &variant->layout->subject[k];

            if (s->kind != c->kind)
                continue;
            if (c->variants) {
                results_put_text(variant->label, out);
                fputc(',', out);
            }
            results_put_text(s->name, out);
            for (size_t i = 0; i < metric_count; i++)
                if (layout_cell(s, &metrics[i]) != SIZE_MAX) {
                    struct interval x = tally_interval(&variant->tally, s, &metrics[i]);

                    results_put_cell(x.estimate, out);
                    results_put_cell(x.low, out);
                    results_put_cell(x.high, out);
                }
            fputc('\n', out);
        }
}

/* Every replication by itself, for statistics of one's own. */
static void write_replications(const void *ctx, FILE *out)
{
    const struct csv *c = ctx;

    fprintf(out, "%sreplication,kind,subject,metric,unit,value,observations\n",
            c->variants ? "variant," : "");
    for (size_t v = 0; v < c->study->variants; v++) {
        const struct variant *variant = &c->study->variant[v];

        for (size_t r = 0; r < variant->tally.count; r++)
            for (size_t k = 0; k < variant->layout->subjects; k++)
                for (size_t i = 0; i < metric_count; i++) {
                    const struct subject *s = &variant->layout->subject[k];
                    size_t cell = layout_cell(s, &metrics[i]);
                    const struct sample *x;

                    if (cell == SIZE_MAX || s->kind == SUBJECT_DOMAIN)
                        continue;
                    x = &tally_samples(&variant->tally, cell)[r];
                    if (c->variants) {
                        results_put_text(variant->label, out);
                        fputc(',', out);
                    }
                    fprintf(out, "%u,%s,%s,%s,%s", variant->replication[r],
                            subject_kind_names[s->kind], s->name, metrics[i].name, metrics[i].unit);
                    results_put_cell(x->value, out);
                    fprintf(out, ",%llu\n", (unsigned long long)x->n);
                }
    }
}

static void write_breakdowns(const void *ctx, FILE *out)
{
    const struct csv *c = ctx;

    breakdown_csv(c->study, c->variants, out);
}

/* ---- files ----------------------------------------------------------------------------------- */

int results_file(const char *dir, const char *name, results_fn *write, const void *ctx,
                 struct errors *e)
{
    char *path = output_path(dir, name);
    struct output *o = output_open(path, e);

    free(path);
    if (!o)
        return -1;
    write(ctx, output_stream(o));
    return output_commit(o, e);
}

void results_write_tables(const struct study *s, const char *dir, struct errors *e)
{
    static const struct {
        const char *name;
        enum subject_kind kind;
        results_fn *write;
    } tables[] = {
        {"clients.csv", SUBJECT_CLIENT, write_subjects},
        {"breakdown.csv", SUBJECT_CLIENT, write_breakdowns},
        {"hosts.csv", SUBJECT_HOST, write_subjects},
        {"groups.csv", SUBJECT_GROUP, write_subjects},
        {"domains.csv", SUBJECT_DOMAIN, write_subjects},
        {"loops.csv", SUBJECT_LOOP, write_subjects},
        {"replicas.csv", SUBJECT_REPLICA, write_subjects},
        {"replications.csv", SUBJECT_HOST, write_replications},
    };

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct csv c = {s, tables[i].kind, s->variants > 1 || *s->variant[0].label};

        if (subjects_of(s, tables[i].kind))
            results_file(dir, tables[i].name, tables[i].write, &c, e);
    }
    results_file(dir, "distributions.csv", distributions_csv, s, e);
    control_csv(s, dir, e);
}

static void write_hgrm(const void *ctx, FILE *out)
{
    histogram_write_hgrm(ctx, out, 5, 1e6);
}

/* latency.hgrm and intended.hgrm, in ms; with several clients a pair for each. */
static void write_histograms(const struct variant *v, const char *dir, struct errors *e)
{
    for (size_t i = 0; i < v->layout->clients; i++) {
        const struct subject *s = &v->layout->subject[i];
        const struct pooled *sent = tally_pool(&v->tally, s, OF_LATENCY);
        const struct pooled *meant = tally_pool(&v->tally, s, OF_INTENDED);
        const char *client = v->layout->clients > 1 ? v->layout->subject[i].name : "";
        char *latency = xasprintf("latency%s%s.hgrm", *client ? "-" : "", client);
        char *intended = xasprintf("intended%s%s.hgrm", *client ? "-" : "", client);

        if (sent)
            results_file(dir, latency, write_hgrm, &sent->all, e);
        if (meant)
            results_file(dir, intended, write_hgrm, &meant->all, e);
        free(latency);
        free(intended);
    }
}

static void write_scenario(const void *ctx, FILE *out)
{
    struct json_writer w = json_writer(out, JSON_LINES);

    config_write(&scenario_format, ctx, &w, NULL);
}

static void write_results(const void *ctx, FILE *out)
{
    results_json(ctx, out);
}

int results_write(const struct study *s, const char *dir, struct errors *e)
{
    size_t before = e->count;

    if (output_directory(dir, e))
        return -1;
    results_write_tables(s, dir, e);
    write_histograms(&s->variant[0], dir, e);
    control_files(&s->variant[0], dir, s->quiet, e);
    breakdown_plot(s, dir, s->quiet, e);
    results_file(dir, "scenario.json", write_scenario, s->variant[0].scenario, e);
    if (e->count == before)
        results_file(dir, "results.json", write_results, s, e);
    return e->count > before ? -1 : 0;
}
