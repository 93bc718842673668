/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/commands/import_xl.h"

#include "experiments/commands/import_xl_inside.h"
#include "sim/json_writer.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 16, LINE = 1024, NAME = XL_NAME, VCPUS = XL_VCPUS };

/* What a line of columns is of. */
enum table { NO_TABLE, VCPU_LIST, CREDIT, CREDIT2, POOL_LIST, POOL_CPUS };

static size_t split(char *line, char *word[WORDS])
{
    size_t n = 0;

    for (char *at = strtok(line, " \t\r\n"); at && n < WORDS; at = strtok(NULL, " \t\r\n"))
        word[n++] = at;
    return n;
}

static bool whole(const char *text, long *value)
{
    char *end;

    *value = strtol(text, &end, 10);
    return end != text && !*end;
}

void xl_copy(char *to, size_t size, const char *from)
{
    size_t n = strnlen(from, size - 1);

    memcpy(to, from, n);
    to[n] = 0;
}

struct xl_domain *xl_domain_of(struct xl_host *h, const char *name, long id)
{
    for (size_t i = 0; i < h->domains; i++)
        if (h->domain[i].id == id)
            return &h->domain[i];
    h->domain = xrealloc(h->domain, (h->domains + 1) * sizeof *h->domain);
    h->domain[h->domains] =
        (struct xl_domain){.id = id, .period_us = -1, .budget_us = -1, .extratime = -1};
    xl_copy(h->domain[h->domains].name, NAME, name);
    return &h->domain[h->domains++];
}

struct xl_pool *xl_pool_of(struct xl_host *h, const char *name)
{
    for (size_t i = 0; i < h->pools; i++)
        if (!strcmp(h->pool[i].name, name))
            return &h->pool[i];
    h->pool = xrealloc(h->pool, (h->pools + 1) * sizeof *h->pool);
    h->pool[h->pools] = (struct xl_pool){.tslice_ms = -1, .ratelimit_us = -1};
    xl_copy(h->pool[h->pools].name, NAME, name);
    return &h->pool[h->pools++];
}

/* ---- lines ------------------------------------------------------------------------------------
 */

/* "key   : value" of xl info. */
static bool info_line(struct xl_host *h, const char *line)
{
    static const char *const numbers[] = {"nr_cpus", "threads_per_core", "cores_per_socket"};
    long *const into[] = {&h->cpus, &h->threads, &h->cores};
    char key[40], value[200];

    if (sscanf(line, " %39[a-z_] : %199[^\n]", key, value) != 2)
        return false;
    for (size_t i = 0; i < 3; i++)
        if (!strcmp(key, numbers[i]))
            return whole(value, into[i]);
    if (!strcmp(key, "host"))
        xl_copy(h->name, NAME, value);
    if (!strcmp(key, "xen_version"))
        xl_copy(h->version, sizeof h->version, value);
    return true;
}

/* "Cpupool Pool-0: tslice=30ms ratelimit=1000us migration-delay=0us" */
static struct xl_pool *pool_heading(struct xl_host *h, const char *line, const char *sched)
{
    char name[NAME];
    const char *at;
    struct xl_pool *p;

    if (sscanf(line, "Cpupool %64[^:]:", name) != 1)
        return NULL;
    p = xl_pool_of(h, name);
    if ((at = strstr(line, "tslice=")))
        p->tslice_ms = strtol(at + 7, NULL, 10);
    if ((at = strstr(line, "ratelimit=")))
        p->ratelimit_us = strtol(at + 10, NULL, 10);
    xl_copy(p->sched, sizeof p->sched, p->tslice_ms >= 0 ? "credit" : sched);
    return p;
}

/* Name ID VCPU CPU State Time(s) hard / soft */
static bool vcpu_line(struct xl_host *h, char *const *word, size_t n)
{
    long id, vcpu;
    struct xl_domain *d;

    if (n < 9 || !whole(word[1], &id) || !whole(word[2], &vcpu) || vcpu < 0 || vcpu >= VCPUS)
        return false;
    d = xl_domain_of(h, word[0], id);
    if (vcpu >= d->vcpus)
        d->vcpus = vcpu + 1;
    xl_copy(d->hard[vcpu], sizeof *d->hard, word[6]);
    xl_copy(d->soft[vcpu], sizeof *d->soft, word[8]);
    return true;
}

