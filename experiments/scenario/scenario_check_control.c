/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What control loops and the rest of a scenario must agree on. See scenario_check.c. */
#include "experiments/scenario/roster.h"
#include "workloads/controller.h"

#include <stdlib.h>
#include <string.h>

struct check {
    const struct scenario *s;
    const struct roster *r;
    const struct json *doc;
    struct errors *e;
};

/* An error at /control/LOOP/BELOW. */
#define WRONG(c, loop, below, ...)                                                                 \
    do {                                                                                           \
        char *at = xasprintf("/control/%zu/%s", loop, below);                                      \
        json_error_at((c)->doc, at, (c)->e, __VA_ARGS__);                                          \
        free(at);                                                                                  \
    } while (0)

/* ---- machines -------------------------------------------------------------------------------- */

/* Who else is on a host of the platform, as words; NULL: nobody. */
static char *also_on(const struct roster *r, const char *on, size_t loop, size_t replica)
{
    for (size_t i = 0; i < r->hosts; i++)
        if (!strcmp(r->host[i].on, on))
            return xasprintf("Xen host \"%s\"", r->host[i].name);
    for (size_t i = 0; i < r->clients; i++)
        if (!strcmp(r->client[i].on, on))
            return xasprintf("client \"%s\"", r->client[i].name);
    for (size_t i = 0; i < r->loops; i++)
        if (i != loop && r->loop[i].on && !strcmp(r->loop[i].on, on))
            return xasprintf("control loop \"%s\"", r->loop[i].spec->name);
    for (size_t i = 0; i < r->replicas; i++)
        if (i != replica && r->replica[i].domain == SIZE_MAX && !strcmp(r->replica[i].name, on))
            return xasprintf("another replica");
    return NULL;
}

static void check_machines(const struct check *c)
{
    const struct roster *r = c->r;
    char *other;

    for (size_t i = 0; i < r->loops; i++) {
        const struct roster_loop *l = &r->loop[i];

        other = l->on ? also_on(r, l->on, i, SIZE_MAX) : NULL;
        if (other)
            WRONG(c, l->spec_index, l->spec->on ? "on" : "name",
                  "the platform's host \"%s\" is %s already; name another in \"on\"", l->on, other);
        free(other);
    }
    for (size_t i = 0; i < r->replicas; i++) {
        const struct roster_replica *p = &r->replica[i];
        char *below = xasprintf("replicas/%zu/on", p->spec_index);

        other = p->domain == SIZE_MAX ? also_on(r, p->name, SIZE_MAX, i) : NULL;
        if (other)
            WRONG(c, r->loop[p->loop].spec_index, below, "the platform's host \"%s\" is %s already",
                  p->name, other);
        free(other);
        free(below);
    }
}

/* ---- domains --------------------------------------------------------------------------------- */

static size_t controllers_of(const struct domain_spec *d)
{
    size_t n = 0;

    for (size_t i = 0; i < d->programs.count; i++) {
        const struct param_choice *choice = domain_program(d, i)->run.choice;

        n += choice && choice->user == &program_controller;
    }
    return n;
}

static void check_network(const struct check *c, size_t loop, const char *below,
                          const struct roster_domain *d)
{
    if (!c->r->host[d->host].spec->dom0)
        WRONG(c, loop, below, "host \"%s\" has no network: add \"dom0\": {} to it",
              c->r->host[d->host].name);
    else if (d->id && !d->spec->network)
        WRONG(c, loop, below, "domain \"%s\" has no network: add \"network\": {} to it", d->name);
}

static void check_replica(const struct check *c, size_t loop, const struct roster_replica *p)
{
    const struct roster_domain *d = &c->r->domain[p->domain];
    char *below = xasprintf("replicas/%zu/domain", p->spec_index);

    if (controllers_of(d->spec) != 1)
        WRONG(c, loop, below, "domain \"%s\" must run the program \"controller\", once", d->name);
    check_network(c, loop, below, d);
    for (size_t i = 0; &c->r->replica[i] != p; i++)
        if (c->r->replica[i].domain == p->domain)
            WRONG(c, loop, below, "domain \"%s\" is a replica already", d->name);
    free(below);
}

