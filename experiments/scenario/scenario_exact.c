/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * "exact": every cost is zero. Costs are the durations in the tables of costs; which tables these
 * are is said here once, for the check and for the setting.
 */
#include "experiments/scenario/scenario.h"
#include "models/hypervisor/costs.h"

#include <stdlib.h>
#include <string.h>

/* Visits one table of costs and what the file says of it. */
typedef void visit_fn(const struct param_table *t, void *target, const char *pointer, void *ctx);

static void each_table(const struct param_table *t, void *target, const char *pointer,
                       visit_fn *visit, void *ctx)
{
    visit(t, target, pointer, ctx);
    for (size_t i = 0; i < t->count; i++)
        if (t->row[i].kind == PARAM_OBJECT) {
            char *below = xasprintf("%s/%s", pointer, t->row[i].name);

            each_table(t->row[i].table, (char *)target + t->row[i].offset, below, visit, ctx);
            free(below);
        }
}

static void each_of_domain(struct domain_spec *d, const char *base, visit_fn *visit, void *ctx)
{
    char *costs = xasprintf("%s/costs", base), *network = xasprintf("%s/network", base);
    char *disk = xasprintf("%s/disk", base);

    each_table(&guest_cost_table, &d->costs, costs, visit, ctx);
    if (d->network)
        each_table(&vif_table, d->network, network, visit, ctx);
    if (d->disk)
        each_table(&vbd_table, d->disk, disk, visit, ctx);
    free(disk);
    free(costs);
    free(network);
}

static void each_of_host(struct host_spec *h, size_t index, visit_fn *visit, void *ctx)
{
    char *costs = xasprintf("/hosts/%zu/costs", index);
    char *network = xasprintf("/hosts/%zu/network", index);
    char *block = xasprintf("/hosts/%zu/block", index);
    char *dom0 = xasprintf("/hosts/%zu/dom0", index);

    each_table(&host_cost_params, &h->costs, costs, visit, ctx);
    each_table(&net_table, &h->network, network, visit, ctx);
    each_table(&block_table, &h->block, block, visit, ctx);
    free(block);
    if (h->dom0)
        each_of_domain(h->dom0, dom0, visit, ctx);
    for (size_t i = 0; i < h->domains.count; i++) {
        char *base = xasprintf("/hosts/%zu/domains/%zu", index, i);

        each_of_domain(host_domain(h, i), base, visit, ctx);
        free(base);
    }
    free(costs);
    free(network);
    free(dom0);
}

static void each_cost(const struct scenario *s, visit_fn *visit, void *ctx)
{
    for (size_t i = 0; i < s->hosts.count; i++)
        each_of_host(scenario_host(s, i), i, visit, ctx);
}

/* Rows that "exact" sets to zero: those whose range has a zero. (A period of a tick has none.) */
static bool can_be_zero(const struct param *p)
{
    char why[QUANTITY_WHY];
    int64_t value;

    return p->kind == PARAM_DURATION && !param_parse(p, "0", &value, why);
}

static void zero(const struct param_table *t, void *target, const char *pointer, void *ctx)
{
    (void)pointer;
    (void)ctx;
    for (size_t i = 0; i < t->count; i++)
        if (can_be_zero(&t->row[i]))
            memset((char *)target + t->row[i].offset, 0, t->row[i].size);
}

void scenario_apply_exact(struct scenario *s)
{
    if (!s->exact)
        return;
    each_cost(s, zero, NULL);
    for (size_t i = 0; i < s->hosts.count; i++) {
        struct host_spec *h = scenario_host(s, i);

        h->costs.smt_factor = 100;
        h->boot_spread = 0;
        if (h->dom0)
            h->dom0->start_spread = 0;
        for (size_t k = 0; k < h->domains.count; k++)
            host_domain(h, k)->start_spread = 0;
    }
    for (size_t i = 0; i < s->clients.count; i++)
        scenario_client(s, i)->start_spread = 0;
    for (size_t i = 0; i < s->loops.count; i++)
        scenario_loop(s, i)->start_spread = 0;
}

struct conflict {
    const struct json *doc;
    struct errors *e;
};

/* A cost that the file gives is a contradiction, unless it is zero. */
static void refuse(const struct param_table *t, void *target, const char *pointer, void *ctx)
{
    const struct conflict *c = ctx;

    for (size_t i = 0; i < t->count; i++) {
        const struct param *p = &t->row[i];
        char *at = xasprintf("%s/%s", pointer, p->name);
        int64_t value = 0;

        if (can_be_zero(p))
            memcpy(&value, (char *)target + p->offset, sizeof value);
        if (value && json_exists(json_at(c->doc, at)))
            json_error_at(c->doc, at, c->e,
                          "\"exact\" sets all costs to zero; remove this, or \"exact\"");
        free(at);
    }
}

int scenario_check_exact(const struct scenario *s, const struct json *doc, struct errors *e)
{
    struct conflict c = {doc, e};
    size_t before = e->count;

    if (s->exact)
        each_cost(s, refuse, &c);
    return e->count > before ? -1 : 0;
}
