/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What concerns several objects of a scenario at once: names that must differ, references that must
 * lead somewhere, sets of pCPUs that must fit.
 *
 * All of it is checked even if some members could not be read: those are zero then, and what
 * depends on them is passed over in silence.
 */
#include "experiments/scenario/actions.h"
#include "experiments/scenario/affinity.h"
#include "experiments/scenario/roster.h"
#include "experiments/scenario/scenario.h"
#include "models/schedulers/scheduler.h"
#include "sim/faults.h"
#include "workloads/programs.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { DOMAINS_MOST = 1000000 };

struct check {
    const struct scenario *s;
    const struct json *doc;
    const struct roster *roster;
    bool holes; /* names could not be read: what is missing may be among them */
    struct errors *e;
};

/* An error at a pointer, which is freed. */
static void wrong(const struct check *c, char *pointer, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void wrong(const struct check *c, char *pointer, const char *fmt, ...)
{
    va_list ap;
    char *text;

    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0)
        text = xstrdup(fmt);
    va_end(ap);
    json_error_at(c->doc, pointer, c->e, "%s", text);
    free(text);
    free(pointer);
}

/* ---- names ----------------------------------------------------------------------------------- */

struct named {
    const char *name;
    size_t scope; /* names of different scopes may be equal */
    char *pointer;
    size_t order;
};

struct names {
    struct named *item;
    size_t count, capacity;
};

static void names_add(struct names *n, const char *name, size_t scope, char *pointer)
{
    if (n->count == n->capacity) {
        n->capacity = n->capacity ? 2 * n->capacity : 64;
        n->item = xrealloc(n->item, n->capacity * sizeof *n->item);
    }
    n->item[n->count] = (struct named){name, scope, pointer, n->count};
    n->count++;
}

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    if (x->scope != y->scope)
        return x->scope < y->scope ? -1 : 1;
    return order ? order : x->order < y->order ? -1 : 1;
}

/* Report names that are given twice, each entry of the file once; frees the list. */
static void names_check(const struct check *c, struct names *n, const char *what)
{
    const char *last = "";

    if (n->count)
        qsort(n->item, n->count, sizeof *n->item, by_name);
    for (size_t i = 1; i < n->count; i++) {
        const struct named *a = &n->item[i - 1], *b = &n->item[i];

        if (a->scope != b->scope || strcmp(a->name, b->name) || !strcmp(last, b->pointer))
            continue;
        last = b->pointer;
        wrong(c, xstrdup(b->pointer), "two %s are named \"%s\", also by %s; give each its own name",
              what, b->name, a->pointer);
    }
    for (size_t i = 0; i < n->count; i++)
        free(n->item[i].pointer);
    free(n->item);
}

static char *domain_pointer(const struct check *c, const struct roster_domain *d, const char *below)
{
    size_t h = c->roster->host[d->host].spec_index;

    if (d->spec_index == SIZE_MAX)
        return xasprintf("/hosts/%zu/dom0%s", h, below);
    return xasprintf("/hosts/%zu/domains/%zu%s", h, d->spec_index, below);
}

static void check_names(const struct check *c)
{
    const struct roster *r = c->roster;
    struct names hosts = {0}, domains = {0}, clients = {0}, machines = {0};

    for (size_t i = 0; i < r->hosts; i++) {
        const struct roster_host *h = &r->host[i];

        names_add(&hosts, h->name, 0, xasprintf("/hosts/%zu/name", h->spec_index));
        names_add(&machines, h->on, 0,
                  xasprintf("/hosts/%zu/%s", h->spec_index, h->spec->on ? "on" : "name"));
    }
    for (size_t i = 0; i < r->domains; i++)
        names_add(&domains, r->domain[i].name, r->domain[i].host,
                  domain_pointer(c, &r->domain[i], "/name"));
    for (size_t i = 0; i < r->clients; i++)
        names_add(&clients, r->client[i].name, 0,
                  xasprintf("/clients/%zu/name", r->client[i].spec_index));
    names_check(c, &hosts, "hosts");
    names_check(c, &domains, "domains of a host");
    names_check(c, &clients, "clients");
    names_check(c, &machines, "hosts on one host of the platform");
}

