/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What operators do to a running host: moving domains between pools of any two schedulers,
 * destroying them, changing a scheduler's parameters. */
#include "models/guest/guest.h"
#include "models/hypervisor/operate.h"
#include "models/schedulers/credit.h"
#include "workloads/synthetic.h"

#include <check.h>
#include <stdlib.h>

enum { PCPUS = 4, DOMAINS = 5 };

struct bench {
    struct queue q;
    struct host *h;
    struct cpupool *pool[2];
    struct guest *guest[DOMAINS];
};

static struct cpupool *add_pool(struct bench *b, const char *scheduler, uint32_t first)
{
    const struct sched_ops *ops = scheduler_by_name(scheduler);
    void *params = xcalloc(1, ops->params ? ops->params->size : 1);
    struct cpupool *pool;

    if (ops->params)
        params_defaults(ops->params, params);
    pool = host_add_pool(b->h, scheduler, ops, params, ops->params ? ops->params->size : 0);
    free(params);
    for (uint32_t c = first; c < first + PCPUS / 2; c++)
        pool_add_pcpu(pool, &b->h->pcpu[c]);
    return pool;
}

/* Two pools; three hogs and two sleepers in the first one. */
static void set_up(struct bench *b, const char *one, const char *other)
{
    struct burst_sleep_params sleeper = {3 * NS_PER_MS, 7 * NS_PER_MS};

    *b = (struct bench){.pool = {NULL}};
    queue_init(&b->q);
    b->h = host_new(&b->q, "test", PCPUS, 1, 0, 0);
    b->pool[0] = add_pool(b, one, 0);
    b->pool[1] = add_pool(b, other, PCPUS / 2);
    for (uint32_t i = 0; i < DOMAINS; i++) {
        b->guest[i] = guest_new(domain_create(b->pool[0], i + 1, "d", 0, 0), 1);
        guest_add_vcpu(b->guest[i]);
        guest_add_thread(&b->guest[i]->vcpu[0], i < 3 ? &program_hog : &program_burst_sleep,
                         &sleeper, "t", CLASS_NORMAL, 0);
        vcpu_start(b->h->vcpu[i]);
    }
}

static void tear_down(struct bench *b)
{
    host_free(b->h);
    for (uint32_t i = 0; i < DOMAINS; i++)
        guest_free(b->guest[i]);
    queue_free(&b->q);
}

static void run_to(struct bench *b, sim_time date)
{
    queue_run(&b->q, date);
    b->q.now = date;
    ck_assert_msg(!b->h->fault, "%s", b->h->fault);
}

static const char *const names[] = {"credit", "credit2", "rtds", "terriertail", "rr", "vslicer"};
enum { NAMES = sizeof names / sizeof *names };

/* A moved domain runs in its new pool and nowhere else, with default weight and affinity. */
START_TEST(moves)
{
    struct bench b;

    set_up(&b, names[_i / NAMES], names[_i % NAMES]);
    run_to(&b, NS_PER_S);
    domain_set(b.h->domain[0], 512, 0);
    for (uint32_t i = 0; i < DOMAINS; i += 2) {
        struct vcpu *v = b.h->vcpu[i];
        sim_time before;

        domain_move(b.h->domain[i], b.pool[1]);
        run_to(&b, b.q.now + NS_PER_MS);
        ck_assert_ptr_eq(v->domain->pool, b.pool[1]);
        ck_assert_uint_eq(v->domain->weight, DEFAULT_WEIGHT);
        ck_assert(cpumask_test(&b.pool[1]->cpus, v->processor));
        before = vcpu_runstate_time(v, RUNSTATE_RUNNING);
        run_to(&b, b.q.now + NS_PER_S);
        ck_assert_int_gt(vcpu_runstate_time(v, RUNSTATE_RUNNING),
                         before + NS_PER_S / 40); /* a sleeper between two slices of 30 ms */
        ck_assert(cpumask_test(&b.pool[1]->cpus, v->processor));
        ck_assert_int_eq(v->pause_count, 0);
    }
    for (uint32_t i = 0; i < DOMAINS; i += 2)
        domain_move(b.h->domain[i], b.pool[0]); /* and all back at one instant */
    run_to(&b, b.q.now + NS_PER_S);
    for (uint32_t i = 0; i < DOMAINS; i++)
        ck_assert(cpumask_test(&b.pool[0]->cpus, b.h->vcpu[i]->processor));
    tear_down(&b);
}
END_TEST

