/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/validate/testbed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VMS_12 = 12, VMS_24 = 24 };

/* lookbusy's argument, %: in the measured one of 24 VMs, and in the others. */
static const double own_24 = 3, busy_24 = 4;

/* Requests per second of a client that never waits: the scripts' arguments. */
enum { RATE_12 = 250, RATE_24_RPC = 80, RATE_24_MEMCACHED = 50 };
/* Until lookbusy's bursts have found their length: some 25 cycles are what a correction takes. */
enum { WARMUP = 15 };
enum { OTHERS_24_RPC = 400, OTHERS_24_MEMCACHED = 500 };

/* A GET needs about this share of the CPU that Thrift's calculator with its line of output does
 * (assumed). */
static const double get_share = 0.25;

#define CHOICES(...)                                                                               \
    .choice = (const double[]){__VA_ARGS__},                                                       \
    .choices = sizeof((const double[]){__VA_ARGS__}) / sizeof(double)

/* Starts are where docs/testbed.md's calibration began. */
const struct unknown testbed_unknown[OPEN_COUNT] = {
    [OPEN_PCPUS] = {.name = "pcpus_host",
                    .meaning = "pCPUs of the host, at least as many as it takes; credits are "
                               "handed out for those that guests may not use, too.",
                    CHOICES(2, 4, 8),
                    .start = 4},
    [OPEN_PCPUS_12] = {.name = "pcpus_12",
                       .meaning = "pCPUs that 12 guests may use.",
                       CHOICES(2, 3, 4),
                       .start = 4},
    [OPEN_PCPUS_24] = {.name = "pcpus_24",
                       .meaning = "pCPUs that 24 guests may use.",
                       CHOICES(1, 2),
                       .start = 1},
    [OPEN_PINNED] = {.name = "pinned",
                     .meaning = "How many of the guests' pCPUs each guest has, neighbours in "
                                "turn; 0: all.",
                     CHOICES(0, 1, 2),
                     .start = 1},
    [OPEN_DOM0_APART] = {.name = "dom0_apart",
                         .meaning =
                             "1: dom0 is alone on one pCPU; 2: it is on the first, guests as "
                             "well; 0: it may use all.",
                         CHOICES(0, 1, 2),
                         .start = 0},
    [OPEN_DOM0_VCPUS] = {.name = "dom0_vcpus",
                         .meaning = "vCPUs of dom0.",
                         CHOICES(1, 2, 4),
                         .start = 2},
    [OPEN_DOM0_BOOST] = {.name = "dom0_boost",
                         .meaning = "1: TerrierTail boosts dom0 as Credit does.",
                         CHOICES(0, 1),
                         .start = 1},
    [OPEN_VCPUS] = {.name = "vcpus", .meaning = "vCPUs of a guest.", CHOICES(1, 2), .start = 1},
    [OPEN_OWN_12] = {.name = "own_12",
                     .unit = "%",
                     .meaning = "lookbusy's argument in the measured one of 12 VMs.",
                     CHOICES(0, 3, 5, 10, 15, 30),
                     .start = 10},
    [OPEN_BUSY_12] = {.name = "busy_12",
                      .unit = "%",
                      .meaning = "lookbusy's argument in 12 VMs' others.",
                      CHOICES(20, 25, 28, 30, 32, 35, 40, 50, 80),
                      .start = 30},
    [OPEN_BUSY_JOB] = {.name = "busy_job",
                       .unit = "%",
                       .meaning = "lookbusy's argument in VMs beside the CPU-bound job.",
                       .low = 2,
                       .high = 80,
                       .start = 6,
                       .log = true},
    [OPEN_CLIENTS_RPC] = {.name = "clients_rpc",
                          .meaning = "Clients of each server, 12 VMs with RPC.",
                          CHOICES(1, 2, 5, 7, 10, 14, 20, 30),
                          .start = 10},
    [OPEN_CLIENTS] = {.name = "clients",
                      .meaning = "Clients of each server, 12 VMs with memcached.",
                      CHOICES(1, 5, 10, 14, 20, 30, 40),
                      .start = 20},
    [OPEN_IDLE_ENTER] = {.name = "idle_enter",
                         .unit = "us",
                         .meaning = "Until a guest that has nothing to do blocks.",
                         .low = 2,
                         .high = 60,
                         .start = 2,
                         .log = true},
    [OPEN_HOUSEKEEPING] = {.name = "housekeeping",
                           .unit = "ms",
                           .meaning = "Between two timers of a serving guest's kernel and daemons.",
                           .low = 2,
                           .high = 1000,
                           .start = 20,
                           .log = true},
    [OPEN_DOM0_COSTS] = {.name = "dom0_costs",
                         /* 15: all of the least round trip of the raw counts. */
                         .meaning = "netback's costs, as a multiple of the models' defaults.",
                         .low = 0.5,
                         .high = 15,
                         .start = 10,
                         .log = true},
    [OPEN_DEMAND] = {.name = "demand",
                     .unit = "us",
                     .meaning = "CPU time of a remote call.",
                     .low = 2,
                     .high = 80,
                     .start = 2,
                     .log = true},
    [OPEN_BASE_MEDIAN] = {.name = "base_median",
                          .unit = "us",
                          .meaning = "Client and network beyond what the models have: median of "
                                     "its lognormal distribution.",
                          .low = 20,
                          .high = 300,
                          .start = 80,
                          .log = true},
    [OPEN_BASE_SIGMA] = {.name = "base_sigma",
                         .meaning = "Its deviation of the logarithm.",
                         .low = 0.02,
                         .high = 1.5,
                         .start = 0.5,
                         .log = true},
};

