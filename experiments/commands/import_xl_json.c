/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * xl list -l: [ { "domid": 1, "config": { "c_info": {...}, "b_info": {...}, "disks": [...],
 * "nics": [...], ... } }, ... ], the JSON form of libxl_domain_config (Xen's
 * tools/libs/light/libxl_types.idl). Members at their defaults are left out by xl; those that say
 * nothing about scheduling are not looked at.
 */
#include "experiments/commands/import_xl_inside.h"
#include "sim/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {[JSON_NUMBER] = "a number",
                                         [JSON_STRING] = "a string",
                                         [JSON_ARRAY] = "an array",
                                         [JSON_OBJECT] = "an object"};

static void wrong(struct json_value v, struct errors *e, const char *wanted)
{
    char *found = json_show(v);

    json_error(v, e, "found %s: xl list -l has %s here", found, wanted);
    free(found);
}

/* A member that must be of a kind if it is there; JSON_NONE if it is not. */
static struct json_value member(struct json_value object, const char *key, enum json_kind kind,
                                struct errors *e)
{
    struct json_value v = json_member(object, key);

    if (!json_exists(v) || json_kind(v) == kind)
        return v;
    wrong(v, e, kind_names[kind]);
    return JSON_NONE;
}

static int64_t number(struct json_value object, const char *key, int64_t least, int64_t most,
                      int64_t otherwise, struct errors *e)
{
    struct json_value v = member(object, key, JSON_NUMBER, e);
    int64_t value = otherwise;

    if (json_exists(v) && (json_integer(v, &value) || value < least || value > most)) {
        json_error(v, e, "a whole number from %" PRId64 " to %" PRId64 " is wanted", least, most);
        return otherwise;
    }
    return value;
}

/* libxl_bitmap: the numbers of the bits that are set, ascending. As a list: "0-3,5". Returns how
 * many there are. */
static long bitmap(struct json_value v, char text[XL_CPUS], struct errors *e)
{
    long count = 0;
    int64_t first = -1, last = -1;
    size_t used = 0;

    text[0] = 0;
    for (struct json_value bit = json_first(v);; bit = json_next(bit)) {
        int64_t n = -1;

        if (json_exists(bit) && (json_integer(bit, &n) || n < 0 || n > 4095 || n <= last)) {
            json_error(bit, e, "the number of a pCPU or vCPU, in ascending order, is wanted");
            return count;
        }
        if (last >= 0 && n != last + 1) { /* the run of bits ends */
            used +=
                (size_t)snprintf(text + used, XL_CPUS - used, "%s%" PRId64, used ? "," : "", first);
            if (used < XL_CPUS && last > first)
                used += (size_t)snprintf(text + used, XL_CPUS - used, "-%" PRId64, last);
            if (used >= XL_CPUS) {
                json_error(v, e, "too many ranges of pCPUs");
                text[0] = 0;
                return count;
            }
            first = n;
        }
        if (!json_exists(bit))
            return count;
        if (first < 0)
            first = n;
        last = n;
        count++;
    }
}

static bool has_bit(struct json_value bits, long n)
{
    JSON_FOR_EACH(bit, bits)
    {
        int64_t value;

        if (!json_integer(bit, &value) && value == n)
            return true;
    }
    return false;
}

/* Affinities of the vCPUs that are online, as its vCPUs 0, 1, ...: the others never run. */
static void read_affinities(char text[][XL_CPUS], struct json_value masks, struct json_value online,
                            struct errors *e)
{
    long vcpu = 0, to = 0;

    JSON_FOR_EACH(mask, masks)
    {
        if (json_kind(mask) != JSON_ARRAY)
            wrong(mask, e, "an array of pCPUs");
        else if ((!json_exists(online) || has_bit(online, vcpu)) && to < XL_VCPUS) {
            if (!*text[to])
                bitmap(mask, text[to], e);
            to++;
        }
        vcpu++;
    }
}

static void read_scheduler(struct xl_domain *d, struct xl_pool *pool, struct json_value params,
                           struct errors *e)
{
    struct json_value sched = member(params, "sched", JSON_STRING, e);

    if (json_exists(sched) && strcmp(json_string(sched), "unknown") != 0 && !*pool->sched)
        xl_copy(pool->sched, sizeof pool->sched, json_string(sched));
    if (!d->weight)
        d->weight = (long)number(params, "weight", 1, 65535, 0, e);
    if (!d->cap)
        d->cap = (long)number(params, "cap", 0, 102400, 0, e);
    d->period_us = number(params, "period", 10, INT32_MAX, -1, e);
    d->budget_us = number(params, "budget", 10, INT32_MAX, -1, e);
    d->extratime = number(params, "extratime", 0, 1, -1, e);
}

