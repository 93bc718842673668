/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Machines on SimGrid: the clock, routes, flows, failures, and errors of platform files. Each test
 * runs in a process of its own (Check forks), and worlds that are compared in processes of theirs,
 * for one process can hold one simulation.
 */
#define _GNU_SOURCE
#include "sim/simgrid.h"
#include "validation/unit/gossip.h"

#include <check.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define END (20 * NS_PER_MS)

/* ---- Platform files ------------------------------------------------------------------------- */

static char platform_file[64];

static void write_platform(const char *text)
{
    FILE *out;
    int fd;

    snprintf(platform_file, sizeof platform_file, "/tmp/hvsim-test-XXXXXX");
    fd = mkstemp(platform_file);
    ck_assert_int_ge(fd, 0);
    out = fdopen(fd, "w");
    fputs(text, out);
    fclose(out);
}

static void remove_platform(void)
{
    unlink(platform_file);
}

#define HEAD                                                                                       \
    "<?xml version='1.0'?>\n"                                                                      \
    "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"                             \
    "<platform version=\"4.1\">\n"

/* Hosts h0.. h(n-1) in a star of full-duplex links of 1 Gbit/s and 10 us, and a coordinator.
 * `host_more` is put into the tag of h1, `more` before the end. */
static void write_star(int n, const char *host_more, const char *more)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    fprintf(out,
            HEAD "<zone id=\"z\" routing=\"Full\">\n<host id=\"coordinator\" speed=\"1Gf\"/>\n");
    for (int i = 0; i < n; i++)
        fprintf(out, "<host id=\"h%d\" speed=\"2Gf\" core=\"4\"%s/>\n", i,
                host_more && i == 1 ? host_more : "");
    for (int i = 0; i < n; i++)
        fprintf(out,
                "<link id=\"l%d\" bandwidth=\"1Gbps\" latency=\"10us\" "
                "sharing_policy=\"SPLITDUPLEX\"/>\n",
                i);
    for (int i = 0; i < n; i++)
        for (int k = i + 1; k < n; k++)
            fprintf(out,
                    "<route src=\"h%d\" dst=\"h%d\"><link_ctn id=\"l%d\" direction=\"UP\"/>"
                    "<link_ctn id=\"l%d\" direction=\"DOWN\"/></route>\n",
                    i, k, i, k);
    fprintf(out, "%s</zone>\n</platform>\n", more ? more : "");
    fclose(out);
    write_platform(text);
    free(text);
}

/* ---- Worlds in processes of their own ------------------------------------------------------- */

struct variant {
    uint32_t nodes;
    uint64_t seed, stop_at;
    double bulks;
    bool lockstep, native, failures, links;
    enum fleet_network network;
    sim_time start;
};

static void add_failures(struct timeline *t, sim_time start, struct errors *e)
{
    for (sim_time k = 0; k < 10; k++)
        timeline_add(t, start + 1000003 * (k + 1), "host-outage", k % 2 ? "h1" : "h2",
                     &(struct outage_arguments){500000 + k}, e);
    timeline_add(t, start + 15 * NS_PER_MS, "host-speed", "h0",
                 &(struct speed_arguments){PERCENT_ALL / 2}, e);
}

static void add_link_changes(struct timeline *t, sim_time start, struct errors *e)
{
    timeline_add(t, start + 2 * NS_PER_MS, "link-off", "l0", NULL, e);
    timeline_add(t, start + 3 * NS_PER_MS, "link-on", "l0", NULL, e);
    timeline_add(t, start + 5 * NS_PER_MS, "link-latency", "l1", &(struct latency_arguments){3000},
                 e);
    timeline_add(t, start + 7 * NS_PER_MS, "link-bandwidth", "l2",
                 &(struct bandwidth_arguments){100000000}, e);
    timeline_add(t, start + 9 * NS_PER_MS, "link-latency", "l1", &(struct latency_arguments){90000},
                 e);
    timeline_add(t, start + 11 * NS_PER_MS, "link-bandwidth", "l2",
                 &(struct bandwidth_arguments){2000000000}, e);
}

