/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Design
 *
 * One actor, the driver, keeps SimGrid's clock. It waits for the date t of the next event of any
 * machine, runs all machines over the window [t, t + L) (fleet_run), hands the flows they started
 * to helpers, and waits for the next date: at most one wait a window, in a semaphore with a
 * time-out, which others release when they have armed something earlier; and none while SimGrid has
 * nothing of its own to do (must_wait). L is the smallest latency between machines: what SimGrid
 * ends inside a window is told to machines one latency later, that is after the window. In lockstep
 * a window is one date, and each has its wait.
 *
 * Dates. The truth are the machines' integers; SimGrid's clock is only made to reach them. It may
 * be an ulp off, and by default SimGrid merges what is less than 1 ns apart; precision() makes that
 * as little as doubles can tell. The one thing read back is the end of a flow: see bulk_end().
 *
 * Helpers are actors on the driver's host that carry one flow after the other by sg_host_sendto(),
 * which sends between any two hosts. If a host goes off under such a flow SimGrid ends the process,
 * so flows of a host are cancelled (their helpers killed) before it is switched off. Where hosts go
 * off by profiles, without warning, each flow is carried by two actors on its two hosts instead:
 * slower, but these get an error code.
 *
 * Sentinels are actors that die with their hosts and are restarted with them; they tell machines.
 * The fault actor does platform actions, on the driver's demand, between two windows.
 *
 * SimGrid has no switch for links in C: links that are off are known to sim/wire.c only, which
 * cancels the flows that use them.
 *
 * Settings: network/latency-factor, bandwidth-factor 1 (latencies and bandwidths of the platform as
 * they are: LV08's 13.01 and 0.97 are fitted to wide-area TCP), crosstraffic and TCP-gamma off (no
 * acknowledgements that take 5 % of the way back, no window), so that a flow alone takes latency +
 * bytes / bandwidth. network/optim Full: under Lazy, 3.32's shares depend on the order in which
 * flows that start at one date were created (by 1e-4, seen with five hosts), which differs between
 * windows and lockstep; Full solves the whole, and costs no more for the few flows there are.
 */
#include "sim/simgrid.h"

#include "sim/platform_probe.h"
#include "sim/platform_profile.h"
#include "sim/wire.h"

#include <simgrid/actor.h>
#include <simgrid/comm.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/link.h>
#include <simgrid/mailbox.h>
#include <simgrid/semaphore.h>
#include <simgrid/version.h>
#include <xbt/config.h>
#include <xbt/dynar.h>
#include <xbt/sysdep.h>

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The driver runs all models on its stack; helpers and sentinels next to nothing. */
#define DRIVER_STACK_KIB 8192
#define ACTOR_STACK_KIB 64

/* Sanitizers cannot follow stacks that are switched under them. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED 0
#endif

/* How often speeds are looked at where hosts have speed profiles; assumed. */
#define SPEED_POLL NS_PER_MS
#define SPEED_LEAST 0.001 /* as for the action host-speed */

/* An actor that carries flows, one at a time. */
struct helper {
    sg_actor_t actor;
    sg_sem_t work;
    struct bulk *flow;
    struct helper *next; /* idle ones */
};

/* Two actors that carry one flow from their hosts, for platforms with state profiles. */
struct pair {
    struct bulk *flow; /* NULL once it has ended */
    sg_mailbox_t mailbox;
    struct {
        sg_actor_t actor;
        bool alive;
    } end[2]; /* sender, receiver */
    struct pair *next;
};

/* The sentinel of a host that may die by a profile. */
struct watch {
    sg_actor_t sentinel;
    sg_sem_t alive;
};

static struct {
    struct platform_profiles profiles;
    bool loaded;

    /* Of the one run. */
    const struct platform_options *options;
    struct fleet *fleet;
    struct timeline *timeline;
    struct platform_report *report;
    sg_host_t home; /* of the driver */
    sg_sem_t wake, fault, fault_done, never;
    bool waiting, over;
    bool acting; /* the fault actor is at work, at date `acting_at` */
    sim_time acting_at;
    struct bulk **wanted; /* flows started in this window */
    size_t wanted_count, wanted_capacity;
    struct helper *idle;
    struct pair *pairs;  /* free ones */
    struct watch *watch; /* by machine; NULL without state profiles */
    uint32_t pair_count;
    uint64_t carried; /* flows in SimGrid now */
    sim_time polled;  /* date of the last look at speeds */
} sg;