static void read_build(struct xl_domain *d, struct xl_pool *pool, struct json_value build,
                       struct errors *e)
{
    struct json_value online = member(build, "avail_vcpus", JSON_ARRAY, e);
    int64_t most = number(build, "max_vcpus", 1, XL_VCPUS, 1, e);
    int64_t memory = number(build, "target_memkb", 0, INT64_MAX, 0, e);
    char text[XL_CPUS];
    long vcpus = json_exists(online) ? bitmap(online, text, e) : (long)most;

    if (vcpus > XL_VCPUS)
        json_error(online, e, "%d vCPUs at most", XL_VCPUS);
    else if (vcpus > d->vcpus)
        d->vcpus = vcpus;
    read_affinities(d->hard, member(build, "vcpu_hard_affinity", JSON_ARRAY, e), online, e);
    read_affinities(d->soft, member(build, "vcpu_soft_affinity", JSON_ARRAY, e), online, e);
    read_scheduler(d, pool, member(build, "sched_params", JSON_OBJECT, e), e);
    if (memory)
        snprintf(d->comment, sizeof d->comment, "%" PRId64 " MiB", memory / 1024);
    if (vcpus < most)
        snprintf(d->comment + strlen(d->comment), sizeof d->comment - strlen(d->comment),
                 "%s%" PRId64 " more vCPUs are offline", *d->comment ? ", " : "", most - vcpus);
}

static void note(struct xl_domain *d, const char *text)
{
    size_t used = strlen(d->comment);

    snprintf(d->comment + used, sizeof d->comment - used, "%s%s", used ? ", " : "", text);
}

static void read_devices(struct xl_domain *d, struct json_value config, struct errors *e)
{
    JSON_FOR_EACH(nic, member(config, "nics", JSON_ARRAY, e))
    {
        const char *bridge = json_string(json_member(nic, "bridge"));
        char text[XL_NAME + 8];

        snprintf(text, sizeof text, "NIC on %s", bridge ? bridge : "a bridge");
        note(d, text);
        d->nics++;
    }
    JSON_FOR_EACH(disk, member(config, "disks", JSON_ARRAY, e))
    {
        const char *path = json_string(json_member(disk, "pdev_path"));

        if (number(disk, "is_cdrom", 0, 1, 0, e))
            continue;
        note(d, path ? path : "a disk");
        d->disks++;
    }
    if (json_length(member(config, "pcidevs", JSON_ARRAY, e)))
        note(d,
             "has PCI devices of its own: if one is a NIC, its \"network\" wants \"attachment\": "
             "\"passthrough\"");
}

static void read_domain(struct xl_host *h, struct json_value domain, struct errors *e)
{
    struct json_value config = member(domain, "config", JSON_OBJECT, e);
    struct json_value create = member(config, "c_info", JSON_OBJECT, e);
    struct json_value name = member(create, "name", JSON_STRING, e);
    struct json_value pool = member(create, "pool_name", JSON_STRING, e);
    struct xl_domain *d;

    if (json_kind(domain) != JSON_OBJECT || !json_exists(config)) {
        wrong(domain, e, "a domain, an object with \"domid\" and \"config\",");
        return;
    }
    if (json_kind(json_member(domain, "domid")) == JSON_NULL)
        return; /* not running */
    if (!json_exists(name) || !json_exists(json_member(domain, "domid"))) {
        json_error(domain, e, "the domain's %s is missing",
                   json_exists(name) ? "\"domid\"" : "\"config\" / \"c_info\" / \"name\"");
        return;
    }
    d = xl_domain_of(h, json_string(name), (long)number(domain, "domid", 0, 0x7fef, 0, e));
    d->nics = d->disks = 0;
    d->comment[0] = 0;
    if (!*d->pool)
        xl_copy(d->pool, XL_NAME, json_exists(pool) ? json_string(pool) : "Pool-0");
    read_build(d, xl_pool_of(h, d->pool), member(config, "b_info", JSON_OBJECT, e), e);
    read_devices(d, config, e);
}

void xl_read_json(struct xl_host *h, const char *path, struct errors *e)
{
    struct json *doc = json_read(path, e);
    struct json_value root;

    if (!doc)
        return;
    root = json_root(doc);
    if (json_kind(root) == JSON_ARRAY) /* xl list -l */
        JSON_FOR_EACH(domain, root)
    read_domain(h, domain, e);
    else /* xl list -l DOMAIN */
        read_domain(h, root, e);
    json_free(doc);
}