/* Clients and Xen hosts do not share a machine. */
static void check_machines(const struct check *c)
{
    const struct roster *r = c->roster;

    for (size_t k = 0; k < r->clients; k++)
        for (size_t i = 0; i < r->hosts; i++)
            if (!strcmp(r->client[k].on, r->host[i].on))
                wrong(c,
                      xasprintf("/clients/%zu/%s", r->client[k].spec_index,
                                r->client[k].spec->on ? "on" : "name"),
                      "the platform's host \"%s\" is Xen host \"%s\" already; clients run on "
                      "others",
                      r->client[k].on, r->host[i].name);
}

/* ---- hosts, pools, affinities ---------------------------------------------------------------- */

/* pCPUs of a host; 0: not known yet. */
static uint32_t pcpus(const struct host_spec *h)
{
    return (uint32_t)h->pcpus;
}

/* Report pCPUs that the host does not have. True: there are none. */
static bool within(const struct check *c, const struct host_spec *h, const cpumask *m,
                   char *pointer)
{
    cpumask there = cpumask_first_n(pcpus(h)), beyond = cpumask_andnot(m, &there);
    char *text;

    if (!pcpus(h) || cpumask_empty(&beyond) || cpu_list_is_all(m)) {
        free(pointer);
        return true;
    }
    text = cpu_list_text(&beyond);
    wrong(c, pointer, "no pCPU %s: the host has pCPUs 0 to %u", text, pcpus(h) - 1);
    free(text);
    return false;
}

static void check_pools(const struct check *c, const struct host_spec *h, size_t index)
{
    cpumask taken = {{0}};
    struct names names = {0};

    for (size_t i = 0; i < h->pools.count; i++) {
        const struct pool_spec *p = host_pool(h, i);
        cpumask twice = cpumask_and(&taken, &p->cpus);

        within(c, h, &p->cpus, xasprintf("/hosts/%zu/pools/%zu/cpus", index, i));
        if (!cpumask_empty(&twice)) {
            char *text = cpu_list_text(&twice);

            wrong(c, xasprintf("/hosts/%zu/pools/%zu/cpus", index, i),
                  "pCPU %s is in an earlier pool too; a pCPU is in one pool at most", text);
            free(text);
        }
        taken = cpumask_or(&taken, &p->cpus);
        if (p->name)
            names_add(&names, p->name, 0, xasprintf("/hosts/%zu/pools/%zu/name", index, i));
    }
    names_check(c, &names, "pools");
}

static void check_topology(const struct check *c, const struct host_spec *h, size_t index)
{
    if (!pcpus(h))
        return;
    if (h->speeds.count > 1 && h->speeds.count != pcpus(h))
        wrong(c, xasprintf("/hosts/%zu/speeds", index),
              "%zu speeds for %u pCPUs: give one for all, or one each", h->speeds.count, pcpus(h));
    if (h->threads_per_core && pcpus(h) % h->threads_per_core)
        wrong(c, xasprintf("/hosts/%zu/threads_per_core", index),
              "%u pCPUs are no whole number of cores of %lld threads", pcpus(h),
              (long long)h->threads_per_core);
}

static const struct pool_spec *pool_of(const struct check *c, const struct host_spec *h,
                                       const struct domain_spec *d, const char *base)
{
    const char **names, *nearest;

    if (!d->pool)
        return h->pools.count ? host_pool(h, 0) : NULL;
    names = xcalloc(h->pools.count, sizeof *names);
    for (size_t i = 0; i < h->pools.count; i++) {
        names[i] = host_pool(h, i)->name;
        if (!names[i] || !strcmp(names[i], d->pool)) {
            free(names);
            return host_pool(h, i);
        }
    }
    nearest = nearest_name(d->pool, names, h->pools.count);
    if (!h->pools.count)
        wrong(c, xasprintf("%s/pool", base),
              "no pool \"%s\": the host has no \"pools\"; add them, or leave this out", d->pool);
    else if (nearest)
        wrong(c, xasprintf("%s/pool", base), "no pool \"%s\": did you mean \"%s\"?", d->pool,
              nearest);
    else
        wrong(c, xasprintf("%s/pool", base), "no pool \"%s\" on this host", d->pool);
    free(names);
    return NULL;
}

/* A hard affinity must leave a pCPU of the domain's pool. */
static void check_affinity(const struct check *c, const struct host_spec *h,
                           const struct pool_spec *pool, const cpumask *hard, const cpumask *soft,
                           const char *base)
{
    cpumask there = pool ? pool->cpus : cpumask_all(), left = cpumask_and(hard, &there);
    bool sound = within(c, h, hard, xasprintf("%s/hard_affinity", base));

    within(c, h, soft, xasprintf("%s/soft_affinity", base));
    if (sound && !cpumask_empty(hard) && !cpumask_empty(&there) && cpumask_empty(&left)) {
        char *has = cpu_list_text(&there);

        wrong(
            c, xasprintf("%s/hard_affinity", base),
            "none of these pCPUs is in the domain's pool, which has %s: its vCPUs could never run",
            has);
        free(has);
    }
}

