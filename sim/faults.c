/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/faults.h"

#include "sim/detmath.h"
#include "sim/random.h"
#include "sim/wire.h"

#include <stdlib.h>
#include <string.h>

/* ---- The platform's kinds ------------------------------------------------------------------- */

static const struct param outage_rows[] = {
    {PARAM("duration", DURATION, struct outage_arguments, duration), .min = "1ns",
     .meaning = "Time from the failure of the host to its being up again."},
};
static const struct param_table outage_table =
    PARAM_TABLE("host-outage", struct outage_arguments, outage_rows,
                .meaning = "A host fails, and is booted after a while.");

static const struct param speed_rows[] = {
    {PARAM("speed", PERCENT, struct speed_arguments, speed), .min = "0.1%", .max = "1000%",
     .meaning = "Speed of each core, relative to the speed in the platform file."},
};
static const struct param_table speed_table =
    PARAM_TABLE("host-speed", struct speed_arguments, speed_rows,
                .meaning = "The cores of a host change their speed.");

static const struct param latency_rows[] = {
    {PARAM("latency", DURATION, struct latency_arguments, latency), .min = "1ns",
     .meaning = "New latency of the link."},
};
static const struct param_table latency_table =
    PARAM_TABLE("link-latency", struct latency_arguments, latency_rows,
                .meaning = "A link changes its latency.");

static const struct param bandwidth_rows[] = {
    {PARAM("bandwidth", BITRATE, struct bandwidth_arguments, bandwidth), .min = "1kbps",
     .meaning = "New bandwidth of the link."},
};
static const struct param_table bandwidth_table =
    PARAM_TABLE("link-bandwidth", struct bandwidth_arguments, bandwidth_rows,
                .meaning = "A link changes its bandwidth.");

static int bind_host(struct action *a, struct errors *e)
{
    a->machine = fleet_find(a->timeline->fleet, a->target);
    if (a->machine)
        return 0;
    return error_add(e, EXIT_INPUT, "%s: no machine of this world is on a host \"%s\"",
                     a->kind->name, a->target);
}

static int bind_link(struct action *a, struct errors *e)
{
    if (wire_uses_link(a->timeline->fleet, a->target))
        return 0;
    return error_add(e, EXIT_INPUT,
                     "%s: no route between the machines of this world uses a link \"%s\"",
                     a->kind->name, a->target);
}

static void host_off(struct action *a)
{
    machine_fail(a->machine, a->when);
}

static void host_on(struct action *a)
{
    machine_reboot(a->machine, a->when);
}

static void host_speed(struct action *a)
{
    const struct speed_arguments *arguments = a->arguments;

    machine_set_speed(a->machine, a->machine->nominal_speed * percent_fraction(arguments->speed),
                      a->when);
}

static void link_off(struct action *a)
{
    wire_link_switch(a->timeline->fleet, a->target, true, a->when);
}

static void link_on(struct action *a)
{
    wire_link_switch(a->timeline->fleet, a->target, false, a->when);
}

static void link_latency(struct action *a)
{
    const struct latency_arguments *arguments = a->arguments;

    wire_link_latency(a->timeline->fleet, a->target, arguments->latency);
}

static void link_bandwidth(struct action *a)
{
    const struct bandwidth_arguments *arguments = a->arguments;

    wire_link_bandwidth(a->timeline->fleet, a->target, arguments->bandwidth);
}

static const struct action_kind kind_host_off = {
    .name = "host-off",
    .target = "host",
    .meaning = "A host fails: everything on it is gone.",
    .platform = true,
    .bind = bind_host,
    .act = host_off,
};
static const struct action_kind kind_host_on = {
    .name = "host-on",
    .target = "host",
    .meaning = "A host that is off boots.",
    .platform = true,
    .bind = bind_host,
    .act = host_on,
};
/* An outage's end, made of a host-outage by timeline_bind(); not for users. */
static const struct action_kind kind_outage_end = {
    .name = "host-outage",
    .target = "host",
    .meaning = "The end of an outage.",
    .platform = true,
    .bind = bind_host,
    .act = host_on,
};
static const struct action_kind kind_outage = {
    .name = "host-outage",
    .target = "host",
    .meaning = "A host fails, and boots after a while (when all its outages are over).",
    .parameters = &outage_table,
    .platform = true,
    .bind = bind_host,
    .act = host_off,
};
static const struct action_kind kind_host_speed = {
    .name = "host-speed",
    .target = "host",
    .meaning = "The cores of a host change their speed.",
    .parameters = &speed_table,
    .platform = true,
    .bind = bind_host,
    .act = host_speed,
};
static const struct action_kind kind_link_off = {
    .name = "link-off",
    .target = "link",
    .meaning = "A link is cut: what is on it is lost.",
    .platform = true,
    .bind = bind_link,
    .act = link_off,
};
static const struct action_kind kind_link_on = {
    .name = "link-on",
    .target = "link",
    .meaning = "A link that was cut works again.",
    .platform = true,
    .bind = bind_link,
    .act = link_on,
};
static const struct action_kind kind_link_latency = {
    .name = "link-latency",
    .target = "link",
    .meaning = "A link changes its latency.",
    .parameters = &latency_table,
    .platform = true,
    .bind = bind_link,
    .act = link_latency,
};
static const struct action_kind kind_link_bandwidth = {
    .name = "link-bandwidth",
    .target = "link",
    .meaning = "A link changes its bandwidth.",
    .parameters = &bandwidth_table,
    .platform = true,
    .bind = bind_link,
    .act = link_bandwidth,
};

