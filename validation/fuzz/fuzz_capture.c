/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any text as the description of a captured run: errors or a capture, never both or neither. One
 * that is taken has figures with names; of a run of replicas a scenario is made, which is read or
 * refused like any other.
 */
#include "experiments/scenario/scenario.h"
#include "experiments/validate/capture_figures.h"
#include "experiments/validate/capture_world.h"
#include "experiments/validate/replication_capture.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char machine_text[] = "{\"guest\": {\"network\": {}}}";

static void try_scenario(const struct capture *c, const struct json *machine)
{
    struct errors e = ERRORS_NONE;
    struct json *doc = replication_scenario(c, machine, &e);
    struct scenario *s = doc ? scenario_read(doc, ".", &e) : NULL;

    BUG_ON(!s != (e.count > 0));
    scenario_free(s);
    json_free(doc);
    errors_free(&e);
}

static void try_capture(const struct capture *c, const struct json *machine, struct errors *e)
{
    size_t figures = capture_figure_count(c);

    BUG_ON(!figures);
    for (size_t i = 0; i < figures; i++)
        BUG_ON(!*capture_figure_name(c, i).name);
    if (!capture_check(c, e) && c->client.loop == CLIENT_ROUNDS && capture_replicas(c))
        try_scenario(c, machine);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct errors e = ERRORS_NONE;
    struct json *machine = json_parse("machine", machine_text, strlen(machine_text), &e);
    struct json *doc = json_parse("fuzz", (const char *)data, size, &e);
    struct capture *c = doc ? capture_read_doc(doc, "fuzz.json", &e) : NULL;

    BUG_ON(!c != (e.count > 0));
    if (c)
        try_capture(c, machine, &e);
    capture_free(c);
    json_free(doc);
    json_free(machine);
    errors_free(&e);
    return 0;
}