/* Name ID Weight Cap */
static bool weight_line(struct xl_host *h, const struct xl_pool *pool, char *const *word, size_t n)
{
    long id, weight, cap;
    struct xl_domain *d;

    if (n < 4 || !whole(word[1], &id) || !whole(word[2], &weight) || !whole(word[3], &cap))
        return false;
    d = xl_domain_of(h, word[0], id);
    d->weight = weight;
    d->cap = cap;
    xl_copy(d->pool, NAME, pool ? pool->name : "Pool-0");
    return true;
}

/* Name CPUs Sched Active Domains; with -c: Name and the list of CPUs. */
static bool pool_line(struct xl_host *h, enum table table, char *const *word, size_t n)
{
    long cpus;

    if (n < 2)
        return false;
    if (table == POOL_CPUS) {
        xl_copy(xl_pool_of(h, word[0])->cpus, sizeof xl_pool_of(h, word[0])->cpus, word[1]);
        return true;
    }
    if (n < 3 || !whole(word[1], &cpus))
        return false;
    xl_copy(xl_pool_of(h, word[0])->sched, sizeof xl_pool_of(h, word[0])->sched, word[2]);
    return true;
}

static enum table heading(const char *line)
{
    if (strstr(line, "VCPU") && strstr(line, "Affinity"))
        return VCPU_LIST;
    if (strstr(line, "Sched") && strstr(line, "CPUs"))
        return POOL_LIST;
    if (strstr(line, "CPU list"))
        return POOL_CPUS;
    return NO_TABLE;
}

/* Does it begin as JSON does? The file is where it was then. */
static bool is_json(FILE *f)
{
    int c;

    while ((c = fgetc(f)) != EOF && isspace(c))
        ;
    rewind(f);
    return c == '[' || c == '{';
}

static void read_file(struct xl_host *h, const char *path, struct errors *e)
{
    FILE *f = fopen(path, "r");
    enum table table = NO_TABLE;
    struct xl_pool *pool = NULL;
    char line[LINE], first[LINE];
    bool understood = false;
    int number = 0;

    if (!f) {
        error_add(e, EXIT_INPUT, "%s: %s", path, strerror(errno));
        return;
    }
    if (is_json(f)) {
        fclose(f);
        xl_read_json(h, path, e);
        return;
    }
    while (fgets(line, sizeof line, f)) {
        char *word[WORDS];
        struct xl_pool *p;
        bool ok = true;

        number++;
        if (line[strspn(line, " \t\r\n")] == 0)
            continue;
        xl_copy(first, sizeof first, line);
        if ((p = pool_heading(h, line, "credit2"))) {
            pool = p;
            table = p->tslice_ms >= 0 ? CREDIT : CREDIT2;
        } else if (heading(line) != NO_TABLE) {
            table = heading(line);
        } else if (table == NO_TABLE) {
            ok = info_line(h, line);
        } else {
            size_t n = split(line, word);

            if (n && !strcmp(word[0], "Name"))
                continue; /* the columns of a scheduler's table */
            ok = table == VCPU_LIST                         ? vcpu_line(h, word, n)
                 : table == POOL_LIST || table == POOL_CPUS ? pool_line(h, table, word, n)
                                                            : weight_line(h, pool, word, n);
        }
        if (!ok)
            error_add(e, EXIT_INPUT, "%s:%d: not understood: %.60s", path, number, first);
        understood = true;
    }
    fclose(f);
    if (!understood)
        error_add(e, EXIT_INPUT,
                  "%s: is empty; give what xl info, xl vcpu-list, xl list -l, xl sched-credit, "
                  "xl sched-credit2 or xl cpupool-list printed",
                  path);
}

/* ---- the scenario ------------------------------------------------------------------------------
 */

/* The version of the host's rules that is nearest to what xl info says. */
static const char *rules_of(const char *version)
{
    int major = 0, minor = 0, patch = 0;

    if (sscanf(version, "%d.%d.%d", &major, &minor, &patch) < 2 || major != 4)
        return "4.17";
    return minor >= 18 ? "4.18"
           : minor > 7 ? "4.17"
           : minor < 7 ? "4.6"
           : patch     ? "4.7.1"
                       : "4.7.0";
}

