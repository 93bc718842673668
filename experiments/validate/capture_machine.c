/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/validate/capture_machine.h"

#include "models/hypervisor/costs.h"

#include <stdlib.h>
#include <string.h>

#define OVERHEAD(scheduler)                                                                        \
    {                                                                                              \
        PARAM(#scheduler, DURATION, struct scheduler_overheads, scheduler),                        \
            .def = "0", .max = "1ms",                                                              \
            .meaning = "Added to each context switch under this scheduler."                        \
    }

static const struct param overhead_rows[] = {OVERHEAD(credit), OVERHEAD(credit2), OVERHEAD(rtds),
                                             OVERHEAD(null), OVERHEAD(arinc653)};

static const struct param_table overhead_table =
    PARAM_TABLE("overhead", struct scheduler_overheads, overhead_rows,
                .meaning = "What schedulers add to each context switch.");

static const struct param echo_rows[] = {
    {PARAM("overhead", DURATION, struct echo_costs, overhead), .def = "0", .max = "1ms",
     .meaning = "Work of the echo server for each request, beside what it is told to compute."},
    {PARAM("plain", DURATION, struct echo_costs, plain), .def = "0", .max = "1ms",
     .meaning = "The same, of one that is told to compute nothing, on top: another program."},
};

static const struct param_table echo_table =
    PARAM_TABLE("echo", struct echo_costs, echo_rows, .meaning = "The echo server's own work.");

#define WAKER(name, text)                                                                          \
    {                                                                                              \
        PARAM(#name, DURATION, struct waker_costs, name), .def = "0", .max = "10ms",               \
                                                          .meaning = text                          \
    }

static const struct param waker_rows[] = {
    WAKER(overhead, "Work of a waker for each cycle, beside its loop: system call, user's mode."),
    WAKER(clock, "For each cycle, if it measures how late its sleeps end."),
    WAKER(report, "For each report on its console."),
    WAKER(daemon, "What dom0 does for each of them."),
};

static const struct param_table waker_table =
    PARAM_TABLE("waker", struct waker_costs, waker_rows, .meaning = "A waker's own work.");

const struct capture_kernel_timer capture_kernel_timers[CAPTURE_KERNEL_TIMERS] = {
    {512 * NS_PER_MS, 35 * NS_PER_US, false},
    {1000 * NS_PER_MS, 30 * NS_PER_US, true},
    {2016 * NS_PER_MS, 55 * NS_PER_US, true},
    {2016 * NS_PER_MS, 35 * NS_PER_US, true}};

static const struct param emulator_rows[] = {
    {PARAM("kick", DURATION, struct emulator_costs, kick), .def = "100ms", .min = "1us",
     .max = "1s", .source = "QEMU 7.2, TCG_KICK_PERIOD", .status = STATUS_CITED,
     .meaning = "Where nothing else makes the turns of pCPUs shorter, the emulator ends them this "
                "often."},
};

static const struct param_table emulator_table = PARAM_TABLE(
    "emulator", struct emulator_costs, emulator_rows, .meaning = "The emulator's own timer.");

static const struct part {
    const char *pointer;
    const struct param_table *table;
    size_t offset;
} parts[] = {
    {"/host/costs", &host_cost_params, offsetof(struct capture_machine, host)},
    {"/host/network", &net_table, offsetof(struct capture_machine, network)},
    {"/emulator", &emulator_table, offsetof(struct capture_machine, emulator)},
    {"/dom0/costs", &guest_cost_table, offsetof(struct capture_machine, dom0)},
    {"/guest/costs", &guest_cost_table, offsetof(struct capture_machine, guest)},
    {"/guest/network", &vif_table, offsetof(struct capture_machine, vif)},
    {"/overhead", &overhead_table, offsetof(struct capture_machine, overhead)},
    {"/echo", &echo_table, offsetof(struct capture_machine, echo)},
    {"/waker", &waker_table, offsetof(struct capture_machine, waker)},
};
enum { PARTS = sizeof parts / sizeof *parts };

enum place { NO_PART, ABOVE_PARTS, PART };

static enum place place_of(const char *pointer)
{
    size_t length = strlen(pointer);

    for (size_t i = 0; i < PARTS; i++) {
        char next = strncmp(parts[i].pointer, pointer, length) ? '?' : parts[i].pointer[length];

        if (!next || next == '/')
            return next ? ABOVE_PARTS : PART;
    }
    return NO_PART;
}

static bool about_the_file(struct json_value v)
{
    const char *key = json_key(v);

    return key && (!strcmp(key, "version") || !strcmp(key, "comment"));
}

/* A part that is misspelt would have its defaults. */
static void check_members(struct json_value object, struct errors *e)
{
    JSON_FOR_EACH(v, object)
    {
        char *pointer = json_pointer(v);
        enum place place = about_the_file(v) ? PART : place_of(pointer);

        if (place == NO_PART)
            json_error(v, e, "the machine has no such part");
        else if (place == ABOVE_PARTS && json_kind(v) != JSON_OBJECT)
            json_error(v, e, "expected an object");
        else if (place == ABOVE_PARTS)
            check_members(v, e);
        free(pointer);
    }
}

int capture_machine_read(struct capture_machine *m, const struct json *doc, struct errors *e)
{
    size_t before = e->count;

    check_members(json_root(doc), e);
    for (size_t i = 0; i < PARTS; i++) {
        struct json_value v = json_at(doc, parts[i].pointer);
        void *target = (char *)m + parts[i].offset;

        if (json_exists(v))
            params_read(parts[i].table, v, target, e);
        else
            params_defaults(parts[i].table, target);
    }
    return e->count > before ? -1 : 0;
}

/* The row that a path below a table names, and its offset. */
static const struct param *find(const struct param_table *t, const char *path, size_t *offset)
{
    size_t length = strcspn(path, "/");

    for (size_t i = 0; i < t->count; i++) {
        const struct param *p = &t->row[i];

        if (strlen(p->name) != length || strncmp(p->name, path, length))
            continue;
        *offset += p->offset;
        if (!path[length])
            return p;
        return p->kind == PARAM_OBJECT ? find(p->table, path + length + 1, offset) : NULL;
    }
    return NULL;
}

static const struct param *find_pointer(const char *pointer, size_t *offset)
{
    for (size_t i = 0; i < PARTS; i++) {
        size_t length = strlen(parts[i].pointer);

        *offset = parts[i].offset;
        if (!strncmp(pointer, parts[i].pointer, length) && pointer[length] == '/')
            return find(parts[i].table, pointer + length + 1, offset);
    }
    return NULL;
}

sim_time *capture_machine_duration(struct capture_machine *m, const char *pointer)
{
    size_t offset;
    const struct param *p = find_pointer(pointer, &offset);

    if (!p || p->kind != PARAM_DURATION)
        return NULL;
    return (sim_time *)(void *)((char *)m + offset);
}

const char *capture_machine_meaning(const char *pointer)
{
    size_t offset;
    const struct param *p = find_pointer(pointer, &offset);

    return p ? p->meaning : NULL;
}

sim_time capture_machine_overhead(const struct capture_machine *m, const char *scheduler)
{
    for (size_t i = 0; i < overhead_table.count; i++)
        if (!strcmp(overhead_table.row[i].name, scheduler))
            return *(const sim_time *)(const void *)((const char *)&m->overhead +
                                                     overhead_table.row[i].offset);
    return 0;
}