static double seconds(sim_time t)
{
    return (double)t / 1e9;
}

static double clock_ns(void)
{
    return simgrid_get_clock() * 1e9;
}

/* The date of what is happening in SimGrid now. */
static sim_time present(void)
{
    return sg.acting ? sg.acting_at : (sim_time)(clock_ns() + 0.5);
}

static void wake_driver(void)
{
    if (!sg.waiting)
        return;
    sg.waiting = false;
    sg_sem_release(sg.wake);
}

static sg_actor_t start_actor(const char *name, sg_host_t host, void (*code)(int, char **),
                              const char *argument, void *data)
{
    const char *argv[] = {name, argument, NULL};
    sg_actor_t actor = sg_actor_init(name, host);

    sg_actor_set_data(actor, data);
    sg_actor_start_(actor, code, argument ? 2 : 1, argv);
    return actor;
}

/* ---- Loading -------------------------------------------------------------------------------- */

void platform_load_loudly(const struct platform_options *o, bool loudly)
{
    const char *arguments[] = {
        "hvsim",
        loudly ? "--log=root.thresh:error" : "--log=root.thresh:critical",
        "--log=root.fmt:%m%n",
        o->thread_contexts || SANITIZED ? "--cfg=contexts/factory:thread"
                                        : "--cfg=contexts/factory:raw",
        "--cfg=network/model:LV08",
        "--cfg=network/optim:Full",
        "--cfg=network/latency-factor:1",
        "--cfg=network/bandwidth-factor:1",
        "--cfg=network/crosstraffic:0",
        "--cfg=network/TCP-gamma:0",
    };
    enum { COUNT = sizeof arguments / sizeof *arguments };
    static char text[COUNT][40]; /* SimGrid wants them writable, and keeps some */
    char *argv[COUNT + 1] = {NULL};
    int argc = COUNT;

    for (int i = 0; i < COUNT; i++) {
        snprintf(text[i], sizeof text[i], "%s", arguments[i]);
        argv[i] = text[i];
    }
    simgrid_init(&argc, argv);
    sg_cfg_set_int("contexts/stack-size", ACTOR_STACK_KIB);
    simgrid_load_platform(o->file);
}

void platform_load(const struct platform_options *o)
{
    struct errors e = ERRORS_NONE;

    BUG_ON(sg.loaded);
    sg.loaded = true;
    platform_profiles_scan(o->file, &sg.profiles, &e);
    errors_free(&e);
    platform_load_loudly(o, false);
}

int platform_host(const char *name, int *cores, double *speed)
{
    sg_host_t host = sg_host_by_name(name);

    if (!host)
        return -1;
    *cores = sg_host_core_count(host);
    *speed = sg_host_get_speed(host);
    return 0;
}

const char *platform_version(void)
{
    static char text[32];
    int major, minor, patch;

    sg_version_get(&major, &minor, &patch);
    snprintf(text, sizeof text, "%d.%d.%d", major, minor, patch);
    return text;
}

/* ---- Binding -------------------------------------------------------------------------------- */

char *platform_asking;