static char *run_variant(const struct variant *v)
{
    struct platform_options o = {
        .file = platform_file, .lockstep = v->lockstep, .end = v->start + END};
    struct platform_report report = {0};
    struct errors e = ERRORS_NONE;
    struct timeline t;
    struct gossip g;
    char *log, *all;

    platform_load(&o);
    gossip_init(&g, v->nodes, v->seed);
    g.fleet.network = v->network;
    for (uint32_t i = 0; i < v->nodes; i++) {
        g.node[i].bulks = v->bulks;
        g.node[i].stop_at = v->stop_at;
        if (v->start)
            queue_arm(&g.node[i].machine.queue, &g.node[i].tick, v->start + i);
    }
    ck_assert_int_eq(platform_bind(&g.fleet, &e), 0);
    timeline_init(&t);
    if (v->failures)
        add_failures(&t, v->start, &e);
    if (v->links)
        add_link_changes(&t, v->start, &e);
    ck_assert_int_eq(timeline_bind(&t, &g.fleet, NULL, &e), 0);
    if (v->native)
        report.why = timeline_run(&t, &g.fleet, o.end);
    else
        ck_assert_int_eq(platform_run(&o, &g.fleet, &t, &report, &e), 0);
    timeline_free(&t);
    log = gossip_end(&g);
    all = xasprintf("%send %d\n", log, (int)report.why);
    free(log);
    return all;
}

/* What run_variant() gives in a child. */
static char *run(const struct variant *v)
{
    int ends[2], status;
    char *all = NULL;
    size_t size = 0, n;
    FILE *in;
    pid_t child;

    ck_assert_int_eq(pipe(ends), 0);
    fflush(NULL);
    child = fork();
    if (child == 0) {
        char *log = run_variant(v);
        FILE *out = fdopen(ends[1], "w");

        fputs(log, out);
        fclose(out);
        free(log);
        platform_exit(0);
    }
    close(ends[1]);
    in = fdopen(ends[0], "r");
    do {
        all = xrealloc(all, size + 65537);
        n = fread(all + size, 1, 65536, in);
        size += n;
    } while (n > 0);
    all[size] = '\0';
    fclose(in);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    return all;
}

static char *ck_same(const struct variant *a, const struct variant *b)
{
    char *x = run(a), *y = run(b);

    ck_same_logs(x, y);
    free(y);
    return x;
}

START_TEST(lookahead_does_not_matter)
{
    struct variant windows = {.nodes = 5, .seed = (uint64_t)_i}, step = windows, native = windows;
    char *log;

    write_star(5, NULL, NULL);
    step.lockstep = true;
    native.native = true;
    log = ck_same(&windows, &step);
    ck_assert(strstr(log, "arrival"));
    free(log);
    free(ck_same(&windows, &native));
    remove_platform();
}
END_TEST

START_TEST(lookahead_does_not_matter_with_flows_failures_and_changes)
{
    struct variant windows = {.nodes = 5, .seed = (uint64_t)_i, .bulks = 0.1}, step;
    char *log;

    write_star(5, NULL, NULL);
    windows.failures = _i % 4 >= 1;
    windows.links = _i % 4 >= 2;
    step = windows;
    step.lockstep = true;
    log = ck_same(&windows, &step);
    ck_assert(strstr(log, " bulk "));
    if (windows.failures) {
        ck_assert(strstr(log, " failed "));
        ck_assert(strstr(log, " rebooted "));
        ck_assert(strstr(log, " bulk-failed "));
        ck_assert(strstr(log, " speed 0 1000000000"));
    }
    if (windows.links)
        ck_assert(strstr(log, " lost-link "));
    free(log);
    remove_platform();
}
END_TEST

/* Where doubles of seconds tell no more than 2e-12 s apart. */
START_TEST(lookahead_does_not_matter_late)
{
    struct variant windows = {.nodes = 5, .seed = (uint64_t)_i, .bulks = 0.1}, step;
    char *log;

    write_star(5, NULL, NULL);
    windows.start = 10000 * NS_PER_S + 1234567;
    windows.failures = windows.links = true;
    step = windows;
    step.lockstep = true;
    log = ck_same(&windows, &step);
    ck_assert(strstr(log, " bulk "));
    free(log);
    remove_platform();
}
END_TEST

START_TEST(failures_are_the_same_without_simgrid)
{
    struct variant windows = {.nodes = 5, .seed = 8, .failures = true, .links = true};
    struct variant native = windows;

    write_star(5, NULL, NULL);
    native.native = true;
    free(ck_same(&windows, &native));
    remove_platform();
}
END_TEST

START_TEST(stopping_does_not_depend_on_lookahead)
{
    struct variant windows = {.nodes = 4, .seed = 2, .stop_at = 40, .bulks = 0.05};
    struct variant step = windows;
    char *log;

    write_star(4, NULL, NULL);
    step.lockstep = true;
    log = ck_same(&windows, &step);
    ck_assert(strstr(log, "end 2\n")); /* FLEET_STOPPED */
    free(log);
    remove_platform();
}
END_TEST

