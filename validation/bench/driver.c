/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Machines under SimGrid: bare events on n machines that could reach each other in 50 us.
 *
 *   driver [MACHINES [PERIOD_NS [lockstep]]]     one event a period on each machine
 *
 * Prints events per second of CPU time, windows, and what the fleet alone does without SimGrid.
 */
#define _GNU_SOURCE
#include "sim/error.h"
#include "sim/simgrid.h"
#include "sim/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EVENTS 4000000

struct beat {
    struct machine machine;
    struct timer timer;
    sim_time period;
};

static void fire(struct timer *t, sim_time now)
{
    struct beat *b = container_of(t, struct beat, timer);

    queue_arm(&b->machine.queue, t, now + b->period);
}

static const struct machine_ops ops;

static double cpu_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static char *write_platform(int machines)
{
    static char name[] = "/tmp/hvsim-bench-XXXXXX";
    FILE *out = fdopen(mkstemp(name), "w");

    fprintf(out,
            "<?xml version='1.0'?><!DOCTYPE platform SYSTEM "
            "\"https://simgrid.org/simgrid.dtd\"><platform version=\"4.1\"><zone id=\"z\" "
            "routing=\"Full\"><cluster id=\"c\" prefix=\"h\" radical=\"0-%d\" suffix=\"\" "
            "speed=\"1Gf\" bw=\"10Gbps\" lat=\"25us\"/><zone id=\"y\" routing=\"Full\"><host "
            "id=\"coordinator\" speed=\"1Gf\"/></zone></zone></platform>",
            machines - 1);
    fclose(out);
    return name;
}

static void build(struct fleet *f, struct beat *beat, int machines, sim_time period)
{
    fleet_init(f);
    for (int i = 0; i < machines; i++) {
        char host[16];

        snprintf(host, sizeof host, "h%d", i);
        machine_init(&beat[i].machine, host, &ops, NULL);
        beat[i].period = period + i % 7;
        fleet_add(f, &beat[i].machine);
        timer_init(&beat[i].timer, fire);
        queue_arm(&beat[i].machine.queue, &beat[i].timer, i);
    }
    for (int i = 0; i < machines && machines > 1; i++)
        fleet_connect(&beat[i].machine, &beat[(i + 1) % machines].machine);
}

static uint64_t events(const struct beat *beat, int machines)
{
    uint64_t sum = 0;

    for (int i = 0; i < machines; i++)
        sum += beat[i].machine.queue.fired;
    return sum;
}

int main(int argc, char **argv)
{
    int machines = argc > 1 ? atoi(argv[1]) : 2;
    sim_time period = argc > 2 ? atol(argv[2]) : 5000;
    struct platform_options o = {.lockstep = argc > 3 && strcmp(argv[3], "lockstep") == 0};
    struct beat *beat = calloc((size_t)machines, sizeof *beat);
    struct errors e = ERRORS_NONE;
    struct platform_report r;
    struct fleet f;
    double before, taken;

    o.file = write_platform(machines);
    o.end = EVENTS / machines * period / (o.lockstep ? 10 : 1);
    platform_load(&o);
    build(&f, beat, machines, period);
    before = cpu_seconds();
    if (platform_bind(&f, &e) || platform_run(&o, &f, NULL, &r, &e)) {
        fprintf(stderr, "%s\n", e.item[0].text);
        return 3;
    }
    taken = cpu_seconds() - before;
    printf("driver %d machines%s: %.1f million events/s, %.2f us a window of %.1f events\n",
           machines, o.lockstep ? " in lockstep" : "", (double)events(beat, machines) / taken / 1e6,
           taken * 1e6 / (double)r.windows, (double)events(beat, machines) / (double)r.windows);
    unlink(o.file);
    platform_exit(0);
}
