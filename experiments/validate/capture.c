/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/validate/capture.h"

#include "experiments/validate/json_fields.h"
#include "experiments/validate/packed_file.h"
#include "models/hypervisor/hypervisor.h"
#include "sim/json.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- members of an object: texts, objects, pCPUs --------------------------------------------- */

/* A member of that kind, or JSON_NONE; null is none. */
static struct json_value get_kind(struct json_value object, const char *key, enum json_kind kind,
                                  struct errors *e)
{
    struct json_value v = json_member(object, key);

    if (json_kind(v) == kind)
        return v;
    if (json_exists(v) && json_kind(v) != JSON_NULL)
        json_error(v, e, "expected %s", json_kind_name(kind));
    return JSON_NONE;
}

static char *get_text(struct json_value object, const char *key, const char *absent,
                      struct errors *e)
{
    const char *s = json_string(get_kind(object, key, JSON_STRING, e));

    return s ? xstrdup(s) : absent ? xstrdup(absent) : NULL;
}

/* pCPUs as a number or a list of numbers. */
static cpumask get_cpus(struct json_value object, const char *key, cpumask absent, struct errors *e)
{
    struct json_value v = json_member(object, key);
    cpumask m = {{0}};
    int64_t i;

    if (!json_exists(v) || json_kind(v) == JSON_NULL)
        return absent;
    if (json_kind(v) == JSON_NUMBER) {
        if (json_integer(v, &i) || i < 0 || i >= MAX_PCPUS)
            json_error(v, e, "expected the number of a pCPU");
        else
            cpumask_set(&m, (uint32_t)i);
        return m;
    }
    JSON_FOR_EACH(cpu, v)
    {
        if (json_integer(cpu, &i) || i < 0 || i >= MAX_PCPUS)
            json_error(cpu, e, "expected the number of a pCPU");
        else
            cpumask_set(&m, (uint32_t)i);
    }
    if (cpumask_empty(&m))
        json_error(v, e, "expected the number of a pCPU, or a list of such numbers");
    return m;
}

/* ---- guests ---------------------------------------------------------------------------------- */

/* Words of roles. Longer ones first, and each is looked for in what the ones before leave. */
static const struct role_word {
    const char *word;
    unsigned programs;
} role_words[] = {
    {"lookbusy", CAPTURE_LOOKBUSY},
    {"replica", CAPTURE_REPLICA | CAPTURE_ECHO},
    {"server", CAPTURE_ECHO},
    {"mixed", CAPTURE_IDLE_HOG},
    {"waker", CAPTURE_WAKER},
    {"wake", CAPTURE_WAKER},
    {"echo", CAPTURE_ECHO},
    {"hog", CAPTURE_HOG},
    {"idle", 0},
    {"none", 0},
};

static void parse_role(struct capture_guest *g, struct json_value v, struct errors *e)
{
    char rest[64];
    bool known = false;

    snprintf(rest, sizeof rest, "%s", g->role);
    for (size_t i = 0; i < sizeof role_words / sizeof *role_words; i++) {
        char *at = strstr(rest, role_words[i].word);

        if (!at)
            continue;
        g->programs |= role_words[i].programs;
        memset(at, '+', strlen(role_words[i].word));
        known = true;
    }
    if (!known || rest[strspn(rest, "+-_ ,")])
        json_error_in(v, "role", e,
                      "role \"%s\" is not understood: it may be made of hog, waker, echo, replica, "
                      "lookbusy, mixed, idle",
                      g->role);
    if (g->programs == CAPTURE_IDLE_HOG) /* the waker and a hog */
        g->programs |= CAPTURE_WAKER;
}

/* The given captures' guests count 82 turns of a loop as a us; a turn is six instructions of 2 ns.
 */
static const double COMPUTE_PERCENT = 98.4;

/* Of a lookbusy: its own object, or the guest itself. */
static void read_lookbusy(struct capture_guest *g, struct json_value v, struct errors *e)
{
    sim_time cycle = 100 * NS_PER_MS;
    int64_t percent = field_integer(v, "percent", 0, 100, 30, e);
    sim_time rest;

    g->lookbusy_burst = field_time(v, "burst_ms", NS_PER_MS, cycle * percent / 100, e);
    rest = g->lookbusy_burst < cycle ? cycle - g->lookbusy_burst : 0;
    g->lookbusy_sleep = field_time(v, "sleep_ms", NS_PER_MS, rest, e);
    if (g->lookbusy_burst + g->lookbusy_sleep <= 0)
        json_error(v, e, "a lookbusy needs a burst or a sleep above 0");
    g->lookbusy_seed = (uint64_t)field_integer(v, "seed", 0, INT64_MAX, 1, e);
}

