/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Speed of the full virtual path: an open-loop client, one Xen host with dom0 and a server guest,
 * default costs. Prints requests and events per second of CPU time, events per request, ns per
 * event.
 *
 *     net [RATE [SECONDS [PCPUS [HOGS]]]]        default 20000 requests/s for 20 s on 2 pCPUs
 */
#include "validation/unit/net_world.h"

#include <stdio.h>
#include <time.h>

static double wall(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double argument(int argc, char **argv, int i, double otherwise)
{
    return argc > i ? atof(argv[i]) : otherwise;
}

int main(int argc, char **argv)
{
    double rate = argument(argc, argv, 1, 20000), seconds = argument(argc, argv, 2, 20), took;
    uint32_t pcpus = (uint32_t)argument(argc, argv, 3, 2);
    int hogs = (int)argument(argc, argv, 4, 0);
    const char *scheduler = argc > 5 ? argv[5] : "credit";
    sim_time end = (sim_time)(seconds * 1e9);
    struct net_world w;
    struct client_params params;
    const struct client_results *r;
    struct net_counts n;
    struct client *c;
    struct stack *st;
    uint64_t events;
    char *text;

    world_init(&w, false, scheduler, pcpus);
    world_dom0(&w, 1);
    st = world_guest(&w, 1);
    world_program(st, w.guest[0], "rpc", "{\"threads\": 1}", 16);
    for (int i = 0; i < hogs; i++) {
        struct stack *hog = world_guest(&w, 1);

        world_program(hog, w.guest[w.guests - 1], "lookbusy", "{\"busy\": \"30%\"}", 0);
    }
    text = xasprintf("{\"loop\": \"open\", \"connections\": 16, \"demand\": \"10us\", "
                     "\"depth\": 8, \"arrivals\": \"poisson(%.0f/s)\"}",
                     rate);
    c = world_client(&w, &params, text, "client", st, RPC_PORT);
    client_start(c, 0, 0, end);
    world_start(&w, 10 * NS_PER_US);
    took = wall();
    fleet_run_to(&w.fleet, end);
    took = wall() - took;
    events = w.xen.queue.fired + w.clients.queue.fired;
    r = client_results(c);
    n = host_net_counts(w.net);
    printf("offered %.0f/s for %.0f s: %llu requests in %.2f s: %.0f requests/s, %.2f events per "
           "request, %.0f ns per event, %.2f decisions per request\n",
           rate, seconds, (unsigned long long)r->counts.completed, took,
           (double)r->counts.completed / took, (double)events / (double)r->counts.completed,
           took * 1e9 / (double)events, (double)w.host->decisions / (double)r->counts.completed);
    printf("latency us: p50 %.1f p99 %.1f p99.9 %.1f max %.1f; sent %llu refused %llu "
           "retransmitted %llu; drops nic %llu vif %llu socket %llu; notifications %llu, "
           "completions %llu, interrupts %llu\n",
           (double)histogram_quantile(&r->latency, .5) / 1e3,
           (double)histogram_quantile(&r->latency, .99) / 1e3,
           (double)histogram_quantile(&r->latency, .999) / 1e3, (double)r->latency.max / 1e3,
           (unsigned long long)r->counts.sent, (unsigned long long)r->counts.refused,
           (unsigned long long)r->counts.retransmitted, (unsigned long long)n.drop_nic_rx,
           (unsigned long long)n.drop_vif, (unsigned long long)n.drop_socket,
           (unsigned long long)n.notifications, (unsigned long long)n.completions,
           (unsigned long long)n.interrupts);
    for (int k = 0; k < 4; k++) {
        static const double from[] = {0, .5, .99, .999}, to[] = {1, .9, .999, 1};
        double mean[PARTS];
        uint64_t count = breakdown_between(&r->breakdown, from[k], to[k], mean);

        printf("%5.3f-%5.3f (%llu):", from[k], to[k], (unsigned long long)count);
        for (int i = 0; i < PARTS; i++)
            printf(" %s %.1f", part_names[i].name, mean[i] / 1e3);
        printf("\n");
    }
    world_free(&w);
    params_free(&client_table, &params);
    free(text);
    return 0;
}
