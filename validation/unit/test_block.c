/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Block devices: a guest's requests through blkfront and blkback to the disk and back. */
#include "models/block/block.h"
#include "validation/unit/net_world.h"

#include <check.h>

static struct net_world w;
static struct host_block *block;
static struct block_params block_params;
static struct thread *user[8];
static uint32_t users;

static void build(bool exact, uint32_t pcpus)
{
    users = 0;
    world_init(&w, exact, "credit", pcpus);
    world_dom0(&w, 1);
    params_defaults(&block_table, &block_params);
    if (exact) {
        struct disk_params disk = block_params.disk;

        world_zero_costs(&block_table, &block_params);
        block_params.disk = disk;
    }
}

static struct vbd *add_user(const char *text)
{
    struct vbd_params vbd_params;
    struct program_site site = {.class = CLASS_NORMAL, .entity = "disk", .seed = users + 1};
    struct errors e = ERRORS_NONE;
    struct json *doc = json_parse("disk", text, strlen(text), &e);
    const struct program *program = program_by_name("disk");
    void *params = xcalloc(1, program->params->size);
    struct vbd *v;

    if (!block)
        block = host_block_new(w.dom0, &block_params);
    params_defaults(&vbd_table, &vbd_params);
    if (w.exact)
        world_zero_costs(&vbd_table, &vbd_params);
    world_guest(&w, 1);
    site.guest = w.guest[w.guests - 1];
    v = site.vbd = host_block_add(block, site.guest, &vbd_params, "disk", users + 1, 0);
    ck_assert(!params_read(program->params, json_root(doc), params, &e));
    user[users++] = program_start(program, params, &site);
    json_free(doc);
    free(params);
    return v;
}

static void run(sim_time end)
{
    world_start(&w, NS_PER_US);
    fleet_run_to(&w.fleet, end);
}

static void teardown(void)
{
    host_block_free(block);
    block = NULL;
    params_free(&block_table, &block_params);
    world_free(&w);
}

/* 64 KiB at 1 Gbit/s. */
#define TRANSFER (65536 * 8)

START_TEST(test_exact)
{
    struct program_counts c;
    struct vbd *v;

    build(true, 1);
    v = add_user("{\"compute\": \"1ms\"}");
    run(10 * NS_PER_S);
    c = program_counts(user[0]);
    ck_assert_uint_eq(c.jobs, 10 * NS_PER_S / (8 * NS_PER_MS + TRANSFER));
    ck_assert_int_eq(c.job_time, (sim_time)c.jobs * (7 * NS_PER_MS + TRANSFER));
    ck_assert_uint_eq(c.bytes, c.jobs * 65536);
    ck_assert_uint_eq(v->counts.reads, c.jobs);
    ck_assert_uint_eq(v->counts.events, c.jobs + 1);
    ck_assert_uint_eq(v->counts.notifications, c.jobs);
}
END_TEST

START_TEST(test_costs_add_up)
{
    struct program_counts c;
    const struct guest_costs *g = &w.guest_costs;
    const struct vbd_params *f;
    struct vbd *v;
    sim_time wake, way;

    build(false, 2);
    w.host->costs.cache_refill = 0;
    v = add_user("{}");
    f = &v->params;
    for (uint32_t i = 0; i < w.host->vcpu_count; i++) {
        cpumask one = cpumask_of(w.host->vcpu[i]->domain->id ? 1 : 0);

        vcpu_set_affinity(w.host->vcpu[i], &one, NULL);
    }
    run(NS_PER_S);
    c = program_counts(user[0]);
    wake = w.host->costs.context_switch + g->idle_exit + g->upcall;
    way = w.host->costs.ipi + wake + g->thread_switch + block_params.request +
          16 * block_params.page + 7 * NS_PER_MS + TRANSFER + wake + block_params.interrupt +
          block_params.complete + block_params.notify + w.host->costs.ipi;
    /* the completion counts when the vCPU is switched to, before the costs of that are paid */
    ck_assert_int_eq(c.job_time / (sim_time)c.jobs, way);
    ck_assert_int_gt(f->submit, 0);
}
END_TEST