static void check_vcpu_number(const struct check *c, const struct domain_spec *d, int64_t n,
                              char *pointer)
{
    if (d->vcpus && n >= d->vcpus)
        wrong(c, pointer, "no vCPU %lld: the domain has vCPUs 0 to %lld", (long long)n,
              (long long)d->vcpus - 1);
    else
        free(pointer);
}

static void check_program(const struct check *c, const struct host_spec *h,
                          const struct domain_spec *d, const struct program_spec *p, char *base)
{
    check_vcpu_number(c, d, p->vcpu, xasprintf("%s/vcpu", base));
    if (d->name && !d->network && p->run.choice && program_serves(p->run.choice->user))
        wrong(c, xasprintf("%s/run", base),
              "\"%s\" serves requests, but the domain has no network: add \"network\": {} to it",
              p->run.choice->name);
    if (!d->disk && p->run.choice && program_uses_disk(p->run.choice->user))
        wrong(c, xasprintf("%s/run", base),
              d->name ? "\"%s\" uses a disk, but the domain has none: add \"disk\": {} to it"
                      : "\"%s\" uses a disk, and dom0 has none: let another domain run it",
              p->run.choice->name);
    for (size_t i = 0; i < p->events.count; i++) {
        const struct wake_spec *w = SPEC_AT(p->events, struct wake_spec, i);

        if (pcpus(h) && w->pcpu >= (int)pcpus(h))
            wrong(c, xasprintf("%s/events/%zu/pcpu", base, i),
                  "no pCPU %d: the host has pCPUs 0 to %u", w->pcpu, pcpus(h) - 1);
    }
    free(base);
}

static void check_domain(const struct check *c, const struct host_spec *h,
                         const struct domain_spec *d, const char *base)
{
    const struct pool_spec *pool = pool_of(c, h, d, base);

    check_affinity(c, h, pool, &d->hard, &d->soft, base);
    if (d->cap > 100 * d->vcpus && d->vcpus)
        wrong(c, xasprintf("%s/cap", base),
              "%lld vCPUs cannot use more than %lld per cent; 0 means no cap", (long long)d->vcpus,
              (long long)d->vcpus * 100);
    if (d->network)
        check_vcpu_number(c, d, d->network->vcpu, xasprintf("%s/network/vcpu", base));
    if (d->network && !h->dom0)
        wrong(c, xasprintf("%s/network", base),
              "a network needs a dom0 on the host: add \"dom0\": {} to it");
    if (d->disk)
        check_vcpu_number(c, d, d->disk->vcpu, xasprintf("%s/disk/vcpu", base));
    if (d->disk && !h->dom0)
        wrong(c, xasprintf("%s/disk", base),
              "a disk needs a dom0 on the host: add \"dom0\": {} to it");
    for (size_t i = 0; i < d->programs.count; i++)
        check_program(c, h, d, domain_program(d, i), xasprintf("%s/programs/%zu", base, i));
    for (size_t i = 0; i < d->per_vcpu.count; i++) {
        const struct vcpu_spec *v = domain_exception(d, i);
        char *below = xasprintf("%s/per_vcpu/%zu", base, i);

        check_affinity(c, h, pool, &v->hard, &v->soft, below);
        for_each_cpu(n, &v->vcpus) if (!cpu_list_is_all(&v->vcpus) && n >= d->vcpus)
        {
            check_vcpu_number(c, d, n, xasprintf("%s/vcpus", below));
            break;
        }
        free(below);
    }
}

static void check_host(const struct check *c, const struct host_spec *h, size_t index)
{
    check_topology(c, h, index);
    check_pools(c, h, index);
    if (h->dom0) {
        char *base = xasprintf("/hosts/%zu/dom0", index);

        check_domain(c, h, h->dom0, base);
        free(base);
    }
    for (size_t i = 0; i < h->domains.count; i++) {
        char *base = xasprintf("/hosts/%zu/domains/%zu", index, i);

        check_domain(c, h, host_domain(h, i), base);
        free(base);
    }
}

/* ---- guests with a network ------------------------------------------------------------------- */

