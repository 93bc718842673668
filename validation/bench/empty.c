/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The least that a SimGrid program does: what hvsim's start-up is compared with. Argument: a
 * platform file. Uses SimGrid directly, being a measure of it. */
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <stdlib.h>

static void sleeper(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    sg_actor_sleep_for(1);
}

int main(int argc, char **argv)
{
    const char *name[] = {"sleeper", NULL};
    sg_host_t *hosts;

    if (argc < 2)
        return 2;
    simgrid_init(&argc, argv);
    simgrid_load_platform(argv[1]);
    hosts = sg_host_list();
    sg_actor_create_("sleeper", hosts[0], sleeper, 1, name);
    simgrid_run();
    free(hosts);
    return 0;
}
