/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The worker pool: whatever a task does to itself, the others are not touched, nothing is left
 * behind, and the order of results does not depend on the number of jobs.
 */
#define _GNU_SOURCE
#include "sim/pool.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1 /* its shadow memory does not fit under RLIMIT_AS */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* What the parent saw. */
struct seen {
    size_t order[256], count; /* indices in order of delivery */
    size_t completed;         /* as they came */
    enum pool_outcome outcome[256];
    enum exit_code code[256];
    char reason[256][200];
    char data[256][64];
    size_t size[256];
    size_t stop_at; /* in_order says stop at this index */
    int ticks;
    int fd; /* for tasks: a pipe that tells who is alive */
};

static int keep(void *ctx, const struct pool_result *r)
{
    struct seen *s = ctx;
    size_t n = r->size < 63 ? r->size : 63;

    s->order[s->count++] = r->index;
    s->outcome[r->index] = r->outcome;
    s->code[r->index] = r->code;
    s->size[r->index] = r->size;
    if (n)
        memcpy(s->data[r->index], r->data, n);
    s->data[r->index][n] = '\0';
    snprintf(s->reason[r->index], sizeof s->reason[0], "%s", r->reason ? r->reason : "");
    return s->stop_at && r->index == s->stop_at;
}

static int count_completed(void *ctx, const struct pool_result *r)
{
    struct seen *s = ctx;

    (void)r;
    s->completed++;
    return 0;
}

static struct seen *new_seen(void)
{
    return calloc(1, sizeof(struct seen));
}

/* Nothing left behind: no child, dead or alive. */
static void no_children(void)
{
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
}

static int open_fds(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;

    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static enum pool_end run(struct seen *s, size_t tasks, unsigned jobs, pool_work_fn *work)
{
    struct pool p = {.tasks = tasks,
                     .jobs = jobs,
                     .ctx = s,
                     .work = work,
                     .in_order = keep,
                     .completed = count_completed};
    struct errors e = ERRORS_NONE;
    int fds = open_fds();
    enum pool_end end = pool_run(&p, &e);

    ck_assert_uint_eq(e.count, 0);
    ck_assert_int_eq(open_fds(), fds);
    no_children();
    return end;
}

/* ---- Results ------------------------------------------------------------------------------- */

static int square(void *ctx, size_t index, FILE *out, struct errors *e)
{
    (void)ctx, (void)e;
    if (index % 3 == 0) /* not in order of the index */
        usleep(3000);
    fprintf(out, "%zu", index * index);
    return 0;
}

START_TEST(results_in_order_whatever_the_jobs)
{
    static const unsigned jobs[] = {1, 2, 5, 64, 0};

    for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) {
        struct seen *s = new_seen();

        ck_assert_int_eq(run(s, 40, jobs[j], square), POOL_ALL);
        ck_assert_uint_eq(s->count, 40);
        ck_assert_uint_eq(s->completed, 40);
        for (size_t i = 0; i < 40; i++) {
            char text[16];

            snprintf(text, sizeof text, "%zu", i * i);
            ck_assert_uint_eq(s->order[i], i);
            ck_assert_int_eq(s->outcome[i], POOL_DONE);
            ck_assert_str_eq(s->data[i], text);
        }
        free(s);
    }
}
END_TEST

static int write_much(void *ctx, size_t index, FILE *out, struct errors *e)
{
    (void)ctx, (void)e;
    for (size_t i = 0; i < index * 1000000; i++)
        fputc('x', out);
    return 0;
}

START_TEST(results_of_any_size)
{
    struct seen *s = new_seen();

    ck_assert_int_eq(run(s, 4, 2, write_much), POOL_ALL);
    for (size_t i = 0; i < 4; i++)
        ck_assert_uint_eq(s->size[i], i * 1000000);
    free(s);
}
END_TEST

/* A caller that learns from results what to do next: each task of a generation waits for the one
 * before it. */
struct chosen {
    size_t started, ended, limit;
    size_t done[64];
};

static size_t choose_next(void *ctx)
{
    struct chosen *c = ctx;

    if (c->started == c->limit)
        return POOL_END;
    if (c->started / 4 > c->ended / 4) /* generations of four */
        return POOL_LATER;
    return 1000 + c->started++;
}