START_TEST(repeated_runs_are_the_same)
{
    struct variant v = {.nodes = 4, .seed = 2, .bulks = 0.1, .failures = true};

    write_star(4, NULL, NULL);
    free(ck_same(&v, &v));
    v.network = NETWORK_SIMGRID;
    free(ck_same(&v, &v));
    remove_platform();
}
END_TEST

/* ---- Ping-pong: closed forms in both networks ------------------------------------------------ */

#define ROUNDS 100

struct player {
    struct machine machine;
    struct timer serve;
    struct player *other;
    sim_time when[ROUNDS + 1];
    int count;
    uint32_t bytes;
};

static void player_serve(struct timer *t, sim_time now)
{
    struct player *p = container_of(t, struct player, serve);
    struct packet *ball = packet_new(&p->machine, &p->other->machine);

    p->when[p->count++] = now;
    ball->bytes = p->bytes;
    packet_send(ball);
}

static void player_arrival(struct machine *m, struct packet *ball)
{
    struct player *p = m->model;

    if (p->count <= ROUNDS)
        p->when[p->count++] = machine_now(m);
    if (p->count > ROUNDS) {
        packet_free(ball);
        fleet_stop(m);
        return;
    }
    packet_turn(ball);
    packet_send(ball);
}

static const struct machine_ops player_ops = {.arrival = player_arrival};

static void play(enum fleet_network network, uint32_t bytes, sim_time flight, sim_time tolerance)
{
    struct platform_options o = {.file = platform_file, .end = NS_PER_S};
    struct errors e = ERRORS_NONE;
    struct platform_report report;
    struct player player[2] = {{.bytes = bytes, .other = &player[1]}, {.other = &player[0]}};
    struct fleet f;

    fleet_init(&f);
    f.network = network;
    for (int i = 0; i < 2; i++) {
        machine_init(&player[i].machine, i ? "h1" : "h0", &player_ops, &player[i]);
        fleet_add(&f, &player[i].machine);
    }
    fleet_connect_all(&f);
    timer_init(&player[0].serve, player_serve);
    queue_arm(&player[0].machine.queue, &player[0].serve, 12345);
    ck_assert_int_eq(platform_probe(&o, &f, &e), 0);
    platform_load(&o);
    ck_assert_int_eq(platform_bind(&f, &e), 0);
    ck_assert_int_eq(player[0].machine.cores, 4);
    ck_assert_double_eq(player[0].machine.speed, 2e9);
    ck_assert_int_eq(player[0].machine.nic_rate, 1000000000);
    ck_assert_int_eq(f.latency, 20000);
    ck_assert_int_eq(platform_run(&o, &f, NULL, &report, &e), 0);
    ck_assert_int_eq(report.why, FLEET_STOPPED);
    ck_assert_int_eq(report.lockstep, network == NETWORK_SIMGRID);
    ck_assert_int_eq(report.because != NULL, network == NETWORK_SIMGRID);
    for (int i = 0; i < ROUNDS - 1; i++) {
        ck_assert_int_le(llabs(player[1].when[i] - player[0].when[i] - flight), tolerance);
        ck_assert_int_le(llabs(player[0].when[i + 1] - player[1].when[i] - flight), tolerance);
    }
    fleet_free(&f);
    for (int i = 0; i < 2; i++)
        machine_free(&player[i].machine);
}

static const uint32_t ball_bytes[] = {64, 1500, 9001, 65536};

START_TEST(ping_pong_on_wires)
{
    write_star(2, NULL, NULL);
    play(NETWORK_WIRES, ball_bytes[_i], 20000 + 16 * (sim_time)ball_bytes[_i], 0);
    remove_platform();
}
END_TEST

/* The same dates, but for the rounding of SimGrid's clock and of two divisions: 2 ns. */
START_TEST(ping_pong_by_simgrid)
{
    write_star(2, NULL, NULL);
    play(NETWORK_SIMGRID, ball_bytes[_i], 20000 + 16 * (sim_time)ball_bytes[_i], 2);
    remove_platform();
}
END_TEST