static struct cpupool *pool_of(struct bench *b, uint32_t first, uint32_t last)
{
    const struct sched_ops *ops = scheduler_by_name("credit");
    struct credit_params params;
    struct cpupool *pool;

    params_defaults(ops->params, &params);
    pool = host_add_pool(b->h, "credit", ops, &params, sizeof params);
    for (uint32_t c = first; c <= last; c++)
        pool_add_pcpu(pool, &b->h->pcpu[c]);
    return pool;
}

static void add_hog(struct bench *b, uint32_t i, struct cpupool *pool, uint32_t vcpus)
{
    b->guest[i] = guest_new(domain_create(pool, i + 1, "d", 0, 0), vcpus);
    for (uint32_t k = 0; k < vcpus; k++) {
        guest_add_vcpu(b->guest[i]);
        guest_add_thread(&b->guest[i]->vcpu[k], &program_hog, NULL, "t", CLASS_NORMAL, 0);
    }
}

/* Its vCPUs are dealt out to the new pool's pCPUs in turn, each from the next on, wherever the
 * scheduler put the one before: the first finds pCPU 1 busy and goes to 2, from where the second
 * begins as well; nobody is there yet. (When a domain is created each follows the one before.) */
START_TEST(moves_deal_out_pcpus)
{
    struct bench b = {.pool = {NULL}};
    cpumask one = cpumask_of(1);

    queue_init(&b.q);
    b.h = host_new(&b.q, "test", 4, 1, 0, 0);
    b.pool[0] = pool_of(&b, 0, 0);
    b.pool[1] = pool_of(&b, 1, 3);
    for (uint32_t i = 0; i < 2; i++) { /* one of them waits */
        add_hog(&b, i, b.pool[1], 1);
        vcpu_set_affinity(b.h->vcpu[i], &one, NULL);
        vcpu_start(b.h->vcpu[i]);
    }
    run_to(&b, 50 * NS_PER_MS);
    add_hog(&b, 2, b.pool[0], 2);
    domain_move(b.h->domain[2], b.pool[1]);
    run_to(&b, 50 * NS_PER_MS + 1);
    ck_assert_uint_eq(b.h->vcpu[2]->processor, 2);
    ck_assert_uint_eq(b.h->vcpu[3]->processor, 2);
    host_free(b.h);
    for (uint32_t i = 0; i < 3; i++)
        guest_free(b.guest[i]);
    queue_free(&b.q);
}
END_TEST

START_TEST(destroys)
{
    struct bench b;
    sim_time before[DOMAINS];

    set_up(&b, names[_i], "credit");
    run_to(&b, NS_PER_S + 1234567);
    for (uint32_t i = 0; i < DOMAINS; i += 2) {
        domain_destroy(b.h->domain[i]);
        domain_destroy(b.h->domain[i]); /* twice is once */
    }
    run_to(&b, b.q.now + NS_PER_MS);
    for (uint32_t i = 0; i < DOMAINS; i++)
        before[i] = vcpu_runstate_time(b.h->vcpu[i], RUNSTATE_RUNNING);
    domain_move(b.h->domain[0], b.pool[1]); /* too late */
    run_to(&b, b.q.now + 2 * NS_PER_S);
    for (uint32_t i = 0; i < DOMAINS; i++) {
        sim_time ran = vcpu_runstate_time(b.h->vcpu[i], RUNSTATE_RUNNING) - before[i];

        if (i % 2)
            ck_assert_int_gt(ran, NS_PER_S / 10);
        else
            ck_assert_int_eq(ran, 0);
    }
    tear_down(&b);
}
END_TEST

/* A domain is created at run time, in a pool that is busy: nothing of it is there before, then it
 * gets its share. An event to it before is lost. */
