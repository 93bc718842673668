/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What sweeps read from others: conditions between axes, variables and bounds of a command line,
 * and the text of stored replications. Whatever is accepted can be used; a stored text that is
 * accepted is written the same way again.
 */
#include "experiments/search/over.h"
#include "experiments/sweep/figures.h"
#include "experiments/sweep/kept.h"
#include "experiments/sweep/sweep_design.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char sweep_text[] =
    "{\"version\": 1, \"scenario\": \"s\", \"axes\": ["
    "{\"name\": \"slice\", \"at\": \"/x\", \"values\": [\"1ms\", \"5ms\"]},"
    "{\"name\": \"load\", \"at\": \"/x\", \"values\": [\"100/s\", \"2k/s\"]},"
    "{\"name\": \"n-1\", \"at\": \"/x\", \"values\": [1, 2.5]},"
    "{\"name\": \"sched\", \"at\": \"/x\", \"values\": [\"credit\", \"credit2\"]}]}";
static const char scenario_text[] = "{\"version\": 1}";

static struct json *scenario, *sweep;
static struct design design;
static struct figures figures;

static void set_up(void)
{
    static struct sweep_spec spec;
    struct errors e = ERRORS_NONE;

    sweep = json_parse("sweep", sweep_text, strlen(sweep_text), &e);

    scenario = json_parse("scenario", scenario_text, strlen(scenario_text), &e);
    BUG_ON(config_read(&sweep_format, sweep, &spec, &e) ||
           design_init(&design, &spec, sweep, scenario, &e));
    figures = (struct figures){.count = 2, .pools = 1};
    figures.item = xcalloc(2, sizeof *figures.item);
    figures.item[0] = (struct figure){
        .subject = xstrdup("c"), .metric = metric_by_name("throughput"), .pool = FIGURE_PLAIN};
    figures.item[1] =
        (struct figure){.subject = xstrdup("c"), .metric = metric_by_name("latency_p99")};
}

static void try_condition(const char *text)
{
    struct errors e = ERRORS_NONE;
    struct condition *c = condition_parse(&design, text, &e);

    BUG_ON(!c != (e.count > 0));
    for (size_t p = 0; c && p < design.points; p++) {
        const struct level *level[4];

        for (size_t a = 0; a < 4; a++)
            level[a] = design_level(&design, p, a);
        condition_holds(c, level);
    }
    condition_free(c);
    errors_free(&e);
}

static void try_over(const char *text)
{
    struct errors e = ERRORS_NONE;
    struct over o;

    if (!over_read(&o, text, "--over", scenario, &e)) {
        double x = o.choices ? 0 : o.variable.high;

        for (size_t i = 0; i < o.pointers; i++)
            free(over_assignment(&o, i, x));
        over_current(&o, scenario, &x);
    }
    over_free(&o);
    errors_free(&e);
}

static void try_bound(const char *text)
{
    struct errors e = ERRORS_NONE;
    struct bound b;

    bound_read(&b, text, "--subject-to", &e);
    bound_free(&b);
    errors_free(&e);
}

static char *written(const struct kept *k)
{
    size_t size;
    char *text;
    FILE *out = open_memstream(&text, &size);

    kept_write(k, &figures, out);
    fclose(out);
    return text;
}

static void try_kept(const char *text)
{
    struct kept k, again;
    char *once, *twice;

    if (kept_read(&k, &figures, text))
        return;
    once = written(&k);
    BUG_ON(kept_read(&again, &figures, once));
    twice = written(&again);
    BUG_ON(strcmp(once, twice));
    for (int q = -1; q < 100; q += 9)
        sparse_figure(&k.pool[0], NULL, q / 100.0);
    kept_free(&k, &figures);
    kept_free(&again, &figures);
    free(once);
    free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = xcalloc(size + 1, 1);

    if (!scenario)
        set_up();
    if (size)
        memcpy(text, data, size);
    if (size < 2000) {
        try_condition(text);
        try_over(text);
        try_bound(text);
    }
    try_kept(text);
    free(text);
    return 0;
}