START_TEST(ping_pong_through_a_slow_middle)
{
    write_platform(HEAD "<zone id=\"z\" routing=\"Full\"><host id=\"coordinator\" speed=\"1Gf\"/>"
                        "<host id=\"h0\" speed=\"2Gf\" core=\"4\"/>"
                        "<host id=\"h1\" speed=\"2Gf\" core=\"4\"/>"
                        "<link id=\"a\" bandwidth=\"1Gbps\" latency=\"5us\"/>"
                        "<link id=\"m\" bandwidth=\"64Mbps\" latency=\"10us\"/>"
                        "<link id=\"b\" bandwidth=\"1Gbps\" latency=\"5us\"/>"
                        "<route src=\"h0\" dst=\"h1\"><link_ctn id=\"a\"/><link_ctn id=\"m\"/>"
                        "<link_ctn id=\"b\"/></route></zone></platform>");
    play(_i ? NETWORK_SIMGRID : NETWORK_WIRES, 1000, 8000 + 125000 + 20000 + 8000, _i ? 2 : 0);
    remove_platform();
}
END_TEST

/* ---- Flows ---------------------------------------------------------------------------------- */

struct mover {
    struct machine machine;
    struct timer start;
    struct mover *to;
    int64_t bytes;
    sim_time done;
    bool ok;
};

static void mover_start(struct timer *t, sim_time now)
{
    struct mover *m = container_of(t, struct mover, start);

    (void)now;
    bulk_start(packet_new(&m->machine, &m->to->machine), m->bytes);
}

static void mover_done(struct machine *machine, struct packet *p, bool ok)
{
    struct mover *m = machine->model;

    if (machine == p->from) {
        m->done = machine_now(machine);
        m->ok = ok;
    }
    packet_free(p);
}

static const struct machine_ops mover_ops = {.bulk_done = mover_done};

static struct mover mover[4];
static struct fleet movers;

/* Movers 0, 1, 2 send `bytes` to mover 3 at 1 ms; run to the end with what happens at 5 ms. */
static struct platform_report move(int senders, int64_t bytes, const char *action,
                                   const char *target)
{
    struct platform_options o = {.file = platform_file, .end = 100 * NS_PER_MS};
    struct errors e = ERRORS_NONE;
    struct platform_report report;
    struct timeline t;

    fleet_init(&movers);
    for (int i = 0; i < 4; i++) {
        char host[] = {'h', (char)('0' + i), '\0'};

        mover[i] = (struct mover){.to = &mover[3], .bytes = bytes, .done = -1};
        machine_init(&mover[i].machine, host, &mover_ops, &mover[i]);
        fleet_add(&movers, &mover[i].machine);
        timer_init(&mover[i].start, mover_start);
        if (i < senders)
            queue_arm(&mover[i].machine.queue, &mover[i].start, NS_PER_MS);
    }
    fleet_connect_all(&movers);
    platform_load(&o);
    ck_assert_int_eq(platform_bind(&movers, &e), 0);
    timeline_init(&t);
    if (action)
        timeline_add(&t, 5 * NS_PER_MS, action, target, NULL, &e);
    ck_assert_int_eq(timeline_bind(&t, &movers, NULL, &e), 0);
    ck_assert_int_eq(platform_run(&o, &movers, &t, &report, &e), 0);
    ck_assert_uint_eq(report.flows, (uint64_t)senders);
    timeline_free(&t);
    fleet_free(&movers);
    for (int i = 0; i < 4; i++)
        machine_free(&mover[i].machine);
    return report;
}

/* bytes / bandwidth + latency, told one latency later, rounded up by at most 2 us. */
static void ck_moved(int i, sim_time duration)
{
    sim_time told = NS_PER_MS + duration + 20000 + 20000;

    ck_assert(mover[i].ok);
    ck_assert_int_ge(mover[i].done, told);
    ck_assert_int_le(mover[i].done, told + 2000);
}

START_TEST(a_flow_alone_takes_its_bytes)
{
    write_star(4, NULL, NULL);
    move(1, 1250000, NULL, NULL);
    ck_moved(0, 10 * NS_PER_MS);
    remove_platform();
}
END_TEST

START_TEST(flows_share_the_receivers_link)
{
    write_star(4, NULL, NULL);
    move(3, 1250000, NULL, NULL);
    for (int i = 0; i < 3; i++)
        ck_moved(i, 30 * NS_PER_MS);
    remove_platform();
}
END_TEST

static void ck_cut(int i)
{
    ck_assert(!mover[i].ok);
    ck_assert_int_eq(mover[i].done, 5 * NS_PER_MS + 20000);
}