/* The given captures' wakers (with a nominal burst) count 80 turns of that loop as a us, and report
 * every 100 cycles: one run in 100 is 211 us longer and tells dom0. */
static const double WAKER_PERCENT = 96;
enum { WAKER_REPORTS = 100 };

static void read_waker(struct capture_guest *g, struct json_value v, struct errors *e)
{
    bool nominal = json_exists(json_member(v, "burst_us_nominal"));

    g->waker_sleep = field_time(v, "sleep_us", NS_PER_US, 5 * NS_PER_MS, e);
    g->waker_burst =
        field_time(v, nominal ? "burst_us_nominal" : "burst_us", NS_PER_US, 300 * NS_PER_US, e);
    if (nominal)
        g->waker_burst = (sim_time)((double)g->waker_burst * WAKER_PERCENT / 100);
    if ((g->programs & CAPTURE_WAKER) && g->waker_sleep + g->waker_burst <= 0)
        json_error(v, e, "a waker needs a burst or a sleep above 0");
    g->waker_reports =
        (uint32_t)field_integer(v, "report_every", 0, 1000000, nominal ? WAKER_REPORTS : 0, e);
}

static void read_rtds(struct capture_guest *g, struct json_value v, struct errors *e)
{
    const sim_time least = 10 * NS_PER_US; /* Xen's */

    if (!json_exists(v))
        return;
    g->rtds_period = field_time(v, "period_us", NS_PER_US, 10 * NS_PER_MS, e);
    g->rtds_budget = field_time(v, "budget_us", NS_PER_US, 4 * NS_PER_MS, e);
    g->rtds_extratime = field_integer(v, "extratime", 0, 1, 1, e);
    if (g->rtds_budget < least || g->rtds_budget > g->rtds_period)
        json_error_in(v, "budget_us", e, "expected at least 10, and not more than the period");
}

static void read_guest(struct capture_guest *g, struct json_value v, struct errors *e)
{
    struct json_value lookbusy = get_kind(v, "lookbusy", JSON_OBJECT, e);

    g->domain = (uint32_t)field_integer(v, "domid", 1, 0x7ff0, 0, e);
    if (!g->domain)
        json_error_in(v, "domid", e, "the domain's number in the trace is needed");
    g->name = get_text(v, "name", "?", e);
    g->role = get_text(v, "role", "", e);
    parse_role(g, v, e);
    g->vcpus = (uint32_t)field_integer(v, "vcpus", 1, 512, 1, e);
    g->weight = (uint32_t)field_integer(v, "weight", 1, 65535, DEFAULT_WEIGHT, e);
    g->cap = (uint32_t)field_integer(v, "cap_percent", 0, 51200, 0, e);
    g->pinned = get_cpus(v, "pinned_to", cpumask_all(), e);
    read_waker(g, v, e);
    g->compute = field_time(v, "compute_us", NS_PER_US, 0, e);
    if (g->programs & CAPTURE_LOOKBUSY)
        read_lookbusy(g, json_exists(lookbusy) ? lookbusy : v, e);
    read_rtds(g, get_kind(v, "rtds", JSON_OBJECT, e), e);
}

enum { VCPUS_MOST = 8192 };

static void read_guests(struct capture *c, struct json_value list, struct errors *e)
{
    size_t vcpus = 0, replicas = 0;

    c->guest = xcalloc(json_length(list) + 1, sizeof *c->guest);
    JSON_FOR_EACH(v, list) read_guest(&c->guest[c->guests++], v, e);
    for (size_t i = 0; i < c->guests; i++) {
        vcpus += c->guest[i].vcpus;
        replicas += (c->guest[i].programs & CAPTURE_REPLICA) != 0;
        for (size_t k = 0; k < i; k++)
            if (c->guest[i].domain && c->guest[i].domain == c->guest[k].domain)
                json_error(json_element(list, i), e, "domain %u is there twice",
                           c->guest[i].domain);
    }
    if (vcpus > VCPUS_MOST)
        json_error(list, e, "the guests have %zu vCPUs, expected at most %d", vcpus, VCPUS_MOST);
    if (replicas > CAPTURE_REPLICAS)
        json_error(list, e, "%zu guests are replicas, expected at most %d", replicas,
                   CAPTURE_REPLICAS);
}

