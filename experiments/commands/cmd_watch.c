/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hvsim watch: a host on the terminal while it is simulated, at any speed, with step and pause. */
#include "experiments/commands/commands.h"
#include "experiments/commands/study_options.h"
#include "experiments/commands/watch.h"
#include "experiments/scenario/world.h"
#include "experiments/study/study_inside.h"
#include "sim/progress.h"

#include <inttypes.h>
#include <ncurses.h>
#include <stdlib.h>
#include <unistd.h>

struct watch_options {
    struct study_options options;
    sim_time at, speed;
    int64_t frames;
    char *host;
};

static const struct command_option rows[] = {
    {.param = {PARAM("at", DURATION, struct watch_options, at), .def = "0",
               .meaning = "Date from which on to watch."},
     .value = "TIME"},
    {.param = {PARAM("speed", DURATION, struct watch_options, speed), .def = "10ms", .min = "1us",
               .max = "1h", .meaning = "Simulated time in a second of yours."},
     .value = "DURATION"},
    {.param = {PARAM("host", STRING, struct watch_options, host),
               .meaning = "Which host, if there are several (default: the first)."},
     .value = "NAME"},
    {.param = {PARAM("frames", INTEGER, struct watch_options, frames), .def = "0", .min = "0",
               .max = "1000000",
               .meaning = "Print so many frames as text and end; 0: show them on the terminal, "
                          "and take keys."},
     .value = "N"},
    {.param = {PARAM("set", LIST, struct watch_options, options.set),
               .meaning = "Another value in the scenario; may be repeated."},
     .value = "/JSON/POINTER=VALUE"},
    {.param = {PARAM("seed", INTEGER, struct watch_options, options.seed), .def = "scenario",
               .min = "0", .word = "scenario", .word_value = -1,
               .meaning = "Another seed than the scenario's."},
     .value = "N"},
    {.param = {PARAM("scheduler-plugin", LIST, struct watch_options, options.plugin),
               .meaning = "A scheduler in a shared object; may be repeated."},
     .value = "FILE.so"},
};

enum { FRAMES_PER_S = 20 };
static const int64_t FRAME = NS_PER_S / FRAMES_PER_S;
static const sim_time SLOWEST = 1000, FASTEST = INT64_C(3600) * NS_PER_S; /* per second */

struct terminal {
    const char *name;       /* of the host */
    sim_time speed;         /* ns per second */
    int64_t frames;         /* still to print; terminal: unused */
    int64_t due;            /* the next frame, on the wall clock, ns */
    bool paused, stepping;  /* stepping: to the next decision, and then wait */
    bool over;              /* it was quit */
    int first, line, lines; /* scrolling: the first line shown, the one being put, of all */
};

static sim_time between_frames(const struct terminal *v)
{
    sim_time t = v->speed / FRAMES_PER_S;

    return t ? t : 1;
}

/* ---- as text --------------------------------------------------------------------------------- */

static void print_line(void *ctx, const char *line)
{
    (void)ctx;
    puts(line);
}

static void print_frame(struct watch *w)
{
    struct terminal *v = w->ctx;
    sim_time now = w->host->queue->now;

    printf("%s at %" PRId64 ".%09" PRId64 " s\n\n", v->name, now / NS_PER_S, now % NS_PER_S);
    watch_print(w, print_line, NULL);
    if (--v->frames)
        putchar('\n');
    else
        watch_stop(w);
}

/* ---- on the terminal ------------------------------------------------------------------------- */

static void put_line(void *ctx, const char *line)
{
    struct terminal *v = ctx;
    int row = v->line++ - v->first + 2;

    if (row >= 2 && row < LINES - 1)
        mvaddnstr(row, 0, line, COLS);
}

static void draw(struct watch *w, const char *state)
{
    struct terminal *v = w->ctx;
    sim_time now = w->host->queue->now;

    erase();
    attron(A_REVERSE);
    mvprintw(0, 0, "%s at %" PRId64 ".%09" PRId64 " s   %s, %g ms per second", v->name,
             now / NS_PER_S, now % NS_PER_S, state, (double)v->speed / NS_PER_MS);
    attroff(A_REVERSE);
    v->line = 0;
    watch_print(w, put_line, v);
    v->lines = v->line;
    mvaddnstr(LINES - 1, 0,
              "space pause  s step to next decision  + - speed  up down scroll  q quit", COLS);
    refresh();
}

static void quit(struct watch *w)
{
    struct terminal *v = w->ctx;

    v->paused = v->stepping = false;
    v->over = true;
    w->decided = NULL;
    watch_stop(w);
}

static void step(struct watch *w);