START_TEST(a_link_cut_ends_its_flows_and_frees_the_way)
{
    write_star(4, NULL, NULL);
    move(2, 1250000, "link-off", "l0");
    ck_cut(0);
    /* 4 ms of sharing, and then alone: 4 ms + (1 - 0.2) 10 ms (less 10 us of latency shared) */
    ck_assert(mover[1].ok);
    ck_assert_int_le(llabs(mover[1].done - 13 * NS_PER_MS), 50000);
    remove_platform();
}
END_TEST

START_TEST(a_dead_receiver_ends_flows)
{
    write_star(4, NULL, NULL);
    move(2, 1250000, "host-off", "h3");
    ck_cut(0);
    ck_cut(1);
    remove_platform();
}
END_TEST

START_TEST(a_dead_sender_is_told_nothing)
{
    write_star(4, NULL, NULL);
    move(2, 1250000, "host-off", "h0");
    ck_assert_int_eq(mover[0].done, -1);
    ck_assert(mover[1].ok);
    remove_platform();
}
END_TEST

/* ---- Profiles of the platform -----------------------------------------------------------------
 */

static char profile_file[64];

static void write_profile(const char *text)
{
    write_platform(text);
    snprintf(profile_file, sizeof profile_file, "%s", platform_file);
}

static void write_star_with_profile(const char *attribute)
{
    char *more = xasprintf(" %s=\"%s\"", attribute, strrchr(profile_file, '/') + 1);

    write_star(4, more, NULL);
    free(more);
}

START_TEST(state_profiles_run_in_lockstep)
{
    struct variant v = {.nodes = 4, .seed = 3, .bulks = 0.2};
    char *log;

    write_profile("0.004 0\n0.005 1\n0.0123456789 0\n0.0150005 1\n");
    write_star_with_profile("state_file");
    log = ck_same(&v, &v);
    ck_assert(strstr(log, "\n4000000 failed 0 0\n"));
    ck_assert(strstr(log, "\n5000000 rebooted 0 0\n"));
    ck_assert(strstr(log, "\n12345679 failed 0 0\n"));
    ck_assert(strstr(log, "\n15000500 rebooted 0 0\n"));
    ck_assert(strstr(log, " bulk-failed "));
    free(log);
    remove_platform();
    unlink(profile_file);
}
END_TEST

START_TEST(state_profiles_say_why)
{
    struct platform_report r;

    write_profile("0.005 0\n");
    write_star_with_profile("state_file");
    r = move(2, 1250000, NULL, NULL);
    ck_assert(r.lockstep);
    ck_assert(strstr(r.because, "profiles"));
    ck_assert(mover[0].ok);
    ck_assert_int_eq(mover[1].done, -1);
    ck_assert(!mover[1].machine.up);
    remove_platform();
    unlink(profile_file);
}
END_TEST

START_TEST(speed_profiles_are_noticed)
{
    struct variant v = {.nodes = 4, .seed = 3};
    char *log;

    write_profile("0.002 0.5\n0.006 1\n");
    write_star_with_profile("speed_file");
    log = run(&v);
    ck_assert(strstr(log, "\n2000000 speed 0 1000000000\n"));
    ck_assert(strstr(log, "\n6000000 speed 0 2000000000\n"));
    free(log);
    remove_platform();
    unlink(profile_file);
}
END_TEST

/* ---- Errors --------------------------------------------------------------------------------- */

/* Probe for machines on hosts a and b; return the errors, one a line. */
static char *probe(const char *a, const char *b)
{
    struct platform_options o = {.file = platform_file};
    struct errors e = ERRORS_NONE;
    struct machine machine[2];
    struct fleet f;
    char *all = xstrdup("");

    fleet_init(&f);
    machine_init(&machine[0], a, &node_ops, NULL);
    machine_init(&machine[1], b, &node_ops, NULL);
    fleet_add(&f, &machine[0]);
    fleet_add(&f, &machine[1]);
    fleet_connect_all(&f);
    ck_assert_int_eq(platform_probe(&o, &f, &e), e.count ? -1 : 0);
    if (e.count)
        ck_assert_int_eq(errors_exit_code(&e), EXIT_INPUT);
    for (size_t i = 0; i < e.count; i++) {
        char *more = xasprintf("%s%s\n", all, e.item[i].text);

        free(all);
        all = more;
    }
    errors_free(&e);
    fleet_free(&f);
    machine_free(&machine[0]);
    machine_free(&machine[1]);
    return all;
}

static void ck_no_error(const char *a, const char *b)
{
    char *errors = probe(a, b);

    ck_assert_str_eq(errors, "");
    free(errors);
}

