/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Packets between two machines of a platform: BALLS go to and fro.
 *
 *   wire PLATFORM HOST HOST [BALLS [simgrid]]    prints packets per second of CPU time
 */
#define _GNU_SOURCE
#include "sim/wire.h"
#include "sim/error.h"
#include "sim/simgrid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PACKETS 3000000
#define PACKETS_SIMGRID 100000

static uint64_t packets, enough;

static void arrival(struct machine *m, struct packet *p)
{
    if (++packets >= enough)
        fleet_stop(m);
    packet_turn(p);
    packet_send(p);
}

static const struct machine_ops ops = {.arrival = arrival};
static struct machine machine[2];

static void serve(struct timer *t, sim_time now)
{
    struct packet *p = packet_new(&machine[0], &machine[1]);

    (void)t;
    (void)now;
    p->bytes = 150;
    packet_send(p);
}

static double cpu_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    struct platform_options o = {.end = SIM_NEVER};
    struct errors e = ERRORS_NONE;
    struct platform_report r;
    struct timer *start;
    struct fleet f;
    int balls = argc > 4 ? atoi(argv[4]) : 10;
    double before, taken;

    if (argc < 4)
        return 2;
    o.file = argv[1];
    fleet_init(&f);
    f.network = argc > 5 && strcmp(argv[5], "simgrid") == 0 ? NETWORK_SIMGRID : NETWORK_WIRES;
    enough = f.network == NETWORK_SIMGRID ? PACKETS_SIMGRID : PACKETS;
    start = xcalloc((size_t)balls, sizeof *start);
    for (int i = 0; i < 2; i++) {
        machine_init(&machine[i], argv[2 + i], &ops, NULL);
        fleet_add(&f, &machine[i]);
    }
    fleet_connect_all(&f);
    for (int i = 0; i < balls; i++) {
        timer_init(&start[i], serve);
        queue_arm(&machine[0].queue, &start[i], 777 * i);
    }
    platform_load(&o);
    if (platform_bind(&f, &e)) {
        fprintf(stderr, "%s\n", e.item[0].text);
        return 3;
    }
    before = cpu_seconds();
    platform_run(&o, &f, NULL, &r, &e);
    taken = cpu_seconds() - before;
    printf("wire %d packets under way%s: %.2f million packets/s, %.0f ns each, %.2f windows a "
           "packet\n",
           balls, f.network == NETWORK_SIMGRID ? " by simgrid" : "", (double)packets / taken / 1e6,
           taken * 1e9 / (double)packets, (double)r.windows / (double)packets);
    platform_exit(0);
}