/* Bytes on the wire with 90 of headers and framing: add(500, 600) in Thrift's binary protocol; GETs
 * of the scripts' one item, whose key has 56 bytes and whose value has 79. */
static const struct {
    const char *program;
    int request, reply;
} service[] = {[TESTBED_RPC] = {"rpc", 120, 113}, [TESTBED_MEMCACHED] = {"memcached", 152, 249}};

struct text {
    const double *x;
    const struct testbed_run *run;
    FILE *out;
    char *data;
    size_t size;
    int guests; /* so far */
};

/* That guests may use. */
static int pcpus_of(const struct text *t)
{
    return (int)t->x[t->run->set == TESTBED_24VM ? OPEN_PCPUS_24 : OPEN_PCPUS_12];
}

static int pcpus_of_host(const struct text *t)
{
    int least = pcpus_of(t) + (t->x[OPEN_DOM0_APART] == 1), host = (int)t->x[OPEN_PCPUS];

    return host > least ? host : least;
}

static void put_costs(const struct text *t)
{
    /* Of models/net/netback.c. */
    static const struct {
        const char *name;
        double us;
    } cost[] = {{"rx_packet", 1.5}, {"rx_flush", 1}, {"tx_poll", 0.5},
                {"tx_packet", 2},   {"tx_flush", 1}, {"tx_unmap", 0.8}};

    fputs(", \"network\": {\"netback\": {", t->out);
    for (size_t i = 0; i < sizeof cost / sizeof *cost; i++)
        fprintf(t->out, "%s\"%s\": \"%.0fns\"", i ? ", " : "", cost[i].name,
                1000 * cost[i].us * t->x[OPEN_DOM0_COSTS]);
    fputs("}}", t->out);
}