/* What a key does; false: it meant nothing. */
static bool key(struct watch *w, int c)
{
    struct terminal *v = w->ctx;

    switch (c) {
    case ' ':
        v->paused = !v->paused;
        return true;
    case 's':
        v->paused = false;
        v->stepping = true;
        w->decided = step;
        return true;
    case '+':
        v->speed = v->speed > FASTEST / 2 ? FASTEST : 2 * v->speed;
        return true;
    case '-':
        v->speed = v->speed < 2 * SLOWEST ? SLOWEST : v->speed / 2;
        return true;
    case KEY_UP:
        v->first -= v->first > 0;
        return true;
    case KEY_DOWN:
        v->first += v->first + 1 < v->lines;
        return true;
    case KEY_RESIZE:
        return true;
    case 'q':
    case 3: /* Ctrl-C, as the terminal is raw */
    case ERR:
        quit(w);
        return true;
    default:
        return false;
    }
}

/* Nothing goes on until a key says so. */
static void wait_for_key(struct watch *w, const char *state)
{
    struct terminal *v = w->ctx;

    timeout(-1);
    for (v->paused = true; v->paused;) {
        draw(w, state);
        key(w, getch());
    }
    v->due = wall_now();
}

/* After a decision. */
static void step(struct watch *w)
{
    struct terminal *v = w->ctx;

    v->stepping = false;
    w->decided = NULL;
    w->every = between_frames(v);
    wait_for_key(w, "step");
}

static void show_frame(struct watch *w)
{
    struct terminal *v = w->ctx;
    int64_t now = wall_now();

    if (v->stepping) { /* on to the next decision, however far it is */
        w->every = NS_PER_MS;
        return;
    }
    v->due += FRAME;
    if (v->due < now - NS_PER_S)
        v->due = now; /* the simulation is slower: do not run after lost time */
    draw(w, "running");
    while (!v->paused && !v->over && (now = wall_now()) < v->due) {
        int c;

        timeout((int)((v->due - now) / NS_PER_MS) + 1);
        c = getch();
        if (c != ERR)
            key(w, c);
    }
    if (v->paused)
        wait_for_key(w, "paused");
    w->every = between_frames(v);
}

/* ---- the run --------------------------------------------------------------------------------- */

static int watch_host(const struct study *s, struct world *world, const struct watch_options *o,
                      struct errors *e)
{
    const struct variant *variant = &s->variant[0];
    struct world_host *wh = world_find_host(world, o->host);
    struct terminal view = {.speed = o->speed, .frames = o->frames, .due = wall_now()};
    struct watch w = {.from = o->at,
                      .every = between_frames(&view),
                      .frame = o->frames ? print_frame : show_frame,
                      .ctx = &view};
    int failed;

    if (!wh || !wh->host)
        return error_add(e, EXIT_INPUT, "--host: no host \"%s\" in the scenario",
                         o->host ? o->host : "");
    if (o->at >= world->end)
        return error_add(e, EXIT_INPUT, "--at: the run is over before that date");
    view.name = wh->roster->name;
    w.host = wh->host;
    watch_attach(&w);
    if (!o->frames) {
        initscr();
        raw();
        noecho();
        curs_set(0);
        keypad(stdscr, TRUE);
    }
    failed = study_run_world(s, variant, world, world->end, e);
    if (!o->frames) {
        if (!failed && !view.over && wh->host)
            wait_for_key(&w, "the end");
        endwin();
    }
    watch_free(&w);
    return failed;
}

static void watch(const struct study *s, const struct watch_options *o, struct errors *e)
{
    struct world *world = study_world(s, &s->variant[0], 0, e);

    if (world) {
        watch_host(s, world, o, e);
        world_free(world);
    }
}

static enum exit_code run(const void *options, const struct operands *operands, struct errors *e)
{
    struct watch_options given = *(const struct watch_options *)options, *o = &given;
    struct param_list set;
    struct study s;

    if (!o->frames && !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))) {
        error_add(e, EXIT_INPUT,
                  "hvsim watch needs a terminal; --frames N prints so many frames as text");
        return EXIT_INPUT;
    }
    o->options.replications = -1;
    set = study_overrides(&o->options);
    if (!study_begin(&s, operands->text[0], &o->options, e) &&
        !study_add(&s, "", &set, NULL, 0, e) && !study_prepare(&s, e))
        watch(&s, o, e);
    study_overrides_free(&set);
    study_free(&s);
    return e->count ? errors_exit_code(e) : EXIT_OK;
}

const struct command command_watch = {
    .name = "watch",
    .summary = "Watch a host on the terminal while it is simulated",
    .arguments = "SCENARIO.json",
    .least = 1,
    .most = 1,
    .details = "Shows who has each pCPU and who waits for it, every vCPU with its state, CPU share "
               "(of the last 100 ms) and credit, and the last decision in words. Space pauses, s "
               "goes on to the next decision, + and - change the speed, q ends it. The first "
               "replication is taken, up to the end or the first failure of the host.",
    OPTIONS_OF(rows, struct watch_options),
    .run = run,
};
