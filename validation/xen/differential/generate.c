/* SPDX-License-Identifier: GPL-3.0-or-later OR GPL-2.0-only */
/*
 * Writes a random scenario: generate SCHEDULER NUMBER. The same number, the same scenario.
 *
 * Half of them have dates that are multiples of a step, so that many things happen at one instant;
 * a third change while they run; a third have several sockets or nodes and other boot options.
 */
#include <cjson/cJSON.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;
static const char *scheduler;
static int pcpus, duration_ms;
static double step_us; /* 0: dates are anything */

/* ---- drawing --------------------------------------------------------------------------------- */

static uint32_t draw(uint32_t below) /* splitmix64 */
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ (z >> 31)) >> 32) % below;
}

static bool chance(uint32_t percent)
{
    return draw(100) < percent;
}

#define ONE_OF(...)                                                                                \
    (((const int[]){__VA_ARGS__})[draw(sizeof(const int[]){__VA_ARGS__} / sizeof(int))])

/* From lo to hi us, small ones as likely as large ones; often with nanoseconds. */
static double time_us(double lo, double hi)
{
    double t = lo;

    while (t < hi && !chance(12))
        t *= 1 + draw(1000) / 1000.0;
    if (t > hi)
        t = lo + (hi - lo) * draw(1000) / 1000;
    if (step_us > 0) {
        t = (double)(int64_t)(t / step_us) * step_us;
        return t > 0 ? t : step_us;
    }
    t = (double)(int64_t)t + 1;
    return chance(30) ? t : t + draw(1000) / 1000.0;
}

static cJSON *add_numbers(cJSON *o, const char *name, const bool *chosen, int n)
{
    cJSON *list = cJSON_AddArrayToObject(o, name);

    for (int i = 0; i < n; i++)
        if (chosen[i])
            cJSON_AddItemToArray(list, cJSON_CreateNumber(i));
    return list;
}

/* Some pCPUs, at least one. */
static void add_mask(cJSON *o, const char *name)
{
    bool chosen[64] = {false};
    uint32_t most = chance(50) ? 1 : 1 + draw((uint32_t)pcpus);

    for (uint32_t i = 0; i < most; i++)
        chosen[draw((uint32_t)pcpus)] = true;
    add_numbers(o, name, chosen, pcpus);
}

static void add(cJSON *o, const char *name, double value)
{
    cJSON_AddNumberToObject(o, name, value);
}

/* ---- behaviours ------------------------------------------------------------------------------ */

static void add_events(cJSON *b)
{
    cJSON *e = cJSON_AddObjectToObject(b, "events");

    if (chance(70)) {
        add(e, "period_us", time_us(200, 30000));
        if (chance(20))
            add(e, "first_us", time_us(2000, 50000));
    } else {
        cJSON *list = cJSON_AddArrayToObject(e, "times_us");

        for (uint32_t i = 1 + draw(40); i > 0; i--)
            cJSON_AddItemToArray(list, cJSON_CreateNumber(time_us(1000, duration_ms * 900)));
    }
    if (chance(50))
        add(e, "irq_pcpu", draw((uint32_t)pcpus));
}

static void add_op(cJSON *list, const char *name, double us)
{
    cJSON *op = cJSON_CreateArray();

    cJSON_AddItemToArray(op, cJSON_CreateString(name));
    if (us > 0)
        cJSON_AddItemToArray(op, cJSON_CreateNumber(us));
    cJSON_AddItemToArray(list, op);
}

static void add_program(cJSON *b)
{
    cJSON *ops = cJSON_AddArrayToObject(b, "ops");
    bool events = chance(40);

    add_op(ops, "compute_us", time_us(30, 5000));
    for (uint32_t i = 1 + draw(7); i > 0; i--) {
        uint32_t k = draw(events ? 14 : 12);

        if (k >= 12)
            add_op(ops, "wait", 0);
        else if (k >= 10)
            add_op(ops, "yield", 0);
        else
            add_op(ops,
                   k < 5   ? "compute_us"
                   : k < 9 ? "sleep_us"
                           : "period_us",
                   time_us(10, 12000));
    }
    if (events)
        add_events(b);
}

static void add_behaviour(cJSON *vcpu)
{
    static const char *const names[] = {"hog",   "burst_sleep", "periodic", "server",
                                        "mixed", "yielder",     "program"};
    int kind = ONE_OF(0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 4, 5, 6, 6, 6);
    cJSON *b = cJSON_AddObjectToObject(vcpu, "behaviour");

    cJSON_AddStringToObject(b, "type", names[kind]);
    switch (kind) {
    case 1:
        add(b, "compute_us", time_us(20, 40000));
        add(b, "sleep_us", time_us(10, 30000));
        break;
    case 2:
        add(b, "compute_us", time_us(20, 10000));
        add(b, "period_us", time_us(500, 30000));
        add(b, "phase_us", chance(50) ? 0 : time_us(1, 5000));
        break;
    case 3:
        add(b, "compute_us", time_us(10, 5000));
        add_events(b);
        break;
    case 4:
        add_events(b);
        break;
    case 5:
        add(b, "compute_us", time_us(50, 20000));
        break;
    case 6:
        add_program(b);
        break;
    default:
        break;
    }
}