static void ask(const char *from, const char *to)
{
    if (platform_asking)
        snprintf(platform_asking, PLATFORM_ASKING, "the route from host \"%s\" to host \"%s\"",
                 from, to);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A host that is not there: say which would be nearest, and some that are. */
static int no_host(const char *name, struct errors *e)
{
    sg_host_t *hosts = sg_host_list();
    size_t count = sg_host_count();
    const char **names = xcalloc(count, sizeof *names), *nearest;

    for (size_t i = 0; i < count; i++)
        names[i] = sg_host_get_name(hosts[i]);
    qsort(names, count, sizeof *names, by_name);
    nearest = nearest_name(name, names, count);
    if (nearest)
        error_add(e, EXIT_INPUT, "the platform has no host \"%s\"; did you mean \"%s\"?", name,
                  nearest);
    else
        error_add(e, EXIT_INPUT, "the platform has no host \"%s\"; its %zu hosts begin with \"%s\"",
                  name, count, count ? names[0] : "");
    free(names);
    xbt_free(hosts);
    return -1;
}

static int bind_machine(struct machine *m, struct errors *e)
{
    const struct machine *first;

    if (!m->host)
        return error_add(e, EXIT_INPUT, "machine %u has no host of the platform", m->id);
    first = sg_host_by_name(m->host) ? sg_host_get_data(sg_host_by_name(m->host)) : NULL;
    if (!sg_host_by_name(m->host))
        return no_host(m->host, e);
    if (first && first != m)
        return error_add(e, EXIT_INPUT, "two machines are on host \"%s\"; a host can be one only",
                         m->host);
    sg_host_set_data(sg_host_by_name(m->host), m);
    platform_host(m->host, &m->cores, &m->nominal_speed);
    m->speed = m->nominal_speed;
    return 0;
}

/* The fleet's index of a link, kept in SimGrid's link as index + 1. */
static uint32_t link_index(struct fleet *f, sg_link_t link)
{
    uintptr_t known = (uintptr_t)sg_link_get_data(link);

    if (!known) {
        known = 1 + fleet_add_link(f, sg_link_get_name(link),
                                   (int64_t)(sg_link_get_latency(link) * 1e12 + 0.5),
                                   (int64_t)(sg_link_get_bandwidth(link) * 8 + 0.5));
        sg_link_set_data(link, (void *)known);
    }
    return (uint32_t)(known - 1);
}

static int bind_path(struct fleet *f, struct path *p, struct errors *e)
{
    const char *from = p->from->host, *to = p->to->host;
    xbt_dynar_t links = xbt_dynar_new(sizeof(sg_link_t), NULL);
    int64_t latency;

    ask(from, to);
    sg_host_get_route(sg_host_by_name(from), sg_host_by_name(to), links);
    latency =
        (int64_t)(sg_host_get_route_latency(sg_host_by_name(from), sg_host_by_name(to)) * 1e12 +
                  0.5);
    if (platform_asking)
        *platform_asking = '\0';
    p->link_count = (uint32_t)xbt_dynar_length(links);
    p->link = xcalloc(p->link_count, sizeof *p->link);
    p->base_ps = latency;
    for (uint32_t i = 0; i < p->link_count; i++) {
        p->link[i] = link_index(f, *(sg_link_t *)xbt_dynar_get_ptr(links, i));
        p->base_ps -= f->link[p->link[i]].latency_ps;
    }
    xbt_dynar_free(&links);
    if (p->link_count == 0)
        return error_add(e, EXIT_INPUT, "the platform has no route from host \"%s\" to host \"%s\"",
                         from, to);
    if (latency < 500) /* rounds to 0 ns */
        return error_add(
            e, EXIT_INPUT,
            "the route from host \"%s\" to host \"%s\" has latency 0; machines that "
            "send to each other need one above (how far the simulator can look ahead): "
            "give its link latency=\"1us\", or put what is so near on one machine",
            from, to);
    return 0;
}

int platform_bind(struct fleet *f, struct errors *e)
{
    size_t before = e->count;

    for (uint32_t i = 0; i < f->count; i++)
        bind_machine(f->machine[i], e);
    if (e->count > before)
        return -1;
    for (uint32_t i = 0; i < f->count; i++)
        for (uint32_t k = 0; k < f->machine[i]->path_capacity; k++)
            if (f->machine[i]->path[k])
                bind_path(f, f->machine[i]->path[k], e);
    if (e->count > before)
        return -1;
    fleet_rewire(f);
    return 0;
}

/* ---- Flows ---------------------------------------------------------------------------------- */

static void want(struct fleet *f, struct bulk *b)
{
    (void)f;
    if (sg.wanted_count == sg.wanted_capacity) {
        sg.wanted_capacity = sg.wanted_capacity ? 2 * sg.wanted_capacity : 64;
        sg.wanted = xrealloc(sg.wanted, sg.wanted_capacity * sizeof(struct bulk *));
    }
    sg.wanted[sg.wanted_count++] = b;
}

static void sleep_until(sim_time date)
{
    if (seconds(date) > simgrid_get_clock())
        sg_actor_sleep_until(seconds(date));
}

static void flow_ended(struct bulk *b, bool ok)
{
    sg.carried--;
    b->helper = NULL;
    if (ok)
        bulk_end(b, clock_ns());
    else
        bulk_abort(b, present());
    wake_driver();
}

static void help(int argc, char **argv)
{
    struct helper *h = sg_actor_self_get_data();

    (void)argc;
    (void)argv;
    sg_actor_daemonize(sg_actor_self());
    for (;;) {
        struct bulk *b = h->flow;

        sleep_until(b->start);
        sg_host_sendto(sg_host_by_name(b->path->from->host), sg_host_by_name(b->path->to->host),
                       (double)b->bytes);
        flow_ended(b, true);
        h->next = sg.idle;
        sg.idle = h;
        sg_sem_acquire(h->work);
    }
}

static void carry(struct bulk *b)
{
    struct helper *h = sg.idle;

    if (h) {
        sg.idle = h->next;
        h->flow = b;
        sg_sem_release(h->work);
    } else {
        h = xcalloc(1, sizeof *h);
        *h = (struct helper){.work = sg_sem_init(0), .flow = b};
        h->actor = start_actor("helper", sg.home, help, NULL, h);
    }
    b->helper = h;
}

/* One of the two actors on the hosts of a flow. */
static void help_at_end(struct pair *p, int end)
{
    void *payload;
    sg_comm_t comm;
    bool ok;

    sg_actor_daemonize(sg_actor_self());
    if (p->flow)
        sleep_until(p->flow->start);
    if (!p->flow) /* aborted meanwhile */
        return;
    comm = end ? sg_mailbox_get_async(p->mailbox, &payload)
               : sg_mailbox_put_async(p->mailbox, p, (long)p->flow->bytes);
    ok = sg_comm_wait(comm) == SG_OK;
    if (p->flow && (end || !ok)) {
        struct bulk *b = p->flow;

        p->flow = NULL;
        flow_ended(b, ok);
    }
}

/* The last to go frees the pair for the next flow. */
static void end_gone(struct pair *p, int end)
{
    p->end[end].alive = false;
    if (p->end[1 - end].alive || sg.over)
        return;
    p->next = sg.pairs;
    sg.pairs = p;
}

static void sender_gone(int failed, void *data)
{
    (void)failed;
    end_gone(data, 0);
}

static void receiver_gone(int failed, void *data)
{
    (void)failed;
    end_gone(data, 1);
}

static void help_send(int argc, char **argv)
{
    struct pair *p = sg_actor_self_get_data();

    (void)argc;
    (void)argv;
    sg_actor_on_exit(sender_gone, p);
    help_at_end(p, 0);
}

static void help_receive(int argc, char **argv)
{
    struct pair *p = sg_actor_self_get_data();

    (void)argc;
    (void)argv;
    sg_actor_on_exit(receiver_gone, p);
    help_at_end(p, 1);
}

static void carry_by_pair(struct bulk *b)
{
    struct pair *p = sg.pairs;

    if (p) {
        sg.pairs = p->next;
    } else {
        char name[32];

        snprintf(name, sizeof name, "flow %u", sg.pair_count++);
        p = xcalloc(1, sizeof *p);
        p->mailbox = sg_mailbox_by_name(name);
    }
    b->helper = p;
    p->flow = b;
    p->end[0].alive = p->end[1].alive = true;
    p->end[0].actor =
        start_actor("sender", sg_host_by_name(b->path->from->host), help_send, NULL, p);
    p->end[1].actor =
        start_actor("receiver", sg_host_by_name(b->path->to->host), help_receive, NULL, p);
}

/* fleet->cancel. Under state profiles a pair of which one actor died with its host ends by itself;
 * both are alive only when the fault actor cuts a link. */
static void cancel(struct fleet *f, struct bulk *b)
{
    (void)f;
    sg.carried--;
    if (sg.profiles.states) {
        struct pair *p = b->helper;

        p->flow = NULL;
        for (int end = 0; end < 2 && sg.acting; end++)
            if (p->end[end].alive)
                sg_actor_kill(p->end[end].actor);
    } else {
        struct helper *h = b->helper;

        sg_actor_kill(h->actor);
        sg_sem_destroy(h->work);
        free(h);
    }
    b->helper = NULL;
}

static int by_start(const void *x, const void *y)
{
    const struct bulk *a = *(struct bulk *const *)x, *b = *(struct bulk *const *)y;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->path->from != b->path->from)
        return a->path->from->id < b->path->from->id ? -1 : 1;
    return a->packet->number < b->packet->number ? -1 : 1;
}