static void check_networks(const struct check *c, const struct host_spec *h, size_t index)
{
    int64_t guests = 0;

    for (size_t i = 0; i < h->domains.count; i++)
        if (host_domain(h, i)->network)
            guests += host_domain(h, i)->count;
    if (guests > ENDPOINTS - 1)
        wrong(c, xasprintf("/hosts/%zu/domains", index),
              "%lld domains with a network; a host takes %d", (long long)guests, ENDPOINTS - 1);
    if (h->dom0)
        check_vcpu_number(c, h->dom0, h->network.irq_vcpu,
                          xasprintf("/hosts/%zu/network/irq_vcpu", index));
}

int64_t program_port(const struct program_spec *p)
{
    const struct param_table *t = ((const struct program *)p->run.choice->user)->params;

    for (size_t i = 0; t && i < t->count; i++)
        if (!strcmp(t->row[i].name, "port") && t->row[i].size == sizeof(int64_t))
            return *(const int64_t *)(const void *)((const char *)p->run.data + t->row[i].offset);
    return 0;
}

/* ---- references to domains ------------------------------------------------------------------- */

/* The domain that a text names, or an error. NULL without one when it may be one of those that
 * could not be read. */
static const struct roster_domain *domain_named(const struct check *c, const char *text,
                                                char *pointer)
{
    const struct roster *r = c->roster;
    const char **names, *nearest;
    bool several;
    const struct roster_domain *d = roster_find(r, text, &several);

    if (d) {
        free(pointer);
        return d;
    }
    if (c->holes && !several) {
        free(pointer);
        return NULL;
    }
    if (several) {
        wrong(c, pointer, "several hosts have a domain \"%s\": write \"HOST/%s\"", text, text);
        return NULL;
    }
    names = xcalloc(r->domains, sizeof *names);
    for (size_t i = 0; i < r->domains; i++)
        names[i] = r->domain[i].name;
    nearest = nearest_name(strchr(text, '/') ? strchr(text, '/') + 1 : text, names, r->domains);
    free(names);
    if (nearest)
        wrong(c, pointer, "no domain \"%s\": did you mean \"%s\"?", text, nearest);
    else
        wrong(c, pointer, "no domain \"%s\" in this scenario", text);
    return NULL;
}

/* Is that domain a server for the client? Takes the pointer. */
static void check_target(const struct check *c, const struct client_spec *client, const char *to,
                         size_t index, char *pointer)
{
    const struct roster_domain *d = to ? domain_named(c, to, xstrdup(pointer)) : NULL;
    size_t servers = 0, fitting = 0;
    bool known = d != NULL, asks = !client->stream && !client->ping;

    for (size_t i = 0; known && i < d->spec->programs.count; i++) {
        const struct program_spec *p = domain_program(d->spec, i);

        known = p->run.choice != NULL; /* not read: it may have been the server */
        if (!known || !program_serves(p->run.choice->user))
            continue;
        servers++;
        fitting += program_port(p) == client->port;
    }
    if (known && !d->spec->network && d->id)
        wrong(c, xstrdup(pointer), "domain \"%s\" has no network: add \"network\": {} to it", to);
    if (known && asks && !servers)
        wrong(c, xstrdup(pointer), "no program of domain \"%s\" is a server", to);
    else if (known && asks && (client->port ? fitting != 1 : servers > 1))
        wrong(c, xasprintf("/clients/%zu/port", index),
              client->port ? "no server of domain \"%s\" has port %lld"
                           : "domain \"%s\" has several servers: say which port is meant",
              to, (long long)client->port);
    free(pointer);
}

static void check_client(const struct check *c, const struct client_spec *client, size_t index)
{
    size_t targets = 1 + client->also.count;

    check_target(c, client, client->to, index, xasprintf("/clients/%zu/to", index));
    for (size_t i = 0; i < client->also.count; i++)
        check_target(c, client, *SPEC_AT(client->also, char *, i), index,
                     xasprintf("/clients/%zu/also/%zu", index, i));
    if ((size_t)client->load.wait_for > targets)
        wrong(c, xasprintf("/clients/%zu/load/wait_for", index),
              "a request goes to %zu servers only", targets);
    if (client->stream && client->also.count)
        wrong(c, xasprintf("/clients/%zu/also", index), "a stream has one other end");
    if (client->stream && client->ping)
        wrong(c, xasprintf("/clients/%zu/ping", index), "there is a \"stream\" already");
}

static const struct action_kind *kind_of(const struct action_spec *a)
{
    return a->act.choice ? a->act.choice->user : NULL;
}