/* The entry names no domain. */
static void check_found(const struct check *c, size_t loop, size_t index, const char *text)
{
    char *below = xasprintf("replicas/%zu/domain", index);
    size_t first;
    bool several;

    if (text && !roster_find_group(c->r, text, &first, &several))
        WRONG(c, loop, below,
              several ? "several hosts have a domain \"%s\": write \"HOST/DOMAIN\""
                      : "no domain \"%s\" in this scenario",
              text);
    free(below);
}

/* ---- a loop ---------------------------------------------------------------------------------- */

static bool is_zero(const struct distribution *d)
{
    return d->kind == DIST_CONSTANT && d->p[0] == 0;
}

static void check_agent(const struct check *c, const struct roster_loop *l)
{
    const struct loop_spec *spec = l->spec;
    const struct domain_spec *d;

    if (!spec->in)
        return;
    if (l->domain == SIZE_MAX) {
        WRONG(c, l->spec_index, "in", "no single domain \"%s\" in this scenario", spec->in);
        return;
    }
    d = c->r->domain[l->domain].spec;
    check_network(c, l->spec_index, "in", &c->r->domain[l->domain]);
    for (size_t i = 0; i < d->programs.count; i++)
        if (domain_program(d, i)->run.choice && program_port(domain_program(d, i)) == spec->port)
            WRONG(c, l->spec_index, "port", "port %lld of domain \"%s\" is taken by a program",
                  (long long)spec->port, spec->in);
    if (!is_zero(&spec->control.sensors.jitter))
        WRONG(c, l->spec_index, "sensors/jitter", "an agent in a domain has no jitter of its own");
    for (size_t i = 0; i < spec->control.paths; i++)
        if (!is_zero(&spec->control.path[i].delay))
            WRONG(c, l->spec_index, "paths", "with an agent in a domain, paths have no delay");
}

static void check_loop(const struct check *c, const struct roster_loop *l)
{
    const struct loop_spec *spec = l->spec;

    for (size_t i = 0; i < spec->replicas.count; i++) {
        const struct replica_spec *r = loop_replica(spec, i);

        if (r->where.choice && replica_place(r) == REPLICA_IN_DOMAIN)
            check_found(c, l->spec_index, i,
                        ((const struct replica_domain_spec *)r->where.data)->domain);
    }
    for (size_t i = 0; i < l->replicas; i++) {
        const struct roster_replica *p = &c->r->replica[l->first_replica + i];

        if (p->domain != SIZE_MAX)
            check_replica(c, l->spec_index, p);
    }
    if (l->replicas > CONTROL_REPLICAS)
        WRONG(c, l->spec_index, "replicas", "%zu replicas; a loop takes %d", l->replicas,
              CONTROL_REPLICAS);
    if (l->replicas && (size_t)spec->control.votes > l->replicas)
        WRONG(c, l->spec_index, "votes", "%lld votes of %zu replicas",
              (long long)spec->control.votes, l->replicas);
    check_agent(c, l);
}

int scenario_check_loops(const struct scenario *s, const struct roster *r, const struct json *doc,
                         struct errors *e)
{
    struct check c = {s, r, doc, e};
    size_t before = e->count;

    for (size_t i = 0; i < r->loops; i++) {
        for (size_t k = 0; k < i; k++)
            if (!strcmp(r->loop[i].spec->name, r->loop[k].spec->name))
                WRONG(&c, r->loop[i].spec_index, "name", "another control loop is named \"%s\"",
                      r->loop[i].spec->name);
        check_loop(&c, &r->loop[i]);
    }
    check_machines(&c);
    return e->count > before ? -1 : 0;
}