static int chosen_work(void *ctx, size_t index, FILE *out, struct errors *e)
{
    (void)ctx;
    (void)e;
    if (index == 1005)
        raise(SIGKILL);
    fprintf(out, "%zu", index);
    return 0;
}

static int chosen_done(void *ctx, const struct pool_result *r)
{
    struct chosen *c = ctx;

    if (r->index == 1005)
        ck_assert(r->outcome == POOL_CRASHED && r->signal == SIGKILL);
    else
        ck_assert(r->outcome == POOL_DONE && r->signal == 0 &&
                  strtoul(r->data, NULL, 10) == r->index);
    c->done[c->ended++] = r->index;
    return c->limit == 63 && c->ended == 9;
}

START_TEST(tasks_chosen_as_results_come)
{
    for (unsigned jobs = 1; jobs <= 6; jobs++) {
        struct chosen c = {.limit = 14};
        struct pool p = {.jobs = jobs,
                         .ctx = &c,
                         .work = chosen_work,
                         .choose = choose_next,
                         .completed = chosen_done};
        struct errors e = ERRORS_NONE;
        uint64_t seen = 0;

        ck_assert_int_eq(pool_run(&p, &e), POOL_ALL);
        ck_assert_uint_eq(c.ended, 14);
        for (size_t i = 0; i < 14; i++) {
            ck_assert_uint_eq((c.done[i] - 1000) / 4, i / 4);
            seen |= UINT64_C(1) << (c.done[i] - 1000);
        }
        ck_assert_uint_eq(seen, (1 << 14) - 1);
        c = (struct chosen){.limit = 63}; /* and a stop in between */
        ck_assert_int_eq(pool_run(&p, &e), POOL_STOPPED);
        ck_assert_uint_eq(c.ended, 9);
        c = (struct chosen){.limit = 0};
        ck_assert_int_eq(pool_run(&p, &e), POOL_ALL);
    }
}
END_TEST

START_TEST(no_tasks)
{
    struct seen *s = new_seen();

    ck_assert_int_eq(run(s, 0, 2, square), POOL_ALL);
    ck_assert_uint_eq(s->count, 0);
    free(s);
}
END_TEST

START_TEST(stopping_depends_on_the_prefix_only)
{
    static const unsigned jobs[] = {1, 3, 16};

    for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) {
        struct seen *s = new_seen();

        s->stop_at = 7;
        ck_assert_int_eq(run(s, 200, jobs[j], square), POOL_STOPPED);
        ck_assert_uint_eq(s->count, 8);
        ck_assert_uint_eq(s->order[7], 7);
        free(s);
    }
}
END_TEST

/* ---- Tasks that go wrong ------------------------------------------------------------------- */

static int misbehave(void *ctx, size_t index, FILE *out, struct errors *e)
{
    (void)ctx;
    fprintf(out, "half a res");
    switch (index) {
    case 1:
        error_add(e, EXIT_INPUT, "point %zu: bad weight", index);
        return error_add(e, EXIT_SHORT, "and more");
    case 2:
        signal(SIGSEGV, SIG_DFL); /* Check and sanitizers would print a report */
        raise(SIGSEGV);
        break;
    case 3:
        _exit(7);
    case 4:
        return -1;
    case 5:
        fflush(out);
        raise(SIGKILL);
        break;
    case 6:
        _exit(0); /* well, and yet without a result */
    default:
        break;
    }
    fprintf(out, "ult");
    return 0;
}

START_TEST(a_task_loses_itself_only)
{
    static const struct {
        enum pool_outcome outcome;
        const char *reason;
    } wanted[] = {
        {POOL_DONE, ""},
        {POOL_FAILED, "point 1: bad weight\nand more"},
        {POOL_CRASHED, "killed by signal 11 (Segmentation fault)"},
        {POOL_EXITED, "ended with exit code 7 before it was done"},
        {POOL_FAILED, "the task failed without saying why"},
        {POOL_CRASHED, "killed by signal 9 (Killed)"},
        {POOL_EXITED, "ended with exit code 0 before it was done"},
        {POOL_DONE, ""},
    };

    for (unsigned jobs = 1; jobs <= 4; jobs += 3) {
        struct seen *s = new_seen();

        ck_assert_int_eq(run(s, 8, jobs, misbehave), POOL_ALL);
        ck_assert_uint_eq(s->count, 8);
        for (size_t i = 0; i < 8; i++) {
            bool done = wanted[i].outcome == POOL_DONE;

            ck_assert_int_eq(s->outcome[i], wanted[i].outcome);
            ck_assert_str_eq(s->reason[i], wanted[i].reason);
            ck_assert_str_eq(s->data[i], done ? "half a result" : "");
        }
        ck_assert_int_eq(s->code[1], EXIT_INPUT);
        free(s);
    }
}
END_TEST