/* Two users of one disk: each gets half of it, and waits for the other. */
START_TEST(test_shared)
{
    struct program_counts a, b;

    build(true, 3);
    add_user("{\"compute\": \"0\"}");
    add_user("{\"compute\": \"0\"}");
    run(10 * NS_PER_S);
    a = program_counts(user[0]);
    b = program_counts(user[1]);
    ck_assert_uint_le(a.jobs > b.jobs ? a.jobs - b.jobs : b.jobs - a.jobs, 1);
    ck_assert_uint_eq(a.jobs + b.jobs, 10 * NS_PER_S / (7 * NS_PER_MS + TRANSFER));
    /* all but the very first wait for one of the other's */
    ck_assert_int_eq(a.job_time + b.job_time,
                     (sim_time)(a.jobs + b.jobs) * 2 * (7 * NS_PER_MS + TRANSFER) -
                         (7 * NS_PER_MS + TRANSFER));
}
END_TEST

START_TEST(test_depth_and_channels)
{
    struct program_counts c;

    build(true, 2);
    block_params.disk.channels = 8;
    add_user("{\"depth\": 16, \"compute\": \"0\", \"writes\": \"100%\"}");
    run(10 * NS_PER_S);
    c = program_counts(user[0]);
    ck_assert_uint_ge(c.jobs, 8 * (10 * NS_PER_S / (10 * NS_PER_MS + TRANSFER)) - 8);
    ck_assert_uint_le(c.jobs, 8 * (10 * NS_PER_S / (10 * NS_PER_MS + TRANSFER)) + 8);
    ck_assert_uint_eq(block->vbds->counts.writes, c.jobs);
    ck_assert_uint_eq(block->vbds->counts.reads, 0);
}
END_TEST

START_TEST(test_ring_is_bounded)
{
    struct vbd *v;

    build(true, 2);
    v = add_user("{\"depth\": 200, \"compute\": \"0\"}");
    run(NS_PER_S);
    ck_assert_uint_eq(v->used, 32);
    ck_assert_uint_eq(v->waiting.count, 200 - 32);
    ck_assert_uint_eq(block->disk.waiting.count + block->disk.busy, 32);
}
END_TEST

START_TEST(test_think)
{
    build(true, 1);
    add_user("{\"think\": \"92ms\", \"compute\": \"475712ns\"}");
    run(10 * NS_PER_S + NS_PER_MS);
    ck_assert_uint_eq(program_counts(user[0]).jobs, 101 - 1);
}
END_TEST

/* Completions are ordinary events. */
static uint64_t netevents;

static void count_netevents(struct observer *o, struct host *h, const struct observation *obs)
{
    (void)o;
    (void)h;
    (void)obs;
    netevents++;
}

START_TEST(test_no_network_events)
{
    static struct observer counter = {.kinds = UINT64_C(1) << OBS_NETEVENT, .see = count_netevents};

    build(false, 1);
    add_user("{}");
    host_observe(w.host, &counter);
    run(NS_PER_S);
    ck_assert_uint_gt(program_counts(user[0]).jobs, 100);
    ck_assert_uint_eq(netevents, 0);
}
END_TEST

/* The defaults' throughput is that of the published figures: 8.0-8.3 and 5.9-6.3 MB/s. */
START_TEST(test_default_throughput)
{
    double reads, writes;

    build(false, 2);
    add_user("{}");
    run(20 * NS_PER_S);
    reads = (double)program_counts(user[0]).bytes / 20e6;
    teardown();
    build(false, 2);
    add_user("{\"writes\": \"100%\"}");
    run(20 * NS_PER_S);
    writes = (double)program_counts(user[0]).bytes / 20e6;
    ck_assert_double_gt(reads, 8.0);
    ck_assert_double_lt(reads, 8.9);
    ck_assert_double_gt(writes, 5.9);
    ck_assert_double_lt(writes, 6.4);
}
END_TEST

Suite *suite_block(void)
{
    const TTest *const tests[] = {test_exact,
                                  test_costs_add_up,
                                  test_shared,
                                  test_depth_and_channels,
                                  test_ring_is_bounded,
                                  test_think,
                                  test_no_network_events,
                                  test_default_throughput};
    Suite *s = suite_create("block");
    TCase *tc = tcase_create("block");

    tcase_add_checked_fixture(tc, NULL, teardown);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(tc, tests[i]);
    suite_add_tcase(s, tc);
    return s;
}