/* Hand over what the window started, in an order that does not depend on windows. */
static void hand_over(void)
{
    if (sg.wanted_count > 1)
        qsort(sg.wanted, sg.wanted_count, sizeof *sg.wanted, by_start);
    for (size_t i = 0; i < sg.wanted_count; i++) {
        sg.report->flows++;
        sg.carried++;
        if (sg.profiles.states)
            carry_by_pair(sg.wanted[i]);
        else
            carry(sg.wanted[i]);
    }
    sg.wanted_count = 0;
}

/* ---- Failures ------------------------------------------------------------------------------- */

/* Runs while the sentinel is being killed: SimGrid ignores what an actor asks of it then, so this
 * cannot wake the driver. */
static void host_died(int failed, void *data)
{
    (void)failed;
    if (!sg.over)
        machine_fail(data, present());
}

/* Lives and dies with the host of machine number argv[1]; restarted with it. */
static void sentinel(int argc, char **argv)
{
    uint32_t id = (uint32_t)strtoul(argv[argc - 1], NULL, 10);
    struct machine *m = sg.fleet->machine[id];

    sg_actor_daemonize(sg_actor_self());
    sg_actor_on_exit(host_died, m);
    if (sg.watch) {
        sg.watch[id].sentinel = sg_actor_self();
        sg_actor_ref(sg.watch[id].sentinel);
        sg_sem_release(sg.watch[id].alive);
    }
    if (!m->up) {
        machine_reboot(m, present());
        wake_driver();
    }
    sg_sem_acquire(sg.never);
}

