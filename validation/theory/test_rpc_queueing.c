/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An RPC server behind the whole packet path, with all costs zero, is a queue with a closed form.
 * Means of ten runs with different seeds; the closed form must lie within four standard errors of
 * their mean, which must be known to 2 % or better.
 */
#include "validation/unit/net_world.h"

#include <check.h>
#include <math.h>

enum { RUNS = 10 };

struct estimate {
    double mean, error;
};

/* dom0 has the last pCPU to itself: it must not wait for a server's slice. */
static void pin(struct net_world *w, uint32_t servers)
{
    cpumask last = cpumask_of(servers), others = {0};

    for (uint32_t i = 0; i < servers; i++)
        cpumask_set(&others, i);
    for (uint32_t i = 0; i < w->host->vcpu_count; i++)
        vcpu_set_affinity(w->host->vcpu[i], w->host->vcpu[i]->domain->id ? &others : &last, NULL);
}

/* Mean time in the server, in units of the mean service time of 100 us, for a Poisson stream of
 * `load` times the capacity of so many servers (vCPUs, each with a pCPU and a thread). */
static struct estimate simulate(const char *demand, double load, uint32_t servers, double seconds)
{
    double sum = 0, squares = 0;

    for (uint64_t run = 0; run < RUNS; run++) {
        struct net_world w;
        struct client_params params;
        struct client *client;
        struct stack *server;
        char *text, *threads;
        double mean;

        world_init(&w, true, "credit", servers + 1);
        w.seed = run + 1;
        world_dom0(&w, 1);
        server = world_guest(&w, servers);
        server->params.queue = 1 << 30;
        threads = xasprintf("{\"threads\": %u}", servers);
        world_program(server, w.guest[0], "rpc", threads, 0);
        text = xasprintf("{\"loop\": \"open\", \"connections\": 1024, \"timeout\": \"never\", "
                         "\"send\": \"0\", \"receive\": \"0\", \"demand\": \"%s\", \"arrivals\": "
                         "\"poisson(%.0f/s)\"}",
                         demand, load * servers * 10000);
        client = world_client(&w, &params, text, "client", server, RPC_PORT);
        pin(&w, servers);
        client_start(client, 0, NS_PER_S / 10, (sim_time)(seconds * 1e9));
        world_start(&w, NS_PER_US);
        fleet_run_to(&w.fleet, (sim_time)(seconds * 1e9));
        mean = (histogram_mean(&client_results(client)->intended) - 2000) / 1e5;
        sum += mean;
        squares += mean * mean;
        world_free(&w);
        params_free(&client_table, &params);
        free(text);
        free(threads);
    }
    sum /= RUNS;
    return (struct estimate){sum, sqrt((squares / RUNS - sum * sum) / (RUNS - 1))};
}

static void ck_theory(struct estimate e, double theory)
{
    ck_assert_msg(e.error < 0.02 * e.mean, "mean %f is known to %f only", e.mean, e.error);
    ck_assert_msg(fabs(e.mean - theory) < 4 * e.error, "mean %f +- %f, theory %f", e.mean, e.error,
                  theory);
}

/* Kleinrock, Queueing Systems I, 1975: T = 1 / (1 - rho). */
START_TEST(test_mm1)
{
    ck_theory(simulate("exponential(100us)", 0.5, 1, 10), 2);
    ck_theory(simulate("exponential(100us)", 0.8, 1, 30), 5);
}
END_TEST

/* Pollaczek, Khinchin: T = 1 + rho (1 + c^2) / (2 (1 - rho)). */
START_TEST(test_md1)
{
    ck_theory(simulate("100us", 0.7, 1, 10), 1 + 0.7 / 0.6);
}
END_TEST

/* Service of 20 us with probability 0.9, else 820 us: c^2 = 5.76. */
START_TEST(test_mg1)
{
    ck_theory(simulate("bimodal(20us, 820us, 0.1)", 0.6, 1, 30), 1 + 0.6 * 6.76 / 0.8);
}
END_TEST

/* Erlang C for four servers at rho = 0.7: P(wait) = 0.42868; T = 1 + P / (4 (1 - rho)). */
START_TEST(test_mm4)
{
    double a = 2.8, term = 1, sum = 0, last;

    for (int k = 0; k < 4; k++) {
        sum += term;
        term *= a / (k + 1);
    }
    last = term / (1 - 0.7);
    ck_theory(simulate("exponential(100us)", 0.7, 4, 10), 1 + last / (sum + last) / (4 * 0.3));
}
END_TEST

Suite *suite_rpc_queueing(void)
{
    const TTest *const tests[] = {test_mm1, test_md1, test_mg1, test_mm4};
    Suite *s = suite_create("rpc_queueing");
    TCase *tc = tcase_create("queues");

    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(tc, tests[i]);
    suite_add_tcase(s, tc);
    return s;
}