/* ---- the client ------------------------------------------------------------------------------ */

static const struct {
    const char *mode;
    enum capture_loop loop;
} modes[] = {{"closed", CLIENT_CLOSED},
             {"open", CLIENT_OPEN},
             {"rounds", CLIENT_ROUNDS},
             {"interval", CLIENT_INTERVAL}};

static void read_client(struct capture *c, struct json_value v, struct errors *e)
{
    struct capture_client *k = &c->client;
    const char *mode = json_string(get_kind(v, "mode", JSON_STRING, e));
    const char *where = json_string(get_kind(v, "where", JSON_STRING, e));

    if (!json_exists(v))
        return;
    for (size_t i = 0; mode && i < sizeof modes / sizeof *modes; i++)
        if (!strcmp(mode, modes[i].mode))
            k->loop = modes[i].loop;
    if (!mode && json_exists(json_member(v, "interval_us")))
        k->loop = CLIENT_INTERVAL;
    if (k->loop == CLIENT_NONE)
        json_error_in(v, "mode", e, "expected closed, open, rounds, or an interval_us");
    k->in_dom0 = !where || !strcmp(where, "dom0");
    if (!k->in_dom0)
        json_error_in(v, "where", e, "only clients in dom0 are understood");
    k->period =
        field_time(v, k->loop == CLIENT_INTERVAL ? "interval_us" : "period_us", NS_PER_US, 0, e);
    k->rate = field_number(v, "rate", 0, e);
    k->seed = (uint64_t)field_integer(v, "seed", 0, INT64_MAX, 1, e);
    k->requests = (uint64_t)field_integer(v, k->loop == CLIENT_ROUNDS ? "rounds" : "requests", 0,
                                          1000000000, 0, e);
    k->bytes = 64;
    k->rotate = field_integer(v, "rotate", 0, 1, 0, e) ||
                (k->loop == CLIENT_ROUNDS && strstr(c->capture, "rotate"));
    if ((k->loop == CLIENT_INTERVAL || k->loop == CLIENT_ROUNDS) && k->period <= 0)
        json_error(v, e, "a client of this kind needs a period");
    if (k->loop == CLIENT_ROUNDS && !k->requests)
        json_error_in(v, "rounds", e, "a client of this kind needs a number of rounds");
    if (k->period > 0 && (int64_t)k->requests > FIELD_TIME_MOST / k->period)
        json_error(v, e, "so many periods are more than 1000 days");
    if ((k->loop == CLIENT_CLOSED || k->loop == CLIENT_OPEN) &&
        !(k->rate >= 0.001 && k->rate <= 1e6))
        json_error_in(v, "rate", e,
                      "a client of this kind needs a rate of 0.001 to 1e6 per second");
    if (!c->duration)
        c->duration = field_time(v, "seconds", NS_PER_S, 0, e);
}

/* ---- the whole file -------------------------------------------------------------------------- */

static enum capture_placement placement(const char *how, struct json_value v, struct errors *e)
{
    if (!how || strstr(how, "pool of their own"))
        return PLACED_POOL;
    if (strstr(how, "pinned"))
        return PLACED_PINNED;
    if (strstr(how, "same pool"))
        return PLACED_SHARED;
    json_error_in(v, "how", e,
                  "expected \"cpupool of their own\", \"pinned, same pool as dom0\" or \"same pool "
                  "as dom0\"");
    return PLACED_POOL;
}

static char *existing(const char *name, const char *suffix)
{
    static const char *const packed[] = {"", ".gz"};

    for (size_t i = 0; i < 2; i++) {
        char *path = xasprintf("%s%s%s", name, suffix, packed[i]);

        if (!access(path, R_OK))
            return path;
        free(path);
    }
    return NULL;
}

/* ---- pCPUs that are there -------------------------------------------------------------------- */

static uint32_t above(const cpumask *m, uint32_t least)
{
    cpumask all = cpumask_all();

    if (cpumask_equal(m, &all))
        return least;
    for_each_cpu(cpu, m) if (cpu >= least) least = cpu + 1;
    return least;
}

