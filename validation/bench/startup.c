/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Start-up of a simulation as hvsim does it (probe in a child, load, fork, bind, run), for a world
 * that has nothing to do. Argument: a platform file and two of its hosts.
 */
#define _GNU_SOURCE
#include "sim/error.h"
#include "sim/simgrid.h"
#include "sim/wire.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct machine_ops ops;

int main(int argc, char **argv)
{
    struct platform_options o = {.end = NS_PER_S};
    struct errors e = ERRORS_NONE;
    struct platform_report r;
    struct machine machine[2];
    struct fleet f;
    int status;

    if (argc < 4)
        return 2;
    o.file = argv[1];
    fleet_init(&f);
    for (int i = 0; i < 2; i++) {
        machine_init(&machine[i], argv[2 + i], &ops, NULL);
        fleet_add(&f, &machine[i]);
    }
    fleet_connect_all(&f);
    if (platform_probe(&o, &f, &e)) {
        fprintf(stderr, "%s\n", e.item[0].text);
        return 2;
    }
    platform_load(&o);
    if (fork() == 0)
        platform_exit(platform_bind(&f, &e) || platform_run(&o, &f, NULL, &r, &e));
    wait(&status);
    platform_exit(status != 0);
}
