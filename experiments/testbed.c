/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/testbed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 12 VMs: of the set-ups tried (30, 50, 80 % with and without lookbusy's corrections, 3 and 4
 * pCPUs, dom0 apart or sharing) the one whose tails keep their length up to seven servers, as
 * published: hogs of 30 % leave pCPUs idle as soon as four VMs serve. 24 VMs: the load, 95 % of one
 * CPU, says one pCPU; dom0 apart. */
const struct testbed_choices testbed_12vm = {
    .pcpus = 4, .dom0_vcpus = 1, .dom0_apart = true, .busy = 80, .idle_enter = 4, .seconds = 120};
const struct testbed_choices testbed_24vm = {.pcpus = 1,
                                             .dom0_vcpus = 1,
                                             .dom0_apart = true,
                                             .feedback = true,
                                             .idle_enter = 4,
                                             .seconds = 120};

enum { VMS_12 = 12, VMS_24 = 24 };

/* Requests per second of a client that never waits: the scripts' arguments. */
enum { RATE_12 = 250, RATE_24_RPC = 80, RATE_24_MEMCACHED = 50 };
enum { OTHERS_24_RPC = 400, OTHERS_24_MEMCACHED = 500 };

/* CPU time of a service, us (assumed): Thrift's calculator with a line of output; a GET. */
static const int demand_us[] = {[TESTBED_RPC] = 60, [TESTBED_MEMCACHED] = 15};
static const char *const program[] = {[TESTBED_RPC] = "rpc", [TESTBED_MEMCACHED] = "memcached"};

struct text {
    FILE *out;
    char *data;
    size_t size;
};

static void begin(struct text *t, const struct testbed_choices *c, const char *title,
                  const char *scheduler, int replications)
{
    int pcpus = c->pcpus + c->dom0_apart;

    t->out = open_memstream(&t->data, &t->size);
    if (!t->out)
        BUG("no memory stream");
    fprintf(t->out,
            "{\"version\": 1, \"title\": \"%s\", \"seed\": 1, \"replications\": %d, "
            "\"warmup\": \"5s\", \"duration\": \"%ds\", \"platform\": \"one-host.platform.xml\", "
            "\"hosts\": [{\"name\": \"xen\", \"xen\": \"4.7.1\", \"pcpus\": %d, \"scheduler\": ",
            title, replications, c->seconds, pcpus);
    /* The authors ran their prototype. */
    if (!strcmp(scheduler, "terriertail"))
        fprintf(t->out, "{\"type\": \"terriertail\", \"policy\": \"as-coded\"}");
    else
        fprintf(t->out, "\"%s\"", scheduler);
    fprintf(t->out,
            ", \"dom0\": {\"vcpus\": %d%s, \"programs\": [{\"run\": {\"type\": \"burst_sleep\", "
            "\"compute\": \"50us\", \"sleep\": \"10ms\"}, \"name\": \"housekeeping\"}]}, "
            "\"domains\": [",
            c->dom0_vcpus, c->dom0_apart ? ", \"hard_affinity\": \"0\"" : "");
}

/* What all guests have in common. */
static void guest(struct text *t, const struct testbed_choices *c, bool first, const char *name,
                  int count)
{
    fprintf(t->out, "%s{\"name\": \"%s\", \"count\": %d, \"costs\": {\"idle_enter\": \"%dus\"}",
            first ? "" : ", ", name, count, c->idle_enter);
    if (c->dom0_apart)
        fprintf(t->out, ", \"hard_affinity\": \"1-%d\"", c->pcpus);
}

static void client(struct text *t, bool first, const char *name, const char *to, int rate,
                   enum testbed_service service)
{
    fprintf(t->out,
            "%s{\"name\": \"%s\", \"on\": \"client\", \"to\": \"%s\", \"load\": {\"think\": "
            "\"exponential(%dus)\", \"demand\": \"%dus\"}}",
            first ? "" : ", ", name, to, 1000000 / rate, demand_us[service]);
}

static struct json *end(struct text *t, struct errors *e)
{
    struct json *doc;

    fputs("]}", t->out);
    fclose(t->out);
    doc = json_parse("(testbed)", t->data, t->size, e);
    free(t->data);
    return doc;
}

static void server_name(char name[24], int i)
{
    snprintf(name, 24, "server%d", i + 1);
}

static void servers_and_clients(struct text *t, const struct testbed_choices *c,
                                enum testbed_service service, int servers, int rate, int others,
                                int own_busy, int hogs, int busy)
{
    char name[24], load[24];

    for (int i = 0; i < servers; i++) {
        server_name(name, i);
        guest(t, c, i == 0, name, 1);
        fprintf(t->out, ", \"network\": {}, \"programs\": [{\"run\": {\"type\": \"%s\"}}",
                program[service]);
        if (i == 0 && own_busy)
            fprintf(t->out, ", {\"run\": {\"type\": \"lookbusy\", \"busy\": \"%d%%\"}}", own_busy);
        fputs("]}", t->out);
    }
    if (hogs) {
        guest(t, c, false, "hog", hogs);
        fprintf(t->out,
                ", \"programs\": [{\"run\": {\"type\": \"lookbusy\", \"busy\": \"%d%%\", "
                "\"feedback\": %s}}]}",
                busy, c->feedback ? "true" : "false");
    }
    fputs("]}], \"clients\": [", t->out);
    for (int i = 0; i < servers; i++) {
        server_name(name, i);
        snprintf(load, sizeof load, i ? "load%d" : "measured", i + 1);
        client(t, i == 0, load, name, i ? others : rate, service);
    }
}

struct json *testbed_12vm_scenario(const struct testbed_choices *c, enum testbed_service service,
                                   int servers, const char *scheduler, int replications,
                                   struct errors *e)
{
    struct text t;

    begin(&t, c, "12 VMs", scheduler, replications);
    servers_and_clients(&t, c, service, servers, RATE_12, RATE_12, 0, VMS_12 - servers, c->busy);
    return end(&t, e);
}

struct json *testbed_24vm_scenario(const struct testbed_choices *c, enum testbed_service service,
                                   int servers, const char *scheduler, int replications,
                                   struct errors *e)
{
    bool rpc = service == TESTBED_RPC;
    struct text t;

    begin(&t, c, "24 VMs", scheduler, replications);
    servers_and_clients(&t, c, service, servers, rpc ? RATE_24_RPC : RATE_24_MEMCACHED,
                        rpc ? OTHERS_24_RPC : OTHERS_24_MEMCACHED, 3, VMS_24 - servers, 4);
    return end(&t, e);
}

struct json *testbed_job_scenario(const struct testbed_choices *c, int hogs, const char *scheduler,
                                  int replications, struct errors *e)
{
    struct text t;

    begin(&t, c, "a job beside hogs", scheduler, replications);
    guest(&t, c, true, "sysbench", 1);
    fprintf(
        t.out,
        ", \"programs\": [{\"run\": {\"type\": \"job\", \"work\": \"2s\", \"repeat\": true}}]}");
    guest(&t, c, false, "hog", hogs);
    fprintf(t.out,
            ", \"programs\": [{\"run\": {\"type\": \"lookbusy\", \"busy\": \"%d%%\", "
            "\"feedback\": %s}}]}]}]",
            c->busy, c->feedback ? "true" : "false");
    fputs(", \"clients\": [", t.out);
    return end(&t, e);
}