static void ck_error(const char *a, const char *b, const char *expected, const char *place)
{
    char *errors = probe(a, b), *where = xasprintf("%s%s", platform_file, place);

    printf("%s", errors);
    ck_assert_msg(strstr(errors, expected) != NULL, "\"%s\" not in \"%s\"", expected, errors);
    ck_assert_msg(strstr(errors, where) == errors, "\"%s\" does not begin with \"%s\"", errors,
                  where);
    free(errors);
    free(where);
    remove_platform();
}

START_TEST(a_good_platform_passes)
{
    write_star(2, NULL, NULL);
    ck_no_error("h0", "h1");
    remove_platform();
}
END_TEST

START_TEST(bad_xml_names_its_line)
{
    write_platform(HEAD
                   "<zone id=\"z\" routing=\"Full\">\n<host id=\"h0\" sped=\"1Gf\"/>\n</zone>\n"
                   "</platform>\n");
    ck_error("h0", "h1", "sped", ":5: ");
}
END_TEST

START_TEST(cut_off_xml_names_its_line)
{
    write_platform(HEAD "<zone id=\"z\" routing=\"Full\">\n<host id=\"h0\" speed=\"1Gf\"/>\n");
    ck_error("h0", "h1", "", ":");
}
END_TEST

START_TEST(bad_units_name_their_line)
{
    write_platform(HEAD
                   "<zone id=\"z\" routing=\"Full\">\n<host id=\"h0\" speed=\"fast\"/>\n</zone>\n"
                   "</platform>\n");
    ck_error("h0", "h1", "fast", ":5: ");
}
END_TEST

START_TEST(unknown_links_are_named)
{
    write_platform(HEAD "<zone id=\"z\" routing=\"Full\">\n<host id=\"h0\" speed=\"1Gf\"/>\n"
                        "<host id=\"h1\" speed=\"1Gf\"/>\n<route src=\"h0\" dst=\"h1\">"
                        "<link_ctn id=\"nolink\"/></route></zone>\n</platform>\n");
    ck_error("h0", "h1", "nolink", ": ");
}
END_TEST

START_TEST(a_missing_file_is_named)
{
    snprintf(platform_file, sizeof platform_file, "/tmp/hvsim-no-such-file.xml");
    ck_error("h0", "h1", "no-such-file", ": ");
}
END_TEST

START_TEST(no_xml_at_all)
{
    write_platform("{\"json\": true}\n");
    ck_error("h0", "h1", "", ":");
}
END_TEST

START_TEST(missing_hosts_are_named_with_the_nearest)
{
    write_star(2, NULL, NULL);
    ck_error("h0", "h22", "no host \"h22\"", ": ");
    write_star(2, NULL, NULL);
    ck_error("h0", "coordinatr", "did you mean \"coordinator\"", ": ");
}
END_TEST

START_TEST(two_machines_on_a_host_are_refused)
{
    write_star(2, NULL, NULL);
    ck_error("h0", "h0", "two machines are on host \"h0\"", ": ");
}
END_TEST

START_TEST(missing_routes_are_named)
{
    write_star(2, NULL, NULL);
    ck_error("h0", "coordinator", "no route from host \"h0\" to host \"coordinator\"", ": ");
}
END_TEST

/* Between zones SimGrid may crash instead of saying that there is no route. */
START_TEST(missing_routes_between_zones_are_named)
{
    write_platform(HEAD "<zone id=\"w\" routing=\"Full\">\n"
                        "<zone id=\"a\" routing=\"Full\"><host id=\"h0\" speed=\"1Gf\"/></zone>\n"
                        "<zone id=\"b\" routing=\"Full\"><host id=\"h1\" speed=\"1Gf\"/></zone>\n"
                        "</zone>\n</platform>\n");
    ck_error("h0", "h1", "route", ": ");
}
END_TEST

START_TEST(zero_latency_is_refused_with_a_hint)
{
    write_platform(HEAD "<zone id=\"z\" routing=\"Full\">\n<host id=\"h0\" speed=\"1Gf\"/>\n"
                        "<host id=\"h1\" speed=\"1Gf\"/>\n"
                        "<link id=\"l\" bandwidth=\"1Gbps\" latency=\"0us\"/>\n"
                        "<route src=\"h0\" dst=\"h1\"><link_ctn id=\"l\"/></route></zone>\n"
                        "</platform>\n");
    ck_error("h0", "h1", "latency=\"1us\"", ": ");
}
END_TEST

