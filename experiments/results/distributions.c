/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/results/distributions.h"

#include "experiments/results/results.h"

#include <stdlib.h>

/* Shares of observations above a value, for which values are given: 20 to a decade, evenly on a
 * logarithmic scale but for the round ones. */
static const double shares[] = {1,     0.891, 0.794, 0.708, 0.631, 0.562, 0.5,
                                0.447, 0.398, 0.355, 0.316, 0.282, 0.25,  0.224,
                                0.2,   0.178, 0.158, 0.141, 0.126, 0.112};
enum { SHARES = sizeof shares / sizeof *shares };

static const struct {
    enum distribution_kind of;
    const char *name;
} kinds[] = {{OF_LATENCY, "latency"},   {OF_INTENDED, "intended"}, {OF_WAKING, "wake_to_run"},
             {OF_DISK, "disk_latency"}, {OF_SERVICE, "service"},   {OF_GAP, "gap"},
             {OF_DELAY, "delay"}};

struct row {
    const struct study *study;
    const struct variant *variant;
    const struct subject *subject;
    const char *distribution;
    FILE *out;
};

static void put(const struct row *r, double share, sim_time value)
{
    char a[NUMBER_TEXT], b[NUMBER_TEXT];

    if (r->study->variants > 1) {
        results_put_text(r->variant->label, r->out);
        fputc(',', r->out);
    }
    fprintf(r->out, "%s,", subject_kind_names[r->subject->kind]);
    results_put_text(r->subject->name, r->out);
    fprintf(r->out, ",%s,%s,%s\n", r->distribution, number_format(share, a),
            number_format((double)value / 1e6, b));
}

/* As far as there is an observation above; the last row is the largest. */
static void put_distribution(const struct row *r, const struct histogram *h)
{
    double decade = 1;

    for (int i = 0; (double)h->count * (shares[i % SHARES] / decade) >= 1;) {
        double share = shares[i % SHARES] / decade;

        put(r, share, histogram_quantile(h, 1 - share));
        if (++i % SHARES == 0)
            decade *= 10;
    }
    put(r, 0, h->max);
}

void distributions_csv(const void *ctx, FILE *out)
{
    const struct study *s = ctx;

    fprintf(out, "%skind,subject,distribution,share_above_1,value_ms\n",
            s->variants > 1 ? "variant," : "");
    for (size_t v = 0; v < s->variants; v++)
        for (size_t i = 0; i < s->variant[v].layout->subjects; i++)
            for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
                const struct variant *variant = &s->variant[v];
                const struct subject *subject = &variant->layout->subject[i];
                const struct pooled *p = tally_pool(&variant->tally, subject, kinds[k].of);
                struct row row = {s, variant, subject, kinds[k].name, out};

                if (p && p->all.count)
                    put_distribution(&row, &p->all);
            }
}