const struct action_kind *const platform_actions[] = {
    &kind_host_off,     &kind_host_on,        &kind_outage,
    &kind_host_speed,   &kind_link_off,       &kind_link_on,
    &kind_link_latency, &kind_link_bandwidth, NULL};

enum platform_change action_change(const struct action *a)
{
    static const struct {
        const struct action_kind *kind;
        enum platform_change change;
    } row[] = {
        {&kind_host_off, CHANGE_HOST_OFF},         {&kind_outage, CHANGE_HOST_OFF},
        {&kind_host_on, CHANGE_HOST_ON},           {&kind_outage_end, CHANGE_HOST_ON},
        {&kind_link_latency, CHANGE_LINK_LATENCY}, {&kind_link_bandwidth, CHANGE_LINK_BANDWIDTH},
    };

    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (a->kind == row[i].kind)
            return row[i].change;
    return CHANGE_NONE;
}

/* ---- Making a timeline ---------------------------------------------------------------------- */

void timeline_init(struct timeline *t)
{
    *t = (struct timeline){0};
    timeline_register(t, platform_actions);
}

static void action_free(struct action *a)
{
    free(a->target);
    free(a->arguments);
    free(a);
}

void timeline_free(struct timeline *t)
{
    for (uint32_t i = 0; i < t->count; i++)
        action_free(t->action[i]);
    free(t->action);
    free(t->kinds);
    *t = (struct timeline){0};
}

void timeline_register(struct timeline *t, const struct action_kind *const *kinds)
{
    for (size_t i = 0; kinds[i]; i++)
        BUG_ON(timeline_kind(t, kinds[i]->name));
    t->kinds = xrealloc(t->kinds, (t->kinds_count + 1) * sizeof *t->kinds);
    t->kinds[t->kinds_count++] = kinds;
}

const struct action_kind *timeline_kind(const struct timeline *t, const char *name)
{
    for (size_t k = 0; k < t->kinds_count; k++)
        for (size_t i = 0; t->kinds[k][i]; i++)
            if (strcmp(t->kinds[k][i]->name, name) == 0)
                return t->kinds[k][i];
    return NULL;
}