/* As many as are named, if the capture does not say. */
static uint32_t pcpus_named(const struct capture *c)
{
    uint32_t n = above(&c->guest_cpus, above(&c->dom0_cpus, 1));

    for (size_t i = 0; i < c->guests; i++)
        n = above(&c->guest[i].pinned, n);
    return n;
}

static bool meets(const cpumask *a, cpumask b)
{
    cpumask both = cpumask_and(a, &b);

    return !cpumask_empty(&both);
}

static void check_places(const struct capture *c, struct json_value root, struct errors *e)
{
    cpumask all = cpumask_first_n(c->pcpus), guests = cpumask_and(&all, &c->guest_cpus);
    cpumask rest = cpumask_andnot(&all, &guests);
    bool apart = c->placement == PLACED_POOL && !cpumask_empty(&rest);

    if (above(&c->guest_cpus, 1) > c->pcpus)
        json_error_in(json_member(root, "guests_on"), "pcpus", e,
                      "the machine has pCPUs 0 to %u (\"machine_pcpus\")", c->pcpus - 1);
    if (!meets(&c->dom0_cpus, apart ? rest : all))
        json_error_in(json_member(root, "dom0"), "pinned_to", e, "expected %s",
                      apart ? "a pCPU that is not the guests' own (\"guests_on\")"
                            : "a pCPU of the machine (\"machine_pcpus\")");
    for (size_t i = 0; i < c->guests; i++)
        if (!meets(&c->guest[i].pinned, guests))
            json_error_in(json_element(json_member(root, "guests"), i), "pinned_to", e,
                          "expected a pCPU that guests may use (\"guests_on\")");
}

/* Xen's own limits. */
static void check_slices(const struct capture *c, struct json_value root, struct errors *e)
{
    if (c->tslice >= 0 && (c->tslice < NS_PER_MS || c->tslice > NS_PER_S))
        json_error(json_member(root, "tslice_ms"), e, "expected 1 to 1000 ms");
    if (c->ratelimit > 500 * NS_PER_MS)
        json_error(json_member(root, "ratelimit_us"), e, "expected at most 500000 us");
}

static void read_all(struct capture *c, struct json_value root, struct errors *e)
{
    struct json_value dom0 = get_kind(root, "dom0", JSON_OBJECT, e);
    struct json_value on = get_kind(root, "guests_on", JSON_OBJECT, e);
    cpumask all;

    c->capture = get_text(root, "capture", c->name, e);
    c->xen = get_text(root, "xen", "4.17", e);
    c->scheduler = get_text(root, "scheduler", "credit", e);
    c->tsc_hz = 1000000 * (uint64_t)field_integer(root, "tsc_mhz", 1, 17000, 2400, e);
    c->pcpus = (uint32_t)field_integer(root, "machine_pcpus", 1, MAX_PCPUS, 0, e);
    c->ratelimit = field_time(root, "ratelimit_us", NS_PER_US, -1, e);
    c->tslice = field_time(root, "tslice_ms", NS_PER_MS, -1, e);
    c->duration = field_time(root, "seconds", NS_PER_S, 0, e);
    c->dom0_vcpus = (uint32_t)field_integer(dom0, "vcpus", 1, 512, 1, e);
    c->dom0_cpus = get_cpus(dom0, "pinned_to", cpumask_all(), e);
    c->placement = placement(json_string(get_kind(on, "how", JSON_STRING, e)), on, e);
    c->guest_cpus = get_cpus(on, "pcpus", cpumask_all(), e);
    c->dom0_scheduler =
        get_text(dom0, "scheduler", c->placement == PLACED_POOL ? "credit" : c->scheduler, e);
    c->emulator = get_text(root, "emulator", NULL, e);
    c->compute_percent = field_number(root, "compute_percent", COMPUTE_PERCENT, e);
    if (!(c->compute_percent > 0) || c->compute_percent > 1000)
        json_error(json_member(root, "compute_percent"), e,
                   "expected per cent above 0, up to 1000");
    read_guests(c, get_kind(root, "guests", JSON_ARRAY, e), e);
    read_client(c, get_kind(root, "client", JSON_OBJECT, e), e);
    if (!c->pcpus)
        c->pcpus = pcpus_named(c);
    check_places(c, root, e);
    check_slices(c, root, e);
    all = cpumask_first_n(c->pcpus);
    c->guest_cpus = cpumask_and(&c->guest_cpus, &all);
}