/* ---- domains --------------------------------------------------------------------------------- */

static bool is(const char *name)
{
    return !strcmp(scheduler, name);
}

static void add_rtds(cJSON *o)
{
    int period = ONE_OF(1000, 2000, 3000, 5000, 10000, 10000, 20000, 40000, 1234);
    cJSON *r = cJSON_AddObjectToObject(o, "rtds");

    add(r, "period_us", period);
    add(r, "budget_us",
        chance(20) ? 10 + (int)draw((uint32_t)period - 9) : period / ONE_OF(1, 2, 4, 10));
    add(r, "extratime", draw(2));
}

static void add_vcpu(cJSON *list, double create_ns, uint32_t hard, uint32_t soft)
{
    cJSON *v = cJSON_CreateObject();

    add_behaviour(v);
    add(v, "start_ns",
        create_ns + (step_us > 0 ? ONE_OF(0, 1, 2, 5, 10, 20) * step_us * 1000 : draw(40000000)));
    if (chance(hard))
        add_mask(v, "hard_affinity");
    if (chance(soft))
        add_mask(v, "soft_affinity");
    if (is("rtds") && chance(80))
        add_rtds(v);
    cJSON_AddItemToArray(list, v);
}

static void add_domains(cJSON *s, double create_ns)
{
    cJSON *domains = cJSON_AddArrayToObject(s, "domains");
    int left = 1 + (int)draw((uint32_t)(chance(80) ? 4 * pcpus : 40));
    bool pins = !is("arinc653");
    uint32_t hard = pins ? (uint32_t)ONE_OF(0, 20, 50) : 0;
    uint32_t soft = pins ? (uint32_t)ONE_OF(0, 0, 20, 50) : 0;
    uint32_t capped = (uint32_t)ONE_OF(0, 0, 30, 60);

    for (int id = 1; id <= 12 && left > 0; id++) {
        cJSON *d = cJSON_CreateObject(), *vcpus;
        int n = ONE_OF(1, 1, 1, 2, 2, 3, 4, 8);

        if (n > left)
            n = left;
        left -= n;
        add(d, "id", id);
        add(d, "weight", ONE_OF(256, 256, 256, 512, 128, 64, 1024, 77, 1, 65535));
        add(d, "cap", chance(capped) ? ONE_OF(5, 10, 25, 33, 50, 75, 100, 150, 350) : 0);
        vcpus = cJSON_AddArrayToObject(d, "vcpus");
        while (n-- > 0)
            add_vcpu(vcpus, create_ns, hard, soft);
        cJSON_AddItemToArray(domains, d);
        if (chance(15))
            break;
    }
}

static cJSON *some_domain(const cJSON *s)
{
    const cJSON *domains = cJSON_GetObjectItem(s, "domains");

    return cJSON_GetArrayItem(domains, (int)draw((uint32_t)cJSON_GetArraySize(domains)));
}

static int some_vcpu(const cJSON *domain)
{
    return (int)draw((uint32_t)cJSON_GetArraySize(cJSON_GetObjectItem(domain, "vcpus")));
}

static void add_table(cJSON *s)
{
    cJSON *table = cJSON_AddObjectToObject(s, "arinc653"), *entries;
    int total = 0;

    entries = cJSON_AddArrayToObject(table, "entries");
    for (uint32_t i = 1 + draw(12); i > 0; i--) {
        const cJSON *d = some_domain(s);
        int us = ONE_OF(500, 1000, 2000, 5000, 7333, 10000);
        int row[3] = {cJSON_GetObjectItem(d, "id")->valueint, some_vcpu(d), us};

        total += us;
        cJSON_AddItemToArray(entries, cJSON_CreateIntArray(row, 3));
    }
    add(table, "major_frame_us", total + ONE_OF(0, 0, 1000, 5000, -100));
}

/* ---- changes --------------------------------------------------------------------------------- */

static cJSON *add_action(cJSON *list, double at_us, const char *name, const cJSON *domain, int vcpu)
{
    cJSON *a = cJSON_CreateObject();

    add(a, "at_us", at_us);
    cJSON_AddStringToObject(a, "action", name);
    add(a, "pcpu", draw((uint32_t)pcpus));
    if (domain)
        add(a, "domain", cJSON_GetObjectItem(domain, "id")->valueint);
    if (domain && vcpu >= 0)
        add(a, "vcpu", vcpu);
    cJSON_AddItemToArray(list, a);
    return a;
}

