/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/validate/testbed_journal.h"

#include "sim/json_writer.h"
#include "sim/line_file.h"
#include "sim/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char title[] = "{\"kind\": \"simulations of the testbed\"}";
static const char throughput_name[] = "throughput of the measured client";

enum { KEY = 2 * sizeof(uint64_t) };

struct journal_line {
    char scenario[KEY + 1];
    int64_t simulation;
    struct json *doc;
};

struct testbed_journal {
    const char *path;
    struct line_file *file;
    struct journal_line *line;
    size_t lines;
};

/* What tells one experiment's scenario from all others, however often it is simulated. */
static void key_of(const struct testbed_cell *c, const double *x, char key[KEY + 1])
{
    struct testbed_run run = c->run;
    char *text;

    run.replications = 1;
    run.calibrated = false;
    text = testbed_scenario(x, &run);
    snprintf(key, KEY + 1, "%016" PRIx64, hash_bytes(0, 0, text, strlen(text)));
    free(text);
}

/* ---- reading --------------------------------------------------------------------------------- */

static int damaged(const struct testbed_journal *j, struct errors *e, const char *why)
{
    return error_add(e, EXIT_INPUT,
                     "%s:%zu: the line is damaged: %s; remove it, and it is simulated again",
                     j->path, j->lines + 2, why);
}

/* null is NAN: nothing to observe. -1: no number. */
static int number_of(struct json_value v, double *value)
{
    *value = NAN;
    return json_kind(v) == JSON_NULL ? 0 : json_double(v, value);
}

/* What is wrong with a line; NULL: nothing. */
static const char *read_line(struct journal_line *l)
{
    struct json_value root = json_root(l->doc), values = json_member(root, "values");
    const char *scenario = json_string(json_member(root, "scenario"));
    double value;

    if (!scenario || strlen(scenario) != KEY || strspn(scenario, "0123456789abcdef") != KEY)
        return "/scenario: expected 16 hexadecimal digits";
    if (json_integer(json_member(root, "simulation"), &l->simulation) || l->simulation < 0)
        return "/simulation: expected a whole number from 0";
    if (json_kind(values) != JSON_OBJECT)
        return "/values: expected an object";
    JSON_FOR_EACH(v, values)
    {
        if (number_of(v, &value))
            return "/values: expected a number or null for each";
    }
    strcpy(l->scenario, scenario);
    return NULL;
}

static int take_line(void *ctx, const char *line, size_t length, struct errors *e)
{
    struct testbed_journal *j = ctx;
    struct errors in_line = ERRORS_NONE;
    struct journal_line l = {0};
    const char *why = "it is no JSON";

    l.doc = json_parse(j->path, line, length, &in_line);
    errors_free(&in_line);
    if (l.doc)
        why = read_line(&l);
    if (why) {
        json_free(l.doc);
        return damaged(j, e, why);
    }
    j->line = xrealloc(j->line, (j->lines + 1) * sizeof *j->line);
    j->line[j->lines++] = l;
    return 0;
}

static int discard(struct testbed_journal *j, struct errors *e)
{
    int status = j->file ? line_file_close(j->file, e) : 0;

    for (size_t i = 0; i < j->lines; i++)
        json_free(j->line[i].doc);
    free(j->line);
    free(j);
    return status;
}

struct testbed_journal *testbed_journal_open(const char *path, struct errors *e)
{
    struct testbed_journal *j = xcalloc(1, sizeof *j);

    j->path = path;
    j->file = line_file_open_titled(path, title, "is no journal of `hvsim validate testbed`",
                                    take_line, j, e);
    if (j->file)
        return j;
    discard(j, e);
    return NULL;
}

int testbed_journal_close(struct testbed_journal *j, struct errors *e)
{
    return j ? discard(j, e) : 0;
}

/* ---- filling a cell -------------------------------------------------------------------------- */

static bool fill(struct testbed_cell *c, size_t simulation, const struct json *doc)
{
    struct json_value values = json_member(json_root(doc), "values");
    double value;

    for (size_t i = 0; i < c->points; i++)
        if (c->point[i].of != THROUGHPUT_RATIO &&
            number_of(json_member(values, c->point[i].name), &value))
            return false;
    if (number_of(json_member(values, throughput_name), &c->throughput[simulation]))
        return false;
    for (size_t i = 0; i < c->points; i++)
        if (c->point[i].of != THROUGHPUT_RATIO)
            number_of(json_member(values, c->point[i].name), &c->point[i].value[simulation]);
    return true;
}

size_t testbed_journal_fill(const struct testbed_journal *j, struct testbed_cell *c,
                            const double *x)
{
    size_t known = 0, before;
    char key[KEY + 1];

    key_of(c, x, key);
    do {
        before = known;
        for (size_t i = 0; i < j->lines && known < (size_t)c->run.replications; i++)
            if (j->line[i].simulation == (int64_t)known && !strcmp(j->line[i].scenario, key) &&
                fill(c, known, j->line[i].doc))
                known++;
    } while (known > before);
    return known;
}

/* ---- writing --------------------------------------------------------------------------------- */

int testbed_journal_add(struct testbed_journal *j, const struct testbed_cell *c, const double *x,
                        size_t simulation, struct errors *e)
{
    char *text, key[KEY + 1];
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct json_writer w = json_writer(out, JSON_COMPACT);
    int status;

    key_of(c, x, key);
    json_begin(&w, NULL, '{');
    json_put_string(&w, "experiment", c->label);
    json_put_string(&w, "scenario", key);
    json_put_integer(&w, "simulation", (int64_t)simulation);
    json_begin(&w, "values", '{');
    for (size_t i = 0; i < c->points; i++)
        if (c->point[i].of != THROUGHPUT_RATIO)
            json_put_number(&w, c->point[i].name, c->point[i].value[simulation]);
    json_put_number(&w, throughput_name, c->throughput[simulation]);
    json_end(&w);
    json_end(&w);
    fclose(out);
    status = line_file_append(j->file, text, strlen(text), e);
    if (!status && line_file_tick(j->file, e) == -2)
        status = -1;
    free(text);
    return status;
}