/* Names may hold letters, digits and some signs only. */
static void clean_name(char *name)
{
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && !strchr("_-.:", *name))
            *name = '_';
}

static void put_scheduler(struct json_writer *w, const struct xl_pool *p)
{
    char text[40];

    json_begin_inline(w, "scheduler", '{');
    json_put_string(w, "type", *p->sched ? p->sched : "credit2");
    if (p->tslice_ms >= 0) {
        snprintf(text, sizeof text, "%ldms", p->tslice_ms);
        json_put_string(w, "tslice", text);
    }
    if (p->ratelimit_us >= 0) {
        snprintf(text, sizeof text, "%ldus", p->ratelimit_us);
        json_put_string(w, "ratelimit", text);
    }
    json_end(w);
}

/* A list of all of the host's pCPUs, which xl list -l spells out, is no restriction. */
static const char *affinity(const struct xl_host *h, const char *cpus)
{
    long last;
    int end = 0;

    if (!*cpus)
        return "all";
    if (sscanf(cpus, "0-%ld%n", &last, &end) == 1 && !cpus[end] && last >= h->cpus - 1)
        return "all";
    return cpus;
}

static bool same_everywhere(const char (*mask)[XL_CPUS], long n)
{
    for (long i = 1; i < n; i++)
        if (strcmp(mask[i], mask[0]))
            return false;
    return true;
}

static void put_microseconds(struct json_writer *w, const char *key, int64_t us)
{
    char text[40];

    if (us < 0)
        return;
    snprintf(text, sizeof text, "%" PRId64 "us", us);
    json_put_string(w, key, text);
}

/* Period and budget are the domain's in xl, each vCPU's in Xen. */
static void put_reservation(struct json_writer *w, const struct xl_domain *d)
{
    json_begin_inline(w, "set", '{');
    json_put_string(w, "scheduler", "rtds");
    put_microseconds(w, "period", d->period_us);
    put_microseconds(w, "budget", d->budget_us);
    if (d->extratime >= 0)
        json_put_boolean(w, "extratime", d->extratime);
    json_end(w);
}

static void put_vcpus(struct json_writer *w, const struct xl_host *h, const struct xl_domain *d)
{
    bool same = same_everywhere(d->hard, d->vcpus) && same_everywhere(d->soft, d->vcpus);
    bool reserved = d->period_us >= 0;

    if (!d->vcpus)
        return;
    if (same) {
        if (strcmp(affinity(h, d->hard[0]), "all"))
            json_put_string(w, "hard_affinity", d->hard[0]);
        if (strcmp(affinity(h, d->soft[0]), "all"))
            json_put_string(w, "soft_affinity", d->soft[0]);
        if (!reserved)
            return;
    }
    json_begin(w, "per_vcpu", '[');
    for (long i = 0; i < (same ? 1 : d->vcpus); i++) {
        char number[24];

        snprintf(number, sizeof number, "%ld", i);
        json_begin_inline(w, NULL, '{');
        json_put_string(w, "vcpus", same ? "all" : number);
        if (!same) {
            json_put_string(w, "hard_affinity", affinity(h, d->hard[i]));
            json_put_string(w, "soft_affinity", affinity(h, d->soft[i]));
        }
        if (reserved)
            put_reservation(w, d);
        json_end(w);
    }
    json_end(w);
}

/* With the defaults of everything. */
static void put_empty(struct json_writer *w, const char *key)
{
    json_begin_inline(w, key, '{');
    json_end(w);
}

