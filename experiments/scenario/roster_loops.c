/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Control loops and their replicas by name. */
#include "experiments/scenario/roster.h"

#include <stdlib.h>
#include <string.h>

size_t roster_find_group(const struct roster *r, const char *text, size_t *first, bool *several)
{
    const char *slash = strchr(text, '/'), *name = slash ? slash + 1 : text;
    const struct roster_domain *d;
    size_t found = 0;

    *several = false;
    for (size_t i = 0; i < r->groups; i++) {
        const struct roster_group *g = &r->group[i];
        const char *host = r->host[g->host].name;

        if (strcmp(g->name, name) || (slash && (strlen(host) != (size_t)(slash - text) ||
                                                strncmp(host, text, strlen(host)))))
            continue;
        if (found)
            *several = true;
        found = g->domains;
        *first = g->first;
    }
    if (found)
        return *several ? 0 : found;
    d = roster_find(r, text, several);
    if (d)
        *first = (size_t)(d - r->domain);
    return d ? 1 : 0;
}

static void add_replica(struct roster *r, struct roster_replica replica)
{
    struct roster_loop *l = &r->loop[r->loops - 1];

    r->replica = xrealloc(r->replica, (r->replicas + 1) * sizeof *r->replica);
    replica.loop = r->loops - 1;
    replica.index = (uint32_t)l->replicas++;
    r->replica[r->replicas++] = replica;
}

static void add_in_domains(struct roster *r, const struct replica_domain_spec *spec, size_t index)
{
    size_t first, count;
    bool several;

    if (!spec->domain)
        return;
    count = roster_find_group(r, spec->domain, &first, &several);
    for (size_t i = 0; i < count; i++) {
        const struct roster_domain *d = &r->domain[first + i];

        add_replica(
            r, (struct roster_replica){.name = xasprintf("%s/%s", r->host[d->host].name, d->name),
                                       .domain = first + i,
                                       .spec_index = index});
    }
}

static void add_on_nodes(struct roster *r, const struct replica_node_spec *spec, size_t index)
{
    for (int64_t k = 0; spec->on && k < spec->count; k++)
        add_replica(r, (struct roster_replica){.name = counted_name(spec->on, spec->count, k),
                                               .domain = SIZE_MAX,
                                               .node = &spec->node,
                                               .spec_index = index});
}

static void add_loop(struct roster *r, const struct loop_spec *spec, size_t index)
{
    const struct roster_domain *in;
    bool several;

    r->loop = xrealloc(r->loop, (r->loops + 1) * sizeof *r->loop);
    in = spec->in ? roster_find(r, spec->in, &several) : NULL;
    r->loop[r->loops++] = (struct roster_loop){.spec = spec,
                                               .on = spec->in   ? NULL
                                                     : spec->on ? spec->on
                                                                : spec->name,
                                               .domain = in ? (size_t)(in - r->domain) : SIZE_MAX,
                                               .spec_index = index,
                                               .first_replica = r->replicas};
    for (size_t i = 0; i < spec->replicas.count; i++) {
        const struct replica_spec *replica = loop_replica(spec, i);

        if (!replica->where.choice)
            continue;
        if (replica_place(replica) == REPLICA_IN_DOMAIN)
            add_in_domains(r, replica->where.data, i);
        else
            add_on_nodes(r, replica->where.data, i);
    }
}

void roster_add_loops(struct roster *r, const struct scenario *s)
{
    for (size_t i = 0; i < s->loops.count; i++)
        if (scenario_loop(s, i)->name)
            add_loop(r, scenario_loop(s, i), i);
}

void roster_free_loops(struct roster *r)
{
    for (size_t i = 0; i < r->replicas; i++)
        free(r->replica[i].name);
    free(r->replica);
    free(r->loop);
}

/* ---- machines -------------------------------------------------------------------------------- */

size_t roster_machines(const struct roster *r)
{
    size_t n = r->hosts + r->clients;

    for (size_t i = 0; i < r->loops; i++)
        n += r->loop[i].on != NULL;
    for (size_t i = 0; i < r->replicas; i++)
        n += r->replica[i].domain == SIZE_MAX;
    return n;
}

const char *roster_machine(const struct roster *r, size_t i, char **pointer)
{
    if (i < r->hosts) {
        *pointer =
            xasprintf("/hosts/%zu/%s", r->host[i].spec_index, r->host[i].spec->on ? "on" : "name");
        return r->host[i].on;
    }
    i -= r->hosts;
    if (i < r->clients) {
        *pointer = xasprintf("/clients/%zu/%s", r->client[i].spec_index,
                             r->client[i].spec->on ? "on" : "name");
        return r->client[i].on;
    }
    i -= r->clients;
    for (size_t k = 0; k < r->loops; k++)
        if (r->loop[k].on && !i--) {
            *pointer = xasprintf("/control/%zu/%s", r->loop[k].spec_index,
                                 r->loop[k].spec->on ? "on" : "name");
            return r->loop[k].on;
        }
    for (size_t k = 0; k < r->replicas; k++)
        if (r->replica[k].domain == SIZE_MAX && !i--) {
            *pointer = xasprintf("/control/%zu/replicas/%zu/on",
                                 r->loop[r->replica[k].loop].spec_index, r->replica[k].spec_index);
            return r->replica[k].name;
        }
    BUG("no machine of that number");
}