struct capture *capture_read_doc(const struct json *doc, const char *json_path, struct errors *e)
{
    size_t before = e->count, length = strlen(json_path);
    struct capture *c;

    if (json_kind(json_root(doc)) != JSON_OBJECT) {
        json_error(json_root(doc), e, "expected an object that describes a capture");
        return NULL;
    }
    c = xcalloc(1, sizeof *c);
    c->name = xstrdup(json_path);
    if (length > 5 && !strcmp(json_path + length - 5, ".json"))
        c->name[length - 5] = 0;
    read_all(c, json_root(doc), e);
    c->trace = existing(c->name, ".xentrace");
    c->log = existing(c->name, ".csv");
    if (!c->log)
        c->log = existing(c->name, ".rtt");
    if (e->count == before)
        return c;
    capture_free(c);
    return NULL;
}

struct capture *capture_read(const char *json_path, struct errors *e)
{
    struct json *doc = json_read(json_path, e);
    struct capture *c = doc ? capture_read_doc(doc, json_path, e) : NULL;

    json_free(doc);
    return c;
}

void capture_free(struct capture *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->guests; i++) {
        free(c->guest[i].name);
        free(c->guest[i].role);
    }
    free(c->guest);
    free(c->name);
    free(c->capture);
    free(c->xen);
    free(c->scheduler);
    free(c->dom0_scheduler);
    free(c->emulator);
    free(c->trace);
    free(c->log);
    free(c);
}

sim_time capture_burst(const struct capture *c, sim_time nominal)
{
    sim_time burst = (sim_time)((double)nominal * c->compute_percent / 100);

    return nominal > 0 && burst < 1 ? 1 : burst;
}

bool capture_has(const struct capture *c, unsigned programs)
{
    for (size_t i = 0; i < c->guests; i++)
        if ((c->guest[i].programs & programs) == programs)
            return true;
    return false;
}

bool capture_interleaved(const struct capture *c)
{
    if (c->emulator)
        return strstr(c->emulator, "1024 Hz") != NULL;
    return cpumask_weight(&c->guest_cpus) > 1 || c->client.loop != CLIENT_NONE;
}

/* ---- logs ------------------------------------------------------------------------------------ */

/* What the columns of a log are, by their names. */
enum column { COLUMN_OTHER, COLUMN_SEND, COLUMN_TSC, COLUMN_DELAY };
enum { COLUMNS = 16 };

struct log_layout {
    enum column column[COLUMNS];
    unsigned columns;
};

static enum column column_named(const char *name)
{
    size_t n = strlen(name);

    if (!strcmp(name, "send_us"))
        return COLUMN_SEND;
    if (!strcmp(name, "send_tsc"))
        return COLUMN_TSC;
    if (!strcmp(name, "rtt_us") || (n > 4 && name[0] == 'd' && !strcmp(name + n - 3, "_us")))
        return COLUMN_DELAY;
    return COLUMN_OTHER;
}

static void read_header(struct log_layout *l, char *line, struct capture_log *log)
{
    for (char *save, *name = strtok_r(line, ", \r\n", &save); name && l->columns < COLUMNS;
         name = strtok_r(NULL, ", \r\n", &save)) {
        l->column[l->columns] = column_named(name);
        log->delays += l->column[l->columns] == COLUMN_DELAY;
        log->rounds |= !strcmp(name, "round");
        l->columns++;
    }
}

/* "-1", and whatever is no time, is a loss. */
static sim_time micros(const char *text)
{
    double us = strtod(text, NULL);

    return us >= 0 && us < 1e15 ? (sim_time)(us * 1000 + 0.5) : -1;
}