START_TEST(profiles_of_links_are_refused)
{
    write_star(2, NULL,
               "<!-- <link id=\"c\" state_file=\"x\"/> is a comment -->\n"
               "<link id=\"p\" bandwidth=\"1Gbps\" latency=\"1us\"\n bandwidth_file=\"x\"/>\n");
    ck_error("h0", "h1", "link \"p\" has a profile (bandwidth_file)", ":");
    write_star(2, NULL, NULL);
    ck_no_error("h0", "h1");
    remove_platform();
}
END_TEST

START_TEST(connected_traces_of_links_are_refused)
{
    write_star(2, NULL,
               "<trace id=\"t\" periodicity=\"1\">0 1e6</trace>\n"
               "<trace_connect trace=\"t\" element=\"l0\" kind=\"BANDWIDTH\"/>\n");
    ck_error("h0", "h1", "link \"l0\" has a profile (BANDWIDTH)", ":");
}
END_TEST

/* ---- Where the driver lives -------------------------------------------------------------------
 */

static int start_with(const char *home, const char *dying, struct errors *e)
{
    struct platform_options o = {.file = platform_file, .driver_host = home, .end = NS_PER_MS};
    struct platform_report r;
    struct timeline t;
    struct gossip g;
    int status;

    platform_load(&o);
    gossip_init(&g, 2, 1);
    platform_bind(&g.fleet, e);
    timeline_init(&t);
    if (dying)
        timeline_add(&t, 1000, "host-off", dying, NULL, e);
    timeline_bind(&t, &g.fleet, NULL, e);
    status = platform_run(&o, &g.fleet, &t, &r, e);
    timeline_free(&t);
    free(gossip_end(&g));
    return status;
}

START_TEST(the_driver_needs_a_host_that_stays)
{
    struct errors e = ERRORS_NONE;

    write_star(2, NULL, NULL);
    ck_assert_int_eq(start_with("h1", "h1", &e), -1);
    ck_assert_uint_eq(e.count, 1);
    ck_assert(strstr(e.item[0].text, "\"h1\""));
    errors_free(&e);
    remove_platform();
}
END_TEST

START_TEST(the_driver_may_share_a_host)
{
    struct errors e = ERRORS_NONE;

    write_star(2, NULL, NULL);
    ck_assert_int_eq(start_with("h1", "h0", &e), 0);
    remove_platform();
}
END_TEST

/* ---- Size, library -------------------------------------------------------------------------- */

#define MANY 1000

/* A ring: each sends one packet, which goes round `ROUND` machines. */
#define ROUND 50
static struct player many[MANY];

static void ring_serve(struct timer *t, sim_time now)
{
    struct player *p = container_of(t, struct player, serve);
    struct packet *ball = packet_new(&p->machine, &p->other->machine);

    (void)now;
    ball->bytes = 1000;
    ball->a = ROUND;
    packet_send(ball);
}

static void ring_arrival(struct machine *m, struct packet *ball)
{
    struct player *p = m->model;

    p->count++;
    if (--ball->a == 0) {
        packet_free(ball);
        return;
    }
    ball->from = m;
    ball->to = &p->other->machine;
    packet_send(ball);
}

static const struct machine_ops ring_ops = {.arrival = ring_arrival};

START_TEST(a_thousand_machines)
{
    struct platform_options o = {.file = platform_file, .end = 10 * NS_PER_MS};
    struct errors e = ERRORS_NONE;
    struct platform_report r;
    struct fleet f;

    write_platform(HEAD "<cluster id=\"c\" prefix=\"h\" radical=\"0-999\" suffix=\"\" "
                        "speed=\"1Gf\" bw=\"1Gbps\" lat=\"10us\"/></platform>");
    fleet_init(&f);
    for (uint32_t i = 0; i < MANY; i++) {
        char host[16];

        snprintf(host, sizeof host, "h%u", i);
        machine_init(&many[i].machine, host, &ring_ops, &many[i]);
        many[i].other = &many[(i + 1) % MANY];
        timer_init(&many[i].serve, ring_serve);
        queue_arm(&many[i].machine.queue, &many[i].serve, 1000 * i);
        fleet_add(&f, &many[i].machine);
    }
    for (uint32_t i = 0; i < MANY; i++)
        fleet_connect(&many[i].machine, &many[i].other->machine);
    ck_assert_int_eq(platform_probe(&o, &f, &e), 0);
    platform_load(&o);
    ck_assert_int_eq(platform_bind(&f, &e), 0);
    ck_assert_int_eq(platform_run(&o, &f, NULL, &r, &e), 0);
    for (uint32_t i = 0; i < MANY; i++)
        ck_assert_int_eq(many[i].count, ROUND);
    fleet_free(&f);
    for (uint32_t i = 0; i < MANY; i++)
        machine_free(&many[i].machine);
    remove_platform();
}
END_TEST