/* A domain that is created at run time: once, and nothing can be done to it before. */
static void check_created(const struct check *c, const struct action_spec *a, size_t index,
                          const struct roster_domain *d)
{
    bool creates = action_creates(kind_of(a)), several;

    if (creates && !d->id)
        wrong(c, xasprintf("/actions/%zu/target", index),
              "dom0 creates the others: it is there from the beginning");
    if (creates && !a->at)
        wrong(c, xasprintf("/actions/%zu/at", index),
              "a domain without an action \"create\" is there from the beginning: leave it out");
    for (size_t i = 0; i < c->s->actions.count; i++) {
        const struct action_spec *other = scenario_action(c->s, i);

        if (other == a || !action_creates(kind_of(other)) || !other->target ||
            roster_find(c->roster, other->target, &several) != d)
            continue;
        if (creates && i < index)
            wrong(c, xasprintf("/actions/%zu/target", index),
                  "a domain is created once, and this one is by /actions/%zu: describe another "
                  "one for a further life",
                  i);
        else if (!creates && a->at < other->at)
            wrong(c, xasprintf("/actions/%zu/at", index),
                  "the domain is not there yet: /actions/%zu creates it later", i);
    }
}

static void check_action(const struct check *c, const struct action_spec *a, size_t index)
{
    const struct action_kind *kind = kind_of(a);
    const struct roster_domain *d = NULL;

    if (a->at >= c->s->warmup + c->s->duration && c->s->duration)
        wrong(c, xasprintf("/actions/%zu/at", index),
              "the run is over by then: it ends at \"warmup\" plus \"duration\"");
    if (kind && a->target && !strcmp(kind->target, "domain"))
        d = domain_named(c, a->target, xasprintf("/actions/%zu/target", index));
    if (d)
        check_created(c, a, index, d);
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool too_many(const struct check *c)
{
    double domains = 0;

    for (size_t i = 0; i < c->s->hosts.count; i++) {
        const struct host_spec *h = scenario_host(c->s, i);

        for (size_t k = 0; k < h->domains.count; k++)
            domains += (double)h->count * (double)host_domain(h, k)->count;
    }
    if (domains <= DOMAINS_MOST)
        return false;
    wrong(c, xstrdup("/hosts"), "%.0f domains in all; %d are possible", domains, DOMAINS_MOST);
    return true;
}

static bool has_holes(const struct scenario *s)
{
    for (size_t i = 0; i < s->hosts.count; i++) {
        const struct host_spec *h = scenario_host(s, i);

        if (!h->name || !h->count)
            return true;
        for (size_t k = 0; k < h->domains.count; k++)
            if (!host_domain(h, k)->name || !host_domain(h, k)->count)
                return true;
    }
    return !s->hosts.count;
}

int scenario_check_pcpus(const struct scenario *s, const struct json *doc, struct errors *e)
{
    struct check c = {.s = s, .doc = doc, .e = e};
    size_t before = e->count;

    for (size_t i = 0; i < s->hosts.count; i++)
        check_host(&c, scenario_host(s, i), i);
    return e->count > before ? -1 : 0;
}

/* Is there such a value? */
static void check_calibrated(const struct check *c)
{
    for (size_t i = 0; i < c->s->calibrated.count; i++) {
        size_t before = c->e->count;

        params_find(scenario_format.table, json_root(c->doc), ((char **)c->s->calibrated.item)[i],
                    c->e);
        error_context(c->e, before, "/calibrated/%zu", i);
    }
}

int scenario_check(const struct scenario *s, const struct json *doc, struct errors *e)
{
    struct check c = {.s = s, .doc = doc, .e = e};
    size_t before = e->count;
    struct roster *r;

    scenario_check_pcpus(s, doc, e);
    scenario_check_exact(s, doc, e);
    if (too_many(&c))
        return -1;
    c.roster = r = roster_new(s);
    c.holes = has_holes(s);
    check_names(&c);
    check_machines(&c);
    for (size_t i = 0; i < s->hosts.count; i++)
        check_networks(&c, scenario_host(s, i), i);
    for (size_t i = 0; i < s->clients.count; i++)
        check_client(&c, scenario_client(s, i), i);
    for (size_t i = 0; i < s->actions.count; i++)
        check_action(&c, scenario_action(s, i), i);
    scenario_check_loops(s, r, doc, e);
    check_calibrated(&c);
    roster_free(r);
    return e->count > before ? -1 : 0;
}