static void read_row(const struct log_layout *l, char *line, struct capture_log *log,
                     size_t *capacity)
{
    struct capture_row row = {.send = -1};
    unsigned i = 0, delays = 0;

    for (char *save, *text = strtok_r(line, ", \r\n", &save); text && i < l->columns;
         text = strtok_r(NULL, ", \r\n", &save), i++) {
        if (l->column[i] == COLUMN_SEND)
            row.send = micros(text);
        else if (l->column[i] == COLUMN_TSC)
            row.tsc = strtoull(text, NULL, 10);
        else if (l->column[i] == COLUMN_DELAY && delays < CAPTURE_REPLICAS)
            row.delay[delays++] = micros(text);
    }
    if (delays < log->delays) /* cut short */
        return;
    if (log->rows == *capacity) {
        *capacity = *capacity ? 2 * *capacity : 1024;
        log->row = xrealloc(log->row, *capacity * sizeof *log->row);
    }
    log->row[log->rows++] = row;
}

int capture_read_log(const struct capture *c, struct capture_log *log, struct errors *e)
{
    struct log_layout layout = {{COLUMN_OTHER, COLUMN_DELAY}, 0}; /* of .rtt files */
    gzFile file = packed_open(c->log, e);
    size_t capacity = 0;
    char line[512];

    *log = (struct capture_log){0};
    if (!file)
        return -1;
    while (gzgets(file, line, sizeof line)) {
        if (!layout.columns && strstr(line, "_us")) {
            read_header(&layout, line, log);
            continue;
        }
        if (!layout.columns) {
            layout.columns = 2;
            log->delays = 1;
        }
        read_row(&layout, line, log, &capacity);
    }
    if (packed_close(file, c->log, e)) {
        capture_free_log(log);
        return -1;
    }
    if (log->rows && log->delays && log->delays <= CAPTURE_REPLICAS)
        return 0;
    if (log->delays > CAPTURE_REPLICAS)
        error_add(e, EXIT_INPUT, "%s: delays of %u replicas, expected at most %d", c->log,
                  log->delays, CAPTURE_REPLICAS);
    else
        error_add(e, EXIT_INPUT,
                  "%s: no round trips in it; expected \"number microseconds\" lines or a table "
                  "with a column rtt_us or d1_us",
                  c->log);
    capture_free_log(log);
    return -1;
}

void capture_free_log(struct capture_log *log)
{
    free(log->row);
    *log = (struct capture_log){0};
}

/* ---- directories ----------------------------------------------------------------------------- */

struct names {
    char **name;
    size_t count;
};

static void add_name(struct names *n, char *name)
{
    n->name = xrealloc(n->name, (n->count + 2) * sizeof *n->name);
    n->name[n->count++] = name;
    n->name[n->count] = NULL;
}

static bool has_data(const char *json)
{
    static const char *const suffix[] = {".xentrace", ".csv", ".rtt"};
    char *name = xstrdup(json);
    bool found = false;

    name[strlen(name) - 5] = 0;
    for (size_t i = 0; !found && i < sizeof suffix / sizeof *suffix; i++) {
        char *path = existing(name, suffix[i]);

        found = path;
        free(path);
    }
    free(name);
    return found;
}

static int list_dir(const char *dir, struct names *n, int depth)
{
    struct dirent **entry;
    int count = scandir(dir, &entry, NULL, alphasort);

    if (count < 0)
        return -1;
    for (int i = 0; i < count; i++) {
        const char *name = entry[i]->d_name;
        size_t length = strlen(name);
        char *path = xasprintf("%s/%s", dir, name);
        struct stat st;

        if (name[0] == '.' || stat(path, &st))
            free(path);
        else if (S_ISDIR(st.st_mode)) {
            if (depth < 8)
                list_dir(path, n, depth + 1);
            free(path);
        } else if (length > 5 && !strcmp(name + length - 5, ".json") && has_data(path))
            add_name(n, path);
        else
            free(path);
        free(entry[i]);
    }
    free(entry);
    return 0;
}

char **capture_list(const char *dir, struct errors *e)
{
    struct names n = {0};

    n.name = xcalloc(1, sizeof *n.name);
    if (list_dir(dir, &n, 0)) {
        error_add(e, EXIT_INPUT, "%s: %s; give a directory with captures", dir, strerror(errno));
        capture_free_list(n.name);
        return NULL;
    }
    if (n.count)
        return n.name;
    error_add(e, EXIT_INPUT,
              "%s: no capture in it (NAME.json with NAME.xentrace[.gz], NAME.rtt or NAME.csv[.gz])",
              dir);
    capture_free_list(n.name);
    return NULL;
}

void capture_free_list(char **list)
{
    for (char **at = list; list && *at; at++)
        free(*at);
    free(list);
}
