/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "experiments/scenario/roster.h"

#include <stdlib.h>
#include <string.h>

/* Room for one more in an array that doubles. */
#define GROW(array, count)                                                                         \
    do {                                                                                           \
        if (((count) & ((count)-1)) == 0)                                                          \
            (array) = xrealloc(array, ((count) ? 2 * (count) : 1) * sizeof *(array));              \
    } while (0)

static void add_domains(struct roster *r, const struct domain_spec *d, size_t spec_index,
                        const char *name)
{
    int64_t count = spec_index == SIZE_MAX ? 1 : d->count;
    struct roster_host *h = &r->host[r->hosts - 1];

    if (!name)
        return;
    GROW(r->group, r->groups);
    r->group[r->groups++] = (struct roster_group){name, r->hosts - 1, r->domains, (size_t)count};
    for (int64_t k = 0; k < count; k++) {
        GROW(r->domain, r->domains);
        r->domain[r->domains++] = (struct roster_domain){
            .spec = d,
            .name = counted_name(name, count, k),
            .host = r->hosts - 1,
            .spec_index = spec_index,
            .id = spec_index == SIZE_MAX ? 0 : (uint32_t)h->domains + !h->spec->dom0,
            .group = r->groups - 1};
        h->domains++;
    }
}

static void add_host(struct roster *r, const struct host_spec *h, size_t spec_index, int64_t k)
{
    GROW(r->host, r->hosts);
    r->host[r->hosts++] = (struct roster_host){
        .spec = h,
        .name = counted_name(h->name, h->count, k),
        .on = counted_name(h->on ? h->on : h->name, h->count, k),
        .spec_index = spec_index,
        .first_domain = r->domains,
    };
    if (h->dom0)
        add_domains(r, h->dom0, SIZE_MAX, "dom0");
    for (size_t i = 0; i < h->domains.count; i++)
        add_domains(r, host_domain(h, i), i, host_domain(h, i)->name);
}

static void add_client(struct roster *r, const struct client_spec *c, size_t spec_index, int64_t k)
{
    GROW(r->client, r->clients);
    r->client[r->clients++] = (struct roster_client){
        .spec = c,
        .name = counted_name(c->name, c->count, k),
        .on = c->on ? xstrdup(c->on) : counted_name(c->name, c->count, k),
        .spec_index = spec_index,
    };
}

static int by_name(const void *a, const void *b, void *roster)
{
    const struct roster *r = roster;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = strcmp(r->domain[x].name, r->domain[y].name);

    return order ? order : (x > y) - (x < y);
}

struct roster *roster_new(const struct scenario *s)
{
    struct roster *r = xcalloc(1, sizeof *r);

    for (size_t i = 0; i < s->hosts.count; i++)
        for (int64_t k = 0; scenario_host(s, i)->name && k < scenario_host(s, i)->count; k++)
            add_host(r, scenario_host(s, i), i, k);
    for (size_t i = 0; i < s->clients.count; i++)
        for (int64_t k = 0; scenario_client(s, i)->name && k < scenario_client(s, i)->count; k++)
            add_client(r, scenario_client(s, i), i, k);
    r->by_name = xcalloc(r->domains, sizeof *r->by_name);
    for (uint32_t i = 0; i < r->domains; i++)
        r->by_name[i] = i;
    qsort_r(r->by_name, r->domains, sizeof *r->by_name, by_name, r);
    roster_add_loops(r, s);
    return r;
}

void roster_free(struct roster *r)
{
    if (!r)
        return;
    roster_free_loops(r);
    for (size_t i = 0; i < r->hosts; i++) {
        free(r->host[i].name);
        free(r->host[i].on);
    }
    for (size_t i = 0; i < r->domains; i++)
        free(r->domain[i].name);
    for (size_t i = 0; i < r->clients; i++) {
        free(r->client[i].name);
        free(r->client[i].on);
    }
    free(r->host);
    free(r->domain);
    free(r->group);
    free(r->client);
    free(r->by_name);
    free(r);
}

/* First of by_name whose name is not before `name`. */
static size_t lower_bound(const struct roster *r, const char *name)
{
    size_t low = 0, high = r->domains;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (strcmp(r->domain[r->by_name[middle]].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct roster_domain *roster_find(const struct roster *r, const char *text, bool *several)
{
    const char *slash = strchr(text, '/'), *name = slash ? slash + 1 : text;
    const struct roster_domain *found = NULL;

    *several = false;
    for (size_t i = lower_bound(r, name); i < r->domains; i++) {
        const struct roster_domain *d = &r->domain[r->by_name[i]];
        const char *host = r->host[d->host].name;

        if (strcmp(d->name, name))
            break;
        if (slash &&
            (strlen(host) != (size_t)(slash - text) || strncmp(host, text, (size_t)(slash - text))))
            continue;
        if (found) {
            *several = true;
            return NULL;
        }
        found = d;
    }
    return found;
}