static void add_change(cJSON *list, const cJSON *s)
{
    const cJSON *d = some_domain(s);
    double at = step_us > 0 && chance(60)
                    ? 2000 + draw(50) * step_us
                    : 2000 + draw((uint32_t)duration_ms * 1000 - 2000) + draw(1000) / 1000.0;
    int vcpu = some_vcpu(d);
    cJSON *a;

    switch (draw(is("null") ? 4 : 8)) { /* without unplugging: see the README */
    case 0:
        add_action(list, at, "pause", d, -1);
        add_action(list, at + ONE_OF(0, 500, 3000, 20000), "unpause", d, -1);
        break;
    case 1:
        add_action(list, at, "unpause", d, -1);
        break;
    case 2:
    case 3:
        a = add_action(list, at, "affinity", d, vcpu);
        if (chance(70))
            add_mask(a, "hard_affinity");
        if (chance(50))
            add_mask(a, "soft_affinity");
        break;
    case 4:
        add_action(list, at, "unplug", d, vcpu);
        add_action(list, at + ONE_OF(500, 3000, 20000), "plug", d, vcpu);
        break;
    case 5:
        a = add_action(list, at, "scheduler", NULL, -1);
        add(a, "ratelimit_us", ONE_OF(0, 100, 500, 1000, 2000, 5000));
        if (chance(60))
            add(a, "tslice_ms", ONE_OF(1, 2, 3, 5, 10, 30));
        if (chance(50))
            add(a, "migration_delay_us", ONE_OF(0, 100, 1000, 5000));
        break;
    default:
        a = add_action(list, at, is("rtds") ? "vcpu" : "set", d, is("rtds") ? vcpu : -1);
        if (is("rtds")) {
            add_rtds(a);
            break;
        }
        if (chance(60))
            add(a, "weight", ONE_OF(1, 64, 128, 256, 512, 1024, 65535));
        if (chance(60))
            add(a, "cap", ONE_OF(0, 5, 20, 50, 100, 150, 400));
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void add_host(cJSON *s)
{
    add(s, "pcpus", pcpus);
    add(s, "threads_per_core", pcpus % 2 ? 1 : ONE_OF(1, 1, 2));
    add(s, "tslice_ms", ONE_OF(30, 30, 30, 10, 5, 3, 2, 1, 7, 20, 50));
    add(s, "ratelimit_us", ONE_OF(1000, 1000, 1000, 0, 100, 500, 2500, 5000, 10000, 40000));
    add(s, "migration_delay_us", is("credit") ? ONE_OF(0, 0, 0, 100, 1000, 5000, 200000) : 0);
    add(s, "duration_ms", duration_ms);
    if (is("credit2")) {
        static const char *const queues[] = {"socket", "socket", "core", "cpu", "all"};

        cJSON_AddStringToObject(s, "credit2_runqueue", queues[draw(5)]);
    }
    if (!chance(33))
        return;
    add(s, "cores_per_socket", ONE_OF(0, 1, 2, 2));
    add(s, "sockets_per_node", ONE_OF(0, 1, 2));
    if (is("credit") || is("credit2"))
        cJSON_AddBoolToObject(s, "smt_power_savings", chance(40));
    if (is("credit"))
        cJSON_AddBoolToObject(s, "tickle_one_idle", chance(70));
}

int main(int argc, char **argv)
{
    cJSON *s = cJSON_CreateObject();
    double create_ns = 1000000;
    char name[80], *json;

    if (argc != 3) {
        fprintf(stderr, "usage: generate SCHEDULER NUMBER\n");
        return 2;
    }
    scheduler = argv[1];
    state = strtoull(argv[2], NULL, 10);
    for (const char *c = scheduler; *c; c++)
        state = state * 131 + (unsigned char)*c;
    snprintf(name, sizeof name, "%s_%s", scheduler, argv[2]);
    cJSON_AddStringToObject(s, "name", name);
    cJSON_AddStringToObject(s, "scheduler", scheduler);
    pcpus = is("arinc653") ? 1 : ONE_OF(1, 1, 2, 2, 3, 4, 4, 5, 6, 7, 8, 8);
    duration_ms = ONE_OF(100, 200, 300, 500);
    step_us = ONE_OF(0, 0, 0, 1000, 500, 250, 100, 5000);
    if (step_us > 0 && chance(50)) {
        create_ns = 0;
        add(s, "pool_init_ns", 0);
        add(s, "stagger_ns", 0);
        add(s, "create_ns", 0);
    }
    add_host(s);
    add_domains(s, create_ns);
    if (is("arinc653") && chance(90))
        add_table(s);
    if (chance(33)) {
        cJSON *list = cJSON_AddArrayToObject(s, "actions");

        for (int i = ONE_OF(1, 3, 10, 30); i > 0; i--)
            add_change(list, s);
    }
    json = cJSON_Print(s);
    puts(json);
    cJSON_free(json);
    cJSON_Delete(s);
    return 0;
}