static void begin(struct text *t, const char *title)
{
    const struct testbed_run *run = t->run;
    bool apart = t->x[OPEN_DOM0_APART] != 0, terriertail = !strcmp(run->scheduler, "terriertail");

    t->out = open_memstream(&t->data, &t->size);
    if (!t->out)
        BUG("no memory stream");
    fprintf(t->out,
            "{\"version\": 1, \"title\": \"%s\", \"seed\": 1, \"replications\": %d, "
            "\"warmup\": \"%ds\", \"duration\": \"%ds\", \"platform\": \"one-host.platform.xml\", "
            "\"hosts\": [{\"name\": \"xen\", \"xen\": \"4.7.1\", \"pcpus\": %d, \"scheduler\": ",
            title, run->replications, WARMUP, run->seconds, pcpus_of_host(t));
    /* The authors ran their prototype. */
    if (terriertail)
        fprintf(t->out, "{\"type\": \"terriertail\", \"policy\": \"as-coded\", \"boost_dom0\": %s}",
                t->x[OPEN_DOM0_BOOST] != 0 ? "true" : "false");
    else
        fprintf(t->out, "\"%s\"", run->scheduler);
    put_costs(t);
    fprintf(t->out,
            ", \"dom0\": {\"vcpus\": %d%s, \"programs\": [{\"run\": {\"type\": \"burst_sleep\", "
            "\"compute\": \"50us\", \"sleep\": \"10ms\"}, \"name\": \"housekeeping\"}]}, "
            "\"domains\": [",
            (int)t->x[OPEN_DOM0_VCPUS], apart ? ", \"hard_affinity\": \"0\"" : "");
}

/* What all guests have in common; its programs follow. */
static void guest(struct text *t, const char *name)
{
    int first = pcpus_of_host(t) - pcpus_of(t), last = pcpus_of_host(t) - 1;
    int width = (int)t->x[OPEN_PINNED];

    fprintf(t->out,
            "%s{\"name\": \"%s\", \"vcpus\": %d, \"costs\": {\"idle_enter\": "
            "\"%.0fns\", \"busy_tick\": true}",
            t->guests ? ", " : "", name, (int)t->x[OPEN_VCPUS], 1000 * t->x[OPEN_IDLE_ENTER]);
    if (width && width < pcpus_of(t)) {
        first += t->guests % (pcpus_of(t) / width) * width;
        last = first + width - 1;
    }
    if (last - first + 1 < pcpus_of_host(t))
        fprintf(t->out, ", \"hard_affinity\": \"%d-%d\"", first, last);
    fputs(", \"programs\": [", t->out);
    t->guests++;
}

static void lookbusy(const struct text *t, double busy)
{
    fprintf(t->out, "{\"run\": {\"type\": \"lookbusy\", \"busy\": \"%.0f%%\"}}", busy);
}

static void hogs(struct text *t, int count, double busy)
{
    char name[24];

    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "hog%d", i + 1);
        guest(t, name);
        lookbusy(t, busy);
        fputs("]}", t->out);
    }
}

static void server(struct text *t, int i, double own_busy)
{
    char name[24];

    snprintf(name, sizeof name, "server%d", i + 1);
    guest(t, name);
    fprintf(t->out,
            "{\"run\": {\"type\": \"%s\"}}, {\"name\": \"housekeeping\", \"run\": {\"type\": "
            "\"burst_sleep\", \"compute\": \"10us\", \"sleep\": \"%.0fus\"}}",
            service[t->run->service].program, 1000 * t->x[OPEN_HOUSEKEEPING]);
    if (own_busy > 0) {
        fputs(", ", t->out);
        lookbusy(t, own_busy);
    }
    fputs("], \"network\": {}}", t->out);
}

/* Closed loops with one outstanding request each. The measured one is a client of its own. */
static void client(const struct text *t, const char *name, int server, int rate, int connections)
{
    double demand = t->x[OPEN_DEMAND] * (t->run->service == TESTBED_RPC ? 1 : get_share);

    fprintf(t->out,
            "%s{\"name\": \"%s\", \"on\": \"client\", \"to\": \"server%d\", \"load\": {\"think\": "
            "\"exponential(%dus)\", \"connections\": %d, \"demand\": \"%.0fns\", \"send\": \"0\", "
            "\"request\": \"%dB\", \"reply\": \"%dB\", "
            "\"receive\": {\"type\": \"lognormal\", \"median\": \"%.0fns\", \"sigma\": %.4f}}}",
            strcmp(name, "measured") ? ", " : "", name, server + 1, 1000000 / rate, connections,
            1000 * demand, service[t->run->service].request, service[t->run->service].reply,
            1000 * t->x[OPEN_BASE_MEDIAN], t->x[OPEN_BASE_SIGMA]);
}

