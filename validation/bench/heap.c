/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bare event queue: n timers pending, each armed anew at a random distance when it fires.
 *
 *   heap [PENDING [MILLION_EVENTS]]      prints: events per second, ns per event
 */
#define _GNU_SOURCE
#include "sim/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static struct queue queue;
static uint64_t state = 88172645463325252u;

static void fire(struct timer *t, sim_time now)
{
    state ^= state << 13; /* xorshift64: cheap, so that the heap is what is measured */
    state ^= state >> 7;
    state ^= state << 17;
    queue_arm(&queue, t, now + 1 + (sim_time)(state & 0xffff));
}

int main(int argc, char **argv)
{
    long pending = argc > 1 ? atol(argv[1]) : 64, millions = argc > 2 ? atol(argv[2]) : 20;
    struct timer *timer = calloc((size_t)pending, sizeof *timer);
    struct timespec a, b;
    uint64_t events = 0;
    double seconds;

    if (!timer)
        return 3;
    queue_init(&queue);
    for (long i = 0; i < pending; i++) {
        timer_init(&timer[i], fire);
        queue_arm(&queue, &timer[i], i);
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    while (events < (uint64_t)millions * 1000000)
        events += queue_run(&queue, queue_next(&queue) + 1000000);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    seconds = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9;
    printf("heap %ld pending: %.1f million events/s, %.1f ns each\n", pending,
           (double)events / seconds / 1e6, seconds * 1e9 / (double)events);
    queue_free(&queue);
    free(timer);
    return 0;
}