/* Where hosts die without warning, someone who lives must tell the driver of it. */
static void watcher(int argc, char **argv)
{
    struct watch *w = &sg.watch[strtoul(argv[argc - 1], NULL, 10)];

    sg_actor_daemonize(sg_actor_self());
    for (;;) {
        sg_sem_acquire(w->alive);
        sg_actor_join(w->sentinel, -1);
        sg_actor_unref(w->sentinel);
        wake_driver();
    }
}

static void start_sentinels(void)
{
    if (sg.profiles.states)
        sg.watch = xcalloc(sg.fleet->count, sizeof *sg.watch);
    for (uint32_t i = 0; i < sg.fleet->count; i++) {
        sg_host_t host = sg_host_by_name(sg.fleet->machine[i]->host);
        char number[16];

        snprintf(number, sizeof number, "%u", i);
        sg_actor_set_auto_restart(start_actor("sentinel", host, sentinel, number, NULL), 1);
        if (!sg.watch)
            continue;
        sg.watch[i].alive = sg_sem_init(0);
        start_actor("watcher", sg.home, watcher, number, NULL);
    }
}

static void link_follows(const struct action *a)
{
    const struct fleet *f = sg.fleet;
    const struct latency_arguments *latency = a->arguments;
    const struct bandwidth_arguments *bandwidth = a->arguments;

    for (uint32_t i = 0; i < f->link_count; i++) {
        sg_link_t link = sg_link_by_name(f->link[i].name);

        if (!wire_link_is(&f->link[i], a->target))
            continue;
        if (action_change(a) == CHANGE_LINK_LATENCY)
            sg_link_set_latency(link, seconds(latency->latency));
        else
            sg_link_set_bandwidth(link, (double)bandwidth->bandwidth / 8);
    }
}