static void put_domain(struct json_writer *w, const struct xl_host *h, struct xl_domain *d)
{
    bool dom0 = d->id == 0;

    clean_name(d->name);
    json_begin(w, dom0 ? "dom0" : NULL, '{');
    if (!dom0)
        json_put_string(w, "name", d->name);
    if (*d->comment)
        json_put_string(w, "comment", d->comment);
    json_put_integer(w, "vcpus", d->vcpus ? d->vcpus : 1);
    if (d->weight)
        json_put_integer(w, "weight", d->weight);
    if (d->cap)
        json_put_integer(w, "cap", d->cap);
    if (h->pools > 1 && *d->pool && strcmp(d->pool, h->pool[0].name))
        json_put_string(w, "pool", d->pool);
    put_vcpus(w, h, d);
    if (!dom0 && d->nics)
        put_empty(w, "network");
    if (!dom0 && d->disks)
        put_empty(w, "disk");
    if (!dom0) {
        json_begin(w, "programs", '[');
        json_begin_inline(w, NULL, '{');
        json_begin_inline(w, "run", '{');
        json_put_string(w, "type", "lookbusy");
        json_put_string(w, "busy", "20%");
        json_end(w);
        json_end(w);
        json_end(w);
    }
    json_end(w);
}

static void put_pools(struct json_writer *w, const struct xl_host *h)
{
    if (h->pools == 1) {
        put_scheduler(w, &h->pool[0]);
        return;
    }
    json_begin(w, "pools", '[');
    for (size_t i = 0; i < h->pools; i++) {
        json_begin(w, NULL, '{');
        json_put_string(w, "name", h->pool[i].name);
        json_put_string(w, "cpus", h->pool[i].cpus);
        put_scheduler(w, &h->pool[i]);
        json_end(w);
    }
    json_end(w);
}

static void write_scenario(struct xl_host *h, FILE *out)
{
    struct json_writer w = json_writer(out, JSON_LINES);
    char *title = xasprintf("Host %s, as xl showed it", *h->name ? h->name : "xen");

    json_begin(&w, NULL, '{');
    json_put_integer(&w, "version", 1);
    json_put_string(&w, "comment",
                    "Made from the output of xl. What the guests do is not to be seen there: "
                    "replace the lookbusy programs, and add networks and clients.");
    json_put_string(&w, "title", title);
    json_put_integer(&w, "replications", 10);
    json_put_string(&w, "warmup", "2s");
    json_put_string(&w, "duration", "20s");
    json_put_string(&w, "platform", "one-host.platform.xml");
    json_begin(&w, "hosts", '[');
    json_begin(&w, NULL, '{');
    json_put_string(&w, "name", "xen");
    json_put_string(&w, "xen", rules_of(h->version));
    json_put_integer(&w, "pcpus", h->cpus);
    if (h->threads > 1)
        json_put_integer(&w, "threads_per_core", h->threads);
    if (h->cores > 0)
        json_put_integer(&w, "cores_per_socket", h->cores);
    put_pools(&w, h);
    for (size_t i = 0; i < h->domains; i++)
        if (h->domain[i].id == 0)
            put_domain(&w, h, &h->domain[i]);
    json_begin(&w, "domains", '[');
    for (size_t i = 0; i < h->domains; i++)
        if (h->domain[i].id != 0)
            put_domain(&w, h, &h->domain[i]);
    json_end(&w);
    json_end(&w);
    json_end(&w);
    json_end(&w);
    fputc('\n', out);
    free(title);
}

static void check(struct xl_host *h, struct errors *e)
{
    if (h->cpus < 1)
        error_add(e, EXIT_INPUT, "the number of pCPUs is not told; add the output of xl info");
    if (!h->domains)
        error_add(e, EXIT_INPUT,
                  "no domains are told; add the output of xl vcpu-list or "
                  "xl list -l");
    if (!h->pools)
        xl_copy(xl_pool_of(h, "Pool-0")->sched, sizeof h->pool->sched, "credit2");
    for (size_t i = 0; i < h->pools && h->pools > 1; i++)
        if (!*h->pool[i].cpus)
            error_add(e, EXIT_INPUT,
                      "the pCPUs of pool %s are not told; add the output of xl cpupool-list -c",
                      h->pool[i].name);
}

int import_xl(char *const *path, int count, FILE *out, struct errors *e)
{
    struct xl_host h = {.threads = 1};
    size_t before = e->count;

    for (int i = 0; i < count; i++)
        read_file(&h, path[i], e);
    if (e->count == before)
        check(&h, e);
    if (e->count == before)
        write_scenario(&h, out);
    free(h.domain);
    free(h.pool);
    return e->count > before ? -1 : 0;
}