static void clients(const struct text *t)
{
    const struct testbed_run *run = t->run;
    bool many = run->set == TESTBED_24VM, rpc = run->service == TESTBED_RPC;
    int own = !many ? RATE_12 : rpc ? RATE_24_RPC : RATE_24_MEMCACHED;
    int others = !many ? RATE_12 : rpc ? OTHERS_24_RPC : OTHERS_24_MEMCACHED;
    int each = run->set == TESTBED_12VM ? (int)t->x[rpc ? OPEN_CLIENTS_RPC : OPEN_CLIENTS] : 1;
    char name[24];

    client(t, "measured", 0, own, 1);
    if (each > 1)
        client(t, "beside", 0, others, each - 1);
    for (int i = 1; i < run->servers; i++) {
        snprintf(name, sizeof name, "load%d", i + 1);
        client(t, name, i, others, each);
    }
}

static void put_servers(struct text *t)
{
    const struct testbed_run *run = t->run;
    bool many = run->set == TESTBED_24VM;
    double own = run->set == TESTBED_12VM ? t->x[OPEN_OWN_12] : many ? own_24 : 0;

    for (int i = 0; i < run->servers; i++)
        server(t, i, !i ? own : run->mixed && many ? busy_24 : 0);
    if (many)
        hogs(t, VMS_24 - run->servers, busy_24);
    else if (run->set == TESTBED_12VM)
        hogs(t, VMS_12 - run->servers, t->x[OPEN_BUSY_12]);
    fputs("]}], \"clients\": [", t->out);
    clients(t);
}

static void put_job(struct text *t)
{
    guest(t, "sysbench");
    fputs("{\"run\": {\"type\": \"job\", \"work\": \"2s\", \"repeat\": true}}]}", t->out);
    hogs(t, t->run->servers, t->x[OPEN_BUSY_JOB]);
    fputs("]}], \"clients\": [", t->out);
}

/* Where unknowns stand in the scenario. */
static void put_calibrated(const struct text *t)
{
    const struct testbed_run *run = t->run;
    bool busy = (run->set == TESTBED_JOB && run->servers) ||
                (run->set == TESTBED_12VM && (run->servers < VMS_12 || t->x[OPEN_OWN_12] > 0));

    fputs(", \"calibrated\": [\"/hosts/-/pcpus\", \"/hosts/-/network/netback\", "
          "\"/hosts/-/dom0/vcpus\", \"/hosts/-/domains/-/vcpus\", "
          "\"/hosts/-/domains/-/costs/idle_enter\"",
          t->out);
    if (busy)
        fputs(", \"/hosts/-/domains/-/programs/-/run/busy\"", t->out);
    if (run->set != TESTBED_JOB)
        fputs(", \"/hosts/-/domains/-/programs/-/run/sleep\", \"/clients/-/load/demand\", "
              "\"/clients/-/load/receive\", \"/clients/-/load/connections\"",
              t->out);
    fputs("]", t->out);
}

char *testbed_scenario(const double *x, const struct testbed_run *run)
{
    static const char *const title[] = {[TESTBED_12VM] = "12 VMs",
                                        [TESTBED_24VM] = "24 VMs",
                                        [TESTBED_JOB] = "a job beside hogs",
                                        [TESTBED_IDLE] = "one server alone"};
    struct text t = {.x = x, .run = run};

    begin(&t, title[run->set]);
    if (run->set == TESTBED_JOB)
        put_job(&t);
    else
        put_servers(&t);
    fputs("]", t.out);
    if (run->calibrated)
        put_calibrated(&t);
    fputs("}\n", t.out);
    fclose(t.out);
    return t.data;
}