/* Let SimGrid follow an action. Yielding lets the sentinel die or start meanwhile. */
static void follow(const struct action *a)
{
    switch (action_change(a)) {
    case CHANGE_HOST_OFF:
        wire_abort_flows(a->machine, a->when);
        sg_host_turn_off(sg_host_by_name(a->target));
        sg_actor_yield();
        break;
    case CHANGE_HOST_ON:
        sg_host_turn_on(sg_host_by_name(a->target));
        sg_actor_yield();
        break;
    case CHANGE_LINK_LATENCY:
    case CHANGE_LINK_BANDWIDTH:
        link_follows(a);
        break;
    case CHANGE_NONE:
        break;
    }
}

static void fault_actor(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    sg_actor_daemonize(sg_actor_self());
    for (;;) {
        sg_sem_acquire(sg.fault);
        timeline_act(sg.timeline, follow);
        sg_sem_release(sg.fault_done);
    }
}

/* All platform actions of this date, which all machines have been run up to. */
static void change_platform(sim_time date)
{
    sg.acting = true;
    sg.acting_at = date;
    sg_sem_release(sg.fault);
    sg_sem_acquire(sg.fault_done);
    sg.acting = false;
}

/* ---- The driver ----------------------------------------------------------------------------- */

static void poll_speeds(void)
{
    for (uint32_t i = 0; i < sg.fleet->count; i++) {
        struct machine *m = sg.fleet->machine[i];
        double part = sg_host_get_available_speed(sg_host_by_name(m->host));

        machine_set_speed(m, m->nominal_speed * (part > SPEED_LEAST ? part : SPEED_LEAST),
                          present());
    }
}

/* Let SimGrid's clock reach `date`. False if something was armed meanwhile: look again. */
static bool wait_until(sim_time date)
{
    double rest = seconds(date) - simgrid_get_clock();
    bool reached = true;

    if (date == SIM_NEVER) {
        sg.waiting = true;
        sg_sem_acquire(sg.wake);
        return false;
    }
    if (rest > 0) {
        sg.waiting = true;
        reached = sg_sem_acquire_timeout(sg.wake, rest);
        sg.waiting = false;
    }
    return reached;
}

/* Anything in SimGrid that could change the world without the driver's doing? */
static bool simgrid_is_busy(void)
{
    return sg.carried || sg.profiles.states || sg.profiles.speeds;
}

/* SimGrid's clock may stay behind while nothing can happen there: it is brought up before the
 * platform changes and at the end, and a flow's helper sleeps from where it is to the flow's start.
 * With realistic latencies (some us) most windows hold one event, and a wait costs ten. */
static bool must_wait(sim_time next, sim_time change, sim_time end)
{
    return simgrid_is_busy() || sg.report->lockstep || next == change || next == end;
}

static sim_time earlier(sim_time a, sim_time b)
{
    return a < b ? a : b;
}

/* One step: wait, then do what is due. False when the run has ended. */
static bool drive(void)
{
    struct fleet *f = sg.fleet;
    sim_time end = earlier(f->end, sg.options->end);
    sim_time change = sg.timeline ? timeline_next(sg.timeline) : SIM_NEVER;
    sim_time next = earlier(earlier(fleet_next(f), change), end), until;

    if (f->interrupted && *f->interrupted) {
        sg.report->why = FLEET_INTERRUPTED;
        return false;
    }
    if (next == SIM_NEVER && !simgrid_is_busy()) {
        sg.report->why = FLEET_IDLE;
        return false;
    }
    if (sg.profiles.speeds)
        next = earlier(next, (sg.polled / SPEED_POLL + 1) * SPEED_POLL);
    if (must_wait(next, change, end) && !wait_until(next))
        return true;
    sg.report->date = next;
    if (sg.report->lockstep)
        sg_actor_yield(); /* what else is due now in SimGrid goes first */
    if (sg.profiles.speeds) {
        poll_speeds();
        sg.polled = next;
    }
    if (next == end) {
        sg.report->why = f->stopped && end == f->end ? FLEET_STOPPED : FLEET_DATE;
        return false;
    }
    if (next == change) {
        change_platform(change);
        return true;
    }
    until = sg.report->lockstep ? next + 1 : next + fleet_window(f);
    fleet_run(f, earlier(until, earlier(change, end)));
    hand_over();
    sg.report->windows++;
    return true;
}

