/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workloads/client_host.h"

#include "sim/error.h"

#include <stdlib.h>

static void arrival(struct machine *m, struct packet *p)
{
    struct client_host *ch = m->model;
    uint32_t number = address_endpoint(p->a);

    if (number < ch->endpoints)
        ch->endpoint[number]->arrival(ch->endpoint[number], p, machine_now(m));
    else
        packet_free(p);
}

const struct machine_ops client_machine_ops = {.arrival = arrival};

struct client_host *client_host_new(struct machine *m)
{
    struct client_host *ch = xcalloc(1, sizeof *ch);

    ch->machine = m;
    m->model = ch;
    return ch;
}

void client_host_free(struct client_host *ch)
{
    for (uint32_t i = 0; i < ch->endpoints; i++)
        ch->endpoint[i]->release(ch->endpoint[i]);
    free(ch->endpoint);
    free(ch);
}

void client_host_add(struct client_host *ch, struct client_endpoint *e)
{
    e->number = ch->endpoints;
    ch->endpoint = xrealloc(ch->endpoint, (ch->endpoints + 1) * sizeof(struct client_endpoint *));
    ch->endpoint[ch->endpoints++] = e;
}