static int hang_at_two(void *ctx, size_t index, FILE *out, struct errors *e)
{
    if (index != 2)
        return square(ctx, index, out, e);
    for (int i = 1; i < 32; i++)
        signal(i, SIG_IGN);
    for (;;)
        pause();
}

START_TEST(a_hanging_task_is_killed)
{
    struct seen *s = new_seen();
    struct pool p = {
        .tasks = 6, .jobs = 2, .seconds = 1.5, .ctx = s, .work = hang_at_two, .in_order = keep};
    struct errors e = ERRORS_NONE;

    ck_assert_int_eq(pool_run(&p, &e), POOL_ALL);
    ck_assert_uint_eq(s->count, 6);
    for (size_t i = 0; i < 6; i++)
        if (i != 2)
            ck_assert_msg(s->outcome[i] == POOL_DONE, "%zu: %s", i, s->reason[i]);
    ck_assert_int_eq(s->outcome[2], POOL_TIMED_OUT);
    ck_assert_str_eq(s->reason[2], "killed after the time limit of 1.5 s");
    no_children();
    free(s);
}
END_TEST

static int eat_memory(void *ctx, size_t index, FILE *out, struct errors *e)
{
    if (index == 1)
        for (;;)
            memset(xcalloc(1, 1 << 20), 1, 1 << 20);
    return square(ctx, index, out, e);
}

START_TEST(a_memory_limit_ends_its_task_only)
{
    struct seen *s = new_seen();
    struct pool p = {.tasks = 3,
                     .jobs = 2,
                     .memory = UINT64_C(256) << 20,
                     .ctx = s,
                     .work = eat_memory,
                     .in_order = keep};
    struct errors e = ERRORS_NONE;

    if (!SANITIZED) {
        ck_assert_int_eq(pool_run(&p, &e), POOL_ALL);
        ck_assert_int_eq(s->outcome[0], POOL_DONE);
        ck_assert_int_eq(s->outcome[1], POOL_OUT_OF_MEMORY);
        ck_assert_str_eq(s->reason[1], "out of memory (memory limit 256 MiB)");
        ck_assert_int_eq(s->outcome[2], POOL_DONE);
    }
    no_children();
    free(s);
}
END_TEST

/* A task that leaves a helper behind, which keeps the task's pipe open. */
static int leave_helper(void *ctx, size_t index, FILE *out, struct errors *e)
{
    if (fork() == 0)
        for (;;)
            pause();
    return square(ctx, index, out, e);
}

START_TEST(helpers_of_a_task_end_with_it)
{
    struct seen *s = new_seen();
    int alive[2];
    char byte;

    ck_assert_int_eq(pipe(alive), 0); /* children hold the write end */
    ck_assert_int_eq(run(s, 3, 2, leave_helper), POOL_ALL);
    ck_assert_uint_eq(s->count, 3);
    close(alive[1]);
    ck_assert_int_eq(read(alive[0], &byte, 1), 0); /* would wait for a helper that lives */
    free(s);
}
END_TEST

/* ---- Signals ------------------------------------------------------------------------------- */

static int signal_to_send, go[2]; /* a pipe: the first three results were delivered */

static int keep_and_go(void *ctx, const struct pool_result *r)
{
    int stop = keep(ctx, r);

    if (r->index == 2)
        ck_assert_int_eq(write(go[1], "g", 1), 1);
    return stop;
}

static int interrupt_parent(void *ctx, size_t index, FILE *out, struct errors *e)
{
    char byte;

    if (index < 3)
        return square(ctx, index, out, e);
    if (index == 3 && read(go[0], &byte, 1) == 1)
        kill(getppid(), signal_to_send);
    for (;;)
        pause();
}

static void handler(int number)
{
    (void)number;
}