static int unknown_kind(const struct timeline *t, const char *name, struct errors *e)
{
    const char **names = NULL, *nearest;
    size_t count = 0;

    for (size_t k = 0; k < t->kinds_count; k++)
        for (size_t i = 0; t->kinds[k][i]; i++) {
            names = xrealloc(names, (count + 1) * sizeof *names);
            names[count++] = t->kinds[k][i]->name;
        }
    nearest = nearest_name(name, names, count);
    error_add(e, EXIT_INPUT, "unknown action \"%s\"%s%s%s", name,
              nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
    free(names);
    return -1;
}

static struct action *new_action(struct timeline *t, sim_time when, const struct action_kind *kind,
                                 const char *target)
{
    struct action *a = xcalloc(1, sizeof *a);

    *a = (struct action){
        .when = when, .kind = kind, .target = xstrdup(target), .timeline = t, .number = t->count};
    if (t->count == t->capacity) {
        t->capacity = t->capacity ? 2 * t->capacity : 16;
        t->action = xrealloc(t->action, t->capacity * sizeof(struct action *));
    }
    t->action[t->count++] = a;
    return a;
}

int timeline_add(struct timeline *t, sim_time when, const char *kind, const char *target,
                 const void *arguments, struct errors *e)
{
    const struct action_kind *k = timeline_kind(t, kind);
    struct action *a;

    if (!k)
        return unknown_kind(t, kind, e);
    if (when < 0)
        return error_add(e, EXIT_INPUT, "%s \"%s\": a date before the start", kind, target);
    a = new_action(t, when, k, target);
    if (!k->parameters)
        return 0;
    a->arguments = xcalloc(1, k->parameters->size);
    if (arguments)
        memcpy(a->arguments, arguments, k->parameters->size);
    else
        params_defaults(k->parameters, a->arguments);
    return 0;
}

/* ---- Random outages ------------------------------------------------------------------------- */

/* Weibull by inversion: scale (-log u)^(1/shape), with mean scale Gamma(1 + 1/shape). */
static double draw(struct rng *r, sim_time mean, double shape)
{
    double x = rng_exponential(r, 1.0);

    if (shape > 0 && shape != 1.0)
        x = det_pow(x, 1 / shape) / det_gamma(1 + 1 / shape);
    return (double)mean * x;
}

int timeline_draw_outages(struct timeline *t, const char *host, const struct renewal *r,
                          uint64_t seed, uint64_t replication, sim_time end, struct errors *e)
{
    struct rng stream;
    sim_time now = 0;

    if (r->mttf <= 0 || r->mttr <= 0 || r->up_shape < 0 || r->down_shape < 0)
        return error_add(e, EXIT_INPUT,
                         "outages of host \"%s\": mean times must be above 0 and shapes not below",
                         host);
    rng_init(&stream, seed, replication, host, "outages");
    for (;;) {
        double up = draw(&stream, r->mttf, r->up_shape);
        double down = draw(&stream, r->mttr, r->down_shape);
        struct outage_arguments outage;

        if (up >= (double)(end - now) - 1)
            return 0;
        now += (sim_time)up + 1;
        outage.duration = down < (double)(end - now) ? (sim_time)down + 1 : end - now + 1;
        if (timeline_add(t, now, "host-outage", host, &outage, e))
            return -1;
        if (outage.duration >= end - now)
            return 0;
        now += outage.duration;
    }
}

/* ---- Binding -------------------------------------------------------------------------------- */

static void due(struct timer *timer, sim_time now)
{
    struct action *a = container_of(timer, struct action, timer);

    (void)now;
    if (a->machine->up)
        a->kind->act(a);
}

static void add_ends(struct timeline *t)
{
    for (uint32_t i = 0, count = t->count; i < count; i++) {
        const struct action *a = t->action[i];
        const struct outage_arguments *outage = a->arguments;

        if (a->kind == &kind_outage && a->when < SIM_NEVER - outage->duration)
            new_action(t, a->when + outage->duration, &kind_outage_end, a->target);
    }
}

static int by_date(const void *x, const void *y)
{
    const struct action *a = *(struct action *const *)x, *b = *(struct action *const *)y;

    if (a->when != b->when)
        return a->when < b->when ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

/* A host with several outages at a time is off until the last is over: mark what changes nothing.
 * host-on ends them all. */
static void merge_outages(struct timeline *t)
{
    uint32_t *outages = xcalloc(t->fleet->count, sizeof *outages);

    for (uint32_t i = 0; i < t->count; i++) {
        struct action *a = t->action[i];
        uint32_t *n;

        if (!a->machine)
            continue;
        n = &outages[a->machine->id];
        if (action_change(a) == CHANGE_HOST_OFF) {
            a->idle = *n > 0;
            *n += 1;
        } else if (a->kind == &kind_outage_end) {
            a->idle = *n != 1;
            *n -= *n > 0;
        } else if (a->kind == &kind_host_on) {
            a->idle = *n == 0;
            *n = 0;
        }
    }
    free(outages);
}

int timeline_bind(struct timeline *t, struct fleet *f, void *world, struct errors *e)
{
    int status = 0;

    t->fleet = f;
    t->world = world;
    add_ends(t);
    if (t->count)
        qsort(t->action, t->count, sizeof *t->action, by_date);
    for (uint32_t i = 0; i < t->count; i++) {
        struct action *a = t->action[i];

        a->number = i;
        if (a->kind->bind ? a->kind->bind(a, e) : bind_host(a, e))
            status = -1;
    }
    if (status)
        return status;
    merge_outages(t);
    for (uint32_t i = 0; i < t->count; i++) {
        struct action *a = t->action[i];

        timer_init(&a->timer, due);
        if (!a->kind->platform)
            queue_arm_key(&a->machine->queue, &a->timer, a->when, RANK_EXTERNAL,
                          KEY_ACTION | a->number);
    }
    return 0;
}

/* ---- Running -------------------------------------------------------------------------------- */

/* Skip what is not done between windows. */
static struct action *next_platform_action(struct timeline *t)
{
    while (t->done < t->count && (!t->action[t->done]->kind->platform || t->action[t->done]->idle))
        t->done++;
    return t->done < t->count ? t->action[t->done] : NULL;
}

sim_time timeline_next(struct timeline *t)
{
    const struct action *a = next_platform_action(t);

    return a ? a->when : SIM_NEVER;
}

void timeline_act(struct timeline *t, void (*carry)(const struct action *a))
{
    sim_time date = timeline_next(t);

    while (timeline_next(t) == date && date != SIM_NEVER) {
        struct action *a = t->action[t->done++];

        if (carry)
            carry(a);
        a->kind->act(a);
    }
}

bool timeline_fails(const struct timeline *t, const char *host)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (action_change(t->action[i]) == CHANGE_HOST_OFF &&
            strcmp(t->action[i]->target, host) == 0)
            return true;
    return false;
}

enum fleet_end timeline_run(struct timeline *t, struct fleet *f, sim_time end)
{
    for (;;) {
        sim_time change = timeline_next(t);
        enum fleet_end why = fleet_run_to(f, change < end ? change : end);

        if (why == FLEET_INTERRUPTED || why == FLEET_STOPPED || change >= end)
            return why;
        timeline_act(t, NULL);
    }
}