static void driver(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    while (drive())
        if (sg.options->progress)
            sg.options->progress(sg.options->progress_arg, sg.report->date);
    sg.over = true;
}

/* ---- Running -------------------------------------------------------------------------------- */

/* The least SimGrid can tell apart up to the end date: some ulps there (2^-52 of it), no less than
 * 1 ps, no more than its default. Dates that SimGrid takes for one are ended together, early. */
static double precision(sim_time end)
{
    double least = 8 * DBL_EPSILON * seconds(end);

    return least < 1e-12 ? 1e-12 : least < 1e-9 ? least : 1e-9;
}

static bool may_die(const char *host)
{
    for (size_t i = 0; i < sg.profiles.mortal_count; i++)
        if (strcmp(sg.profiles.mortal[i], host) == 0)
            return true;
    return sg.timeline && timeline_fails(sg.timeline, host);
}

static int choose_home(const char *wish, struct errors *e)
{
    size_t count = sg_host_count(), chosen;
    sg_host_t *hosts = sg_host_list();
    const char **names = xcalloc(count, sizeof *names);

    for (size_t i = 0; i < count; i++)
        names[i] = sg_host_get_name(hosts[i]);
    qsort(names, count, sizeof *names, by_name);
    sg.home = NULL;
    for (int pass = 0; pass < 2 && !sg.home; pass++)
        for (chosen = 0; chosen < count && !sg.home; chosen++)
            if ((!wish || strcmp(names[chosen], wish) == 0) && !may_die(names[chosen]) &&
                (pass == 1 || !sg_host_get_data(sg_host_by_name(names[chosen]))))
                sg.home = sg_host_by_name(names[chosen]);
    free(names);
    xbt_free(hosts);
    if (sg.home)
        return 0;
    if (wish)
        return error_add(e, EXIT_INPUT,
                         "host \"%s\" cannot keep the clock: the platform lacks it or it fails",
                         wish);
    return error_add(e, EXIT_INPUT,
                     "every host of the platform fails at some time; add one that does not, for "
                     "the simulator's own use");
}

static void decide_lockstep(const struct platform_options *o, struct platform_report *r)
{
    r->lockstep = o->lockstep;
    if (sg.fleet->network == NETWORK_SIMGRID)
        r->because = "every packet is a SimGrid communication";
    else if (sg.profiles.states || sg.profiles.speeds)
        r->because = "hosts of the platform have profiles (state_file, speed_file)";
    if (r->because)
        r->lockstep = true;
}

int platform_run(const struct platform_options *o, struct fleet *f, struct timeline *t,
                 struct platform_report *report, struct errors *e)
{
    *report = (struct platform_report){0};
    sg.options = o;
    sg.fleet = f;
    sg.timeline = t;
    sg.report = report;
    if (choose_home(o->driver_host, e))
        return -1;
    decide_lockstep(o, report);
    sg_cfg_set_double("surf/precision", precision(o->end));
    f->carry = want;
    f->cancel = cancel;
    sg.wake = sg_sem_init(0);
    sg.fault = sg_sem_init(0);
    sg.fault_done = sg_sem_init(0);
    sg.never = sg_sem_init(0);
    start_sentinels();
    start_actor("faults", sg.home, fault_actor, NULL, NULL);
    /* Not by sg_actor_set_stacksize(): 3.32 then writes beyond a stack of the default size. */
    sg_cfg_set_int("contexts/stack-size", DRIVER_STACK_KIB);
    start_actor("driver", sg.home, driver, NULL, NULL);
    sg_cfg_set_int("contexts/stack-size", ACTOR_STACK_KIB);
    simgrid_run();
    if (!sg.over) /* without an end date, everyone waits for ever */
        report->why = FLEET_IDLE;
    return 0;
}

void platform_exit(int status)
{
    fflush(NULL);
    _exit(status);
}