START_TEST(interrupted)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction mine = {.sa_handler = handler}, after;

    for (size_t i = 0; i < 3; i++) {
        struct seen *s = new_seen();
        struct pool p = {
            .tasks = 50, .jobs = 5, .ctx = s, .work = interrupt_parent, .in_order = keep_and_go};
        struct errors e = ERRORS_NONE;
        int alive[2];
        sigset_t mask;
        char byte;

        ck_assert_int_eq(pipe(alive), 0);
        ck_assert_int_eq(pipe(go), 0);
        sigaction(signals[i], &mine, NULL);
        signal_to_send = signals[i];
        ck_assert_int_eq(pool_run(&p, &e), POOL_INTERRUPTED);
        no_children();
        ck_assert_uint_eq(s->count, 3); /* what was there is kept */
        close(alive[1]);
        ck_assert_int_eq(read(alive[0], &byte, 1), 0); /* nobody lives */
        close(alive[0]);
        close(go[0]);
        close(go[1]);
        sigaction(signals[i], NULL, &after);
        ck_assert(after.sa_handler == handler);
        sigprocmask(SIG_BLOCK, NULL, &mask);
        ck_assert(!sigismember(&mask, signals[i]));
        free(s);
    }
}
END_TEST

static int signal_and_go_on(void *ctx, size_t index, FILE *out, struct errors *e)
{
    kill(getppid(), SIGINT);
    return square(ctx, index, out, e);
}

START_TEST(ignored_signals_stay_ignored)
{
    struct seen *s = new_seen();

    signal(SIGINT, SIG_IGN); /* as nohup and "&" do */
    ck_assert_int_eq(run(s, 5, 2, signal_and_go_on), POOL_ALL);
    free(s);
}
END_TEST