START_TEST(creates)
{
    struct bench b;
    struct domain *d;
    struct guest *g;
    struct evtchn ch = {.handler = NULL};
    struct vcpu *v;

    set_up(&b, names[_i], "credit");
    d = domain_describe(b.pool[0], 9, "late", 0, 0);
    g = guest_new(d, 1);
    v = guest_add_vcpu(g);
    guest_add_thread(&g->vcpu[0], &program_hog, NULL, "t", CLASS_NORMAL, 0);
    ch.vcpu = v;
    run_to(&b, NS_PER_S + 1234567);
    evtchn_send(&ch, true);
    ck_assert(!ch.pending);
    domain_destroy(d);
    domain_move(d, b.pool[1]);
    run_to(&b, 2 * NS_PER_S);
    ck_assert(domain_gone(d) && !d->destroyed);
    ck_assert_int_eq(vcpu_runstate_time(v, RUNSTATE_OFFLINE), 2 * NS_PER_S);
    domain_appear(d);
    vcpu_appear(v);
    ck_assert(!domain_gone(d));
    ck_assert_int_eq(vcpu_runstate_time(v, RUNSTATE_OFFLINE), 0); /* counted from its creation */
    run_to(&b, 3 * NS_PER_S);
    ck_assert_int_eq(vcpu_runstate_time(v, RUNSTATE_RUNNING), 0); /* its vCPU is down */
    vcpu_start(v);
    run_to(&b, 5 * NS_PER_S);
    /* 2 pCPUs for four hogs and two that want 30 % each, or twice as much of four */
    ck_assert_int_gt(vcpu_runstate_time(v, RUNSTATE_RUNNING), NS_PER_S / 4);
    domain_destroy(d);
    run_to(&b, 6 * NS_PER_S);
    host_free(b.h);
    guest_free(g);
    for (uint32_t i = 0; i < DOMAINS; i++)
        guest_free(b.guest[i]);
    queue_free(&b.q);
}
END_TEST

/* A destroyed domain leaves no weight behind: the others share as if it had never been. */
START_TEST(destroyed_weight)
{
    struct bench b;
    const struct credit *c;

    set_up(&b, "credit", "credit");
    run_to(&b, NS_PER_S);
    for (uint32_t i = 0; i < DOMAINS; i++)
        domain_destroy(b.h->domain[i]);
    run_to(&b, 2 * NS_PER_S);
    c = credit_data(b.pool[0]->scheduler);
    ck_assert_int_eq(c->weight, 0);
    ck_assert(list_empty(&c->active_domains));
    tear_down(&b);
}
END_TEST

START_TEST(new_slice)
{
    struct bench b;
    struct credit_params p;
    uint64_t before, after;

    set_up(&b, "credit", "credit");
    run_to(&b, NS_PER_S);
    before = b.h->switches;
    run_to(&b, 2 * NS_PER_S);
    before = b.h->switches - before;
    p = *(const struct credit_params *)b.pool[0]->scheduler->params;
    p.tslice = 5 * NS_PER_MS;
    pool_set_params(b.pool[0], &p, sizeof p);
    run_to(&b, 3 * NS_PER_S);
    after = b.h->switches;
    run_to(&b, 4 * NS_PER_S);
    after = b.h->switches - after;
    ck_assert_uint_gt(after, before + before / 4);
    ck_assert_int_eq(credit_data(b.pool[0]->scheduler)->tick_period, 1666 * NS_PER_US);
    ck_assert_int_eq(credit_data(b.pool[1]->scheduler)->tick_period, 10 * NS_PER_MS);
    tear_down(&b);
}
END_TEST

Suite *suite_operate(void);

Suite *suite_operate(void)
{
    Suite *s = suite_create("operate");
    TCase *t = tcase_create("operate");

    tcase_add_loop_test(t, moves, 0, NAMES * NAMES);
    tcase_add_test(t, moves_deal_out_pcpus);
    tcase_add_loop_test(t, destroys, 0, NAMES);
    tcase_add_loop_test(t, creates, 0, NAMES);
    tcase_add_test(t, destroyed_weight);
    tcase_add_test(t, new_slice);
    suite_add_tcase(s, t);
    return s;
}