START_TEST(shipped_platforms_load)
{
    static const struct {
        const char *file, *a, *b;
        sim_time latency;
    } row[] = {
        {"one-host", "xen", "client", 10000},
        {"one-host-10g", "xen", "client", 4000},
        {"two-hosts", "xen1", "xen2", 4000},
        {"cluster", "node-0", "node-63", 5000},
    };
    struct errors e = ERRORS_NONE;
    struct machine machine[2];
    struct platform_options o;
    struct fleet f;

    snprintf(platform_file, sizeof platform_file, "experiments/library/%s.platform.xml",
             row[_i].file);
    ck_no_error(row[_i].a, row[_i].b);
    o = (struct platform_options){.file = platform_file};
    platform_load(&o);
    fleet_init(&f);
    machine_init(&machine[0], row[_i].a, &node_ops, NULL);
    machine_init(&machine[1], row[_i].b, &node_ops, NULL);
    fleet_add(&f, &machine[0]);
    fleet_add(&f, &machine[1]);
    fleet_connect_all(&f);
    ck_assert_int_eq(platform_bind(&f, &e), 0);
    ck_assert_int_eq(f.latency, row[_i].latency);
    ck_assert_int_eq(platform_host("coordinator", &machine[0].cores, &machine[0].speed), 0);
    fleet_free(&f);
    machine_free(&machine[0]);
    machine_free(&machine[1]);
}
END_TEST

START_TEST(the_version_is_told)
{
    ck_assert(strchr(platform_version(), '.'));
}
END_TEST

Suite *suite_simgrid(void)
{
    Suite *s = suite_create("simgrid");
    TCase *tc = tcase_create("simgrid");

    tcase_add_loop_test(tc, lookahead_does_not_matter, 0, 3);
    tcase_add_loop_test(tc, lookahead_does_not_matter_with_flows_failures_and_changes, 188, 196);
    tcase_add_loop_test(tc, lookahead_does_not_matter_late, 0, 4);
    tcase_add_test(tc, failures_are_the_same_without_simgrid);
    tcase_add_test(tc, stopping_does_not_depend_on_lookahead);
    tcase_add_test(tc, repeated_runs_are_the_same);
    tcase_add_loop_test(tc, ping_pong_on_wires, 0, 4);
    tcase_add_loop_test(tc, ping_pong_by_simgrid, 0, 4);
    tcase_add_loop_test(tc, ping_pong_through_a_slow_middle, 0, 2);
    tcase_add_test(tc, a_flow_alone_takes_its_bytes);
    tcase_add_test(tc, flows_share_the_receivers_link);
    tcase_add_test(tc, a_link_cut_ends_its_flows_and_frees_the_way);
    tcase_add_test(tc, a_dead_receiver_ends_flows);
    tcase_add_test(tc, a_dead_sender_is_told_nothing);
    tcase_add_test(tc, state_profiles_run_in_lockstep);
    tcase_add_test(tc, state_profiles_say_why);
    tcase_add_test(tc, speed_profiles_are_noticed);
    tcase_add_test(tc, a_good_platform_passes);
    tcase_add_test(tc, bad_xml_names_its_line);
    tcase_add_test(tc, cut_off_xml_names_its_line);
    tcase_add_test(tc, bad_units_name_their_line);
    tcase_add_test(tc, unknown_links_are_named);
    tcase_add_test(tc, a_missing_file_is_named);
    tcase_add_test(tc, no_xml_at_all);
    tcase_add_test(tc, missing_hosts_are_named_with_the_nearest);
    tcase_add_test(tc, two_machines_on_a_host_are_refused);
    tcase_add_test(tc, missing_routes_are_named);
    tcase_add_test(tc, missing_routes_between_zones_are_named);
    tcase_add_test(tc, zero_latency_is_refused_with_a_hint);
    tcase_add_test(tc, profiles_of_links_are_refused);
    tcase_add_test(tc, connected_traces_of_links_are_refused);
    tcase_add_test(tc, the_driver_needs_a_host_that_stays);
    tcase_add_test(tc, the_driver_may_share_a_host);
    tcase_add_test(tc, a_thousand_machines);
    tcase_add_loop_test(tc, shipped_platforms_load, 0, 4);
    tcase_add_test(tc, the_version_is_told);
    suite_add_tcase(s, tc);
    return s;
}