START_TEST(other_signals_do_not_disturb)
{
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    struct sigaction mine = {.sa_handler = handler}; /* without SA_RESTART: EINTR everywhere */
    struct seen *s = new_seen();

    sigaction(SIGALRM, &mine, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    ck_assert_int_eq(run(s, 30, 4, write_much), POOL_ALL);
    setitimer(ITIMER_REAL, &never, NULL);
    for (size_t i = 0; i < 30; i++)
        ck_assert_uint_eq(s->size[i], i * 1000000);
    free(s);
}
END_TEST

static int wait_forever(void *ctx, size_t index, FILE *out, struct errors *e)
{
    const struct seen *s = ctx;

    (void)index, (void)out, (void)e;
    if (write(s->fd, "x", 1) == 1)
        for (;;)
            pause();
    return 0;
}

START_TEST(tasks_do_not_outlive_a_killed_parent)
{
    struct seen *s = new_seen();
    int alive[2];
    char byte;
    pid_t pid;

    ck_assert_int_eq(pipe(alive), 0);
    s->fd = alive[1];
    pid = fork();
    if (pid == 0) {
        struct pool p = {.tasks = 2, .jobs = 2, .ctx = s, .work = wait_forever};
        struct errors e = ERRORS_NONE;

        pool_run(&p, &e);
        _exit(0);
    }
    close(alive[1]);
    ck_assert_int_eq(read(alive[0], &byte, 1), 1);
    ck_assert_int_eq(read(alive[0], &byte, 1), 1); /* both run */
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    ck_assert_int_eq(read(alive[0], &byte, 1), 0); /* both are gone */
    free(s);
}
END_TEST

/* ---- The rest ------------------------------------------------------------------------------ */

static int nested(void *ctx, size_t index, FILE *out, struct errors *e)
{
    struct seen *inner = new_seen();
    struct pool p = {.tasks = 4, .jobs = 2, .ctx = inner, .work = square, .in_order = keep};

    (void)ctx;
    if (pool_run(&p, e) != POOL_ALL)
        return -1;
    fprintf(out, "%zu:%s", index, inner->data[3]);
    return 0;
}

START_TEST(pools_in_tasks)
{
    struct seen *s = new_seen();

    ck_assert_int_eq(run(s, 3, 2, nested), POOL_ALL);
    ck_assert_str_eq(s->data[2], "2:9");
    free(s);
}
END_TEST

static int print(void *ctx, size_t index, FILE *out, struct errors *e)
{
    (void)ctx, (void)e, (void)out;
    printf("task %zu;", index); /* no newline: that might flush */
    return 0;
}

START_TEST(buffered_output_is_written_once)
{
    char path[] = "/tmp/hvsim-pool-XXXXXX", text[256] = "";
    int fd = mkstemp(path), old = dup(STDOUT_FILENO);
    struct seen *s = new_seen();
    FILE *f;

    fflush(stdout);
    dup2(fd, STDOUT_FILENO);
    printf("before;");
    ck_assert_int_eq(run(s, 2, 1, print), POOL_ALL);
    printf("after");
    fflush(stdout);
    dup2(old, STDOUT_FILENO);
    f = fopen(path, "r");
    ck_assert_uint_gt(fread(text, 1, sizeof text - 1, f), 0);
    ck_assert_str_eq(text, "before;task 0;task 1;after");
    fclose(f);
    unlink(path);
    close(fd);
    close(old);
    free(s);
}
END_TEST

static void tick(void *ctx)
{
    struct seen *s = ctx;

    s->ticks++;
}

static int sleep_a_little(void *ctx, size_t index, FILE *out, struct errors *e)
{
    (void)ctx, (void)index, (void)out, (void)e;
    usleep(400000);
    return 0;
}

START_TEST(ticks_come_while_nothing_happens)
{
    struct seen *s = new_seen();
    struct pool p = {.tasks = 1, .jobs = 1, .ctx = s, .work = sleep_a_little, .tick = tick};
    struct errors e = ERRORS_NONE;

    ck_assert_int_eq(pool_run(&p, &e), POOL_ALL);
    ck_assert_int_ge(s->ticks, 2);
    free(s);
}
END_TEST

/* As an ordinary user who may have no further process. */
START_TEST(no_process_to_be_had)
{
    struct rlimit some, none;
    struct seen *s = new_seen();
    struct pool p = {.tasks = 2, .jobs = 2, .ctx = s, .work = square, .in_order = keep};
    struct errors e = ERRORS_NONE;
    pid_t pid;

    if (getuid() == 0)
        ck_assert_int_eq(setuid(65534), 0);
    getrlimit(RLIMIT_NPROC, &some);
    none = (struct rlimit){0, some.rlim_max};
    setrlimit(RLIMIT_NPROC, &none);
    pid = fork();
    if (pid == 0)
        _exit(0);
    if (pid > 0) { /* a sandbox that does not count processes */
        waitpid(pid, NULL, 0);
    } else {
        ck_assert_int_eq(pool_run(&p, &e), POOL_BROKEN);
        ck_assert_msg(strstr(e.item[0].text, "cannot start a worker process") != NULL, "%s",
                      e.item[0].text);
        ck_assert_int_eq(e.item[0].code, EXIT_INTERNAL);
        errors_free(&e);
    }
    setrlimit(RLIMIT_NPROC, &some); /* the leak checker needs a process */
    free(s);
}
END_TEST

START_TEST(names_and_cpus)
{
    ck_assert_uint_ge(pool_cpus(), 1);
    ck_assert_str_eq(pool_outcome_name(POOL_TIMED_OUT), "timed out");
    ck_assert_str_eq(pool_outcome_name(POOL_OUT_OF_MEMORY), "out of memory");
}
END_TEST

Suite *suite_pool(void);

Suite *suite_pool(void)
{
    Suite *s = suite_create("pool");
    TCase *tc = tcase_create("pool");

    tcase_add_test(tc, results_in_order_whatever_the_jobs);
    tcase_add_test(tc, results_of_any_size);
    tcase_add_test(tc, tasks_chosen_as_results_come);
    tcase_add_test(tc, no_tasks);
    tcase_add_test(tc, stopping_depends_on_the_prefix_only);
    tcase_add_test(tc, a_task_loses_itself_only);
    tcase_add_test(tc, a_hanging_task_is_killed);
    tcase_add_test(tc, a_memory_limit_ends_its_task_only);
    tcase_add_test(tc, helpers_of_a_task_end_with_it);
    tcase_add_test(tc, interrupted);
    tcase_add_test(tc, ignored_signals_stay_ignored);
    tcase_add_test(tc, other_signals_do_not_disturb);
    tcase_add_test(tc, tasks_do_not_outlive_a_killed_parent);
    tcase_add_test(tc, pools_in_tasks);
    tcase_add_test(tc, buffered_output_is_written_once);
    tcase_add_test(tc, ticks_come_while_nothing_happens);
    tcase_add_test(tc, no_process_to_be_had);
    tcase_add_test(tc, names_and_cpus);
    suite_add_tcase(s, tc);
    return s;
}
