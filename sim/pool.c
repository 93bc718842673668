/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a result travels: the child gathers it in memory and writes one frame (lengths, data, errors)
 * to its pipe; what ends early is no frame, and the task counts as lost. The parent sleeps in
 * ppoll() with the signals it cares for open only there, so none of them can slip in between a look
 * and the sleep.
 *
 * Each child leads a process group of its own: Ctrl-C on the terminal reaches the parent only,
 * which then kills the groups, helpers of the children included. If the parent itself is killed,
 * the kernel kills the children (PR_SET_PDEATHSIG).
 */
#define _GNU_SOURCE
#include "sim/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TICK_MS 50
#define FORK_TRIES 50 /* of TICK_MS, when the system has no process left and none of ours ends */
#define NO_MEMORY 86  /* exit code of a child whose xcalloc failed; any unused number */
#define FRAME_MAGIC UINT64_C(0x6876706f6f6c0001)

struct frame {
    uint64_t magic, size, errors_size;
    int32_t code; /* of the errors; EXIT_OK: the work was done */
    int32_t zero; /* padding, so that no byte of the frame is undefined */
};

struct child {
    pid_t pid;
    int fd; /* read end of the pipe */
    size_t index;
    char *data; /* what came so far */
    size_t size, capacity;
    int64_t started; /* ns of the wall clock */
    bool timed_out;
    bool silent; /* it has closed its pipe; only its end is still awaited */
    struct child *next;
};

/* A result that is early waits here for its turn. */
struct kept {
    struct pool_result result;
    char *data, *reason;
    bool there;
};

struct run {
    const struct pool *p;
    struct child *children;
    unsigned running, jobs;
    size_t next;      /* task to start; with choose(): POOL_LATER or POOL_END if there is none */
    size_t delivered; /* tasks handed out in order */
    struct kept *kept;
    int fork_tries;
    bool stopped; /* a callback said so */
};

static volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
    if (number != SIGCHLD)
        stop_signal = number;
}

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

unsigned pool_cpus(void)
{
    cpu_set_t set;
    long online;

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (unsigned)CPU_COUNT(&set);
    online = sysconf(_SC_NPROCESSORS_ONLN); /* more CPUs than a cpu_set_t has bits */
    return online > 0 ? (unsigned)online : 1;
}

const char *pool_outcome_name(enum pool_outcome outcome)
{
    static const char *const names[] = {
        [POOL_DONE] = "done",           [POOL_FAILED] = "failed",
        [POOL_EXITED] = "exited",       [POOL_CRASHED] = "crashed",
        [POOL_TIMED_OUT] = "timed out", [POOL_OUT_OF_MEMORY] = "out of memory",
    };

    return names[outcome];
}

/* ---- Signals ------------------------------------------------------------------------------- */

static const int watched[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD};
#define WATCHED (sizeof watched / sizeof *watched)

struct signals {
    struct sigaction action[WATCHED];
    sigset_t mask, sleep_mask; /* before, and while asleep */
};

static void watch_signals(struct signals *before)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t block;

    stop_signal = 0;
    sigemptyset(&action.sa_mask);
    sigemptyset(&block);
    for (size_t i = 0; i < WATCHED; i++)
        sigaddset(&block, watched[i]);
    sigprocmask(SIG_BLOCK, &block, &before->mask);
    before->sleep_mask = before->mask;
    for (size_t i = 0; i < WATCHED; i++) {
        sigdelset(&before->sleep_mask, watched[i]);
        sigaction(watched[i], NULL, &before->action[i]);
        /* nohup and "&" ignore signals on purpose */
        if (watched[i] == SIGCHLD || before->action[i].sa_handler != SIG_IGN)
            sigaction(watched[i], &action, NULL);
    }
}

static void restore_signals(const struct signals *before)
{
    for (size_t i = 0; i < WATCHED; i++)
        sigaction(watched[i], &before->action[i], NULL);
    sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

/* ---- The child ----------------------------------------------------------------------------- */

static int write_all(int fd, const void *data, size_t size)
{
    const char *at = data;

    while (size) {
        ssize_t n = write(fd, at, size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        at += n;
        size -= (size_t)n;
    }
    return 0;
}

static void tell_out_of_memory(void)
{
    _exit(NO_MEMORY);
}

/* All errors as text, a line each. Caller frees. */
static char *join_errors(const struct errors *e, size_t *size)
{
    char *text;
    FILE *out = open_memstream(&text, size);

    if (!out)
        _exit(NO_MEMORY);
    for (size_t i = 0; i < e->count; i++)
        fprintf(out, "%s%s", i ? "\n" : "", e->item[i].text);
    if (fclose(out))
        _exit(NO_MEMORY);
    return text;
}

static void limit_memory(uint64_t bytes)
{
    struct rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};

    if (bytes)
        setrlimit(RLIMIT_AS, &limit);
}

/* gcov writes its counts at exit(), which _exit() leaves out; there in coverage builds only. */
extern void __gcov_dump(void) __attribute__((weak));

static _Noreturn void work(const struct pool *p, size_t index, int fd)
{
    struct errors e = ERRORS_NONE;
    struct frame frame = {.magic = FRAME_MAGIC};
    size_t size, errors_size;
    char *data, *errors;
    FILE *out;
    int status;

    on_out_of_memory = tell_out_of_memory;
    limit_memory(p->memory);
    out = open_memstream(&data, &size);
    if (!out)
        _exit(NO_MEMORY);
    status = p->work(p->ctx, index, out, &e);
    if (fclose(out))
        _exit(NO_MEMORY);
    if (status && !e.count)
        error_add(&e, EXIT_INTERNAL, "the task failed without saying why");
    errors = join_errors(&e, &errors_size);
    frame.size = size;
    frame.errors_size = errors_size;
    frame.code = status ? (int32_t)errors_exit_code(&e) : EXIT_OK;
    status = write_all(fd, &frame, sizeof frame) || write_all(fd, data, size) ||
             write_all(fd, errors, errors_size);
    fflush(stdout);
    if (__gcov_dump)
        __gcov_dump();
    _exit(status ? EXIT_INTERNAL : EXIT_OK);
}

/* Between fork and work: nothing of the parent's may stay that the task should not have. */
static void become_worker(const struct run *r, const struct signals *before, pid_t parent)
{
    int null = open("/dev/null", O_RDONLY);

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it died in between */
        _exit(EXIT_INTERNAL);
    for (const struct child *c = r->children; c; c = c->next)
        close(c->fd);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        if (null != STDIN_FILENO)
            close(null);
    }
    for (size_t i = 0; i < WATCHED; i++)
        signal(watched[i], SIG_DFL);
    sigprocmask(SIG_SETMASK, &before->sleep_mask, NULL);
}

/* ---- Starting and ending children ---------------------------------------------------------- */

/* 0, or -1 when the system has no room for another process. */
static int start(struct run *r, const struct signals *before)
{
    pid_t pid, parent = getpid();
    struct child *c;
    int fd[2];

    if (pipe2(fd, O_CLOEXEC))
        return -1;
    fflush(NULL); /* or the child would write it once more */
    pid = fork();
    if (pid < 0) {
        int error = errno;

        close(fd[0]);
        close(fd[1]);
        errno = error;
        return -1;
    }
    if (pid == 0) {
        close(fd[0]);
        become_worker(r, before, parent);
        work(r->p, r->next, fd[1]);
    }
    setpgid(pid, pid); /* here too: whoever comes first */
    close(fd[1]);
    fcntl(fd[0], F_SETFL, O_NONBLOCK);
    c = xcalloc(1, sizeof *c);
    *c = (struct child){.pid = pid, .fd = fd[0], .index = r->next, .started = now_ns()};
    r->next = r->p->choose ? POOL_LATER : r->next + 1;
    c->next = r->children;
    r->children = c;
    r->running++;
    return 0;
}

static void kill_group(const struct child *c)
{
    if (kill(-c->pid, SIGKILL))
        kill(c->pid, SIGKILL);
}

/* Take what is in the pipe. */
static void drain(struct child *c)
{
    for (;;) {
        ssize_t n;

        if (c->size == c->capacity) {
            c->capacity = c->capacity ? 2 * c->capacity : 4096;
            c->data = xrealloc(c->data, c->capacity);
        }
        n = read(c->fd, c->data + c->size, c->capacity - c->size);
        if (n < 0 && errno == EINTR)
            continue;
        c->silent = n == 0;
        if (n <= 0)
            return;
        c->size += (size_t)n;
    }
}

static void remove_child(struct run *r, struct child *c)
{
    struct child **at = &r->children;

    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    r->running--;
    close(c->fd);
    free(c->data);
    free(c);
}

static int reap(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

static void kill_all(struct run *r)
{
    for (struct child *c = r->children; c; c = c->next)
        kill_group(c);
    while (r->children) {
        reap(r->children->pid);
        remove_child(r, r->children);
    }
}

/* ---- Results ------------------------------------------------------------------------------- */

static const struct frame *frame_of(const struct child *c)
{
    const struct frame *frame = (const void *)c->data;

    if (c->size < sizeof *frame || frame->magic != FRAME_MAGIC ||
        c->size - sizeof *frame < frame->size ||
        c->size - sizeof *frame - frame->size != frame->errors_size)
        return NULL;
    return frame;
}

static char *memory_in_words(const struct pool *p)
{
    return p->memory ? xasprintf(" (memory limit %.0f MiB)", (double)p->memory / 1048576)
                     : xstrdup("");
}

/* Why a task was lost. */
static enum pool_outcome find_reason(const struct run *r, const struct child *c, int status,
                                     char **reason)
{
    char *limit = memory_in_words(r->p);
    enum pool_outcome outcome;

    if (c->timed_out) {
        *reason = xasprintf("killed after the time limit of %g s", r->p->seconds);
        outcome = POOL_TIMED_OUT;
    } else if (WIFSIGNALED(status)) {
        *reason = xasprintf("killed by signal %d (%s)%s", WTERMSIG(status),
                            strsignal(WTERMSIG(status)), limit);
        outcome = POOL_CRASHED;
    } else if (WEXITSTATUS(status) == NO_MEMORY) {
        *reason = xasprintf("out of memory%s", limit);
        outcome = POOL_OUT_OF_MEMORY;
    } else {
        *reason =
            xasprintf("ended with exit code %d before it was done%s", WEXITSTATUS(status), limit);
        outcome = POOL_EXITED;
    }
    free(limit);
    return outcome;
}

/* The result of a reaped child; data and reason go over to `k`. */
static void make_result(const struct run *r, struct child *c, int status, struct kept *k)
{
    bool ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0 && !c->timed_out;
    const struct frame *frame = ended_well ? frame_of(c) : NULL;
    struct pool_result *result = &k->result;

    *k = (struct kept){.there = true};
    result->index = c->index;
    result->seconds = (double)(now_ns() - c->started) / 1e9;
    if (!frame) {
        result->outcome = find_reason(r, c, status, &k->reason);
        result->signal = result->outcome == POOL_CRASHED ? WTERMSIG(status) : 0;
        result->code = EXIT_INTERNAL;
    } else if (frame->code != EXIT_OK) {
        result->outcome = POOL_FAILED;
        result->code = (enum exit_code)frame->code;
        k->reason =
            xasprintf("%.*s", (int)frame->errors_size, c->data + sizeof *frame + frame->size);
    } else {
        result->outcome = POOL_DONE;
        k->data = c->data;
        c->data = NULL;
        result->data = k->data + sizeof *frame;
        result->size = frame->size;
    }
    result->reason = k->reason;
}

static void drop(struct kept *k)
{
    free(k->data);
    free(k->reason);
    *k = (struct kept){0};
}

/* Hand out a result: at once, and in its turn with those that waited for it. */
static void deliver(struct run *r, struct kept *done)
{
    const struct pool *p = r->p;

    if (p->completed && p->completed(p->ctx, &done->result))
        r->stopped = true;
    if (p->choose) {
        drop(done);
        return;
    }
    while (!r->stopped && r->delivered < p->tasks && r->kept[r->delivered].there) {
        struct kept *k = &r->kept[r->delivered++];

        if (p->in_order && p->in_order(p->ctx, &k->result))
            r->stopped = true;
        drop(k);
    }
}

/* Has it ended? Then its helpers are killed, and its result is delivered. */
static void look_after(struct run *r, struct child *c)
{
    siginfo_t info = {0};
    struct kept chosen, *kept = r->p->choose ? &chosen : &r->kept[c->index];
    int status;

    if (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid)
        return;
    kill(-c->pid, SIGKILL); /* before it is reaped: until then the number is its own */
    status = reap(c->pid);
    drain(c);
    make_result(r, c, status, kept);
    remove_child(r, c);
    deliver(r, kept);
}

/* ---- The loop ------------------------------------------------------------------------------ */

/* Milliseconds until something must be done without a signal or data. */
static int next_wake(const struct run *r)
{
    int64_t soonest = r->p->tick || r->fork_tries ? TICK_MS : INT32_MAX;

    if (r->p->seconds > 0)
        for (const struct child *c = r->children; c; c = c->next) {
            double left = r->p->seconds - (double)(now_ns() - c->started) / 1e9;
            int64_t ms = left <= 0 ? 0 : left > 1e6 ? INT32_MAX : (int64_t)(left * 1000) + 1;

            if (!c->timed_out && ms < soonest)
                soonest = ms;
        }
    return (int)soonest;
}

static void sleep_until_something(struct run *r, const struct signals *before)
{
    int ms = next_wake(r);
    struct timespec timeout = {ms / 1000, ms % 1000 * 1000000L};
    struct pollfd *fds = xcalloc(r->running, sizeof *fds);
    nfds_t n = 0;

    for (const struct child *c = r->children; c; c = c->next)
        if (!c->silent) /* a closed pipe would end every sleep at once */
            fds[n++] = (struct pollfd){.fd = c->fd, .events = POLLIN};
    ppoll(fds, n, &timeout, &before->sleep_mask);
    free(fds);
}

static void enforce_time_limit(struct run *r)
{
    if (r->p->seconds <= 0)
        return;
    for (struct child *c = r->children; c; c = c->next)
        if (!c->timed_out && (double)(now_ns() - c->started) / 1e9 >= r->p->seconds) {
            c->timed_out = true;
            kill_group(c);
        }
}

/* Is there a task that can be started now? */
static bool task_waits(struct run *r)
{
    if (!r->p->choose)
        return r->next < r->p->tasks;
    if (r->next == POOL_LATER)
        r->next = r->p->choose(r->p->ctx);
    BUG_ON(r->next == POOL_LATER && !r->running);
    return r->next < POOL_LATER;
}

/* May there be one later? */
static bool tasks_left(const struct run *r)
{
    return r->p->choose ? r->next != POOL_END : r->next < r->p->tasks;
}

/* Start what there is room for. -1: the system refuses, and none of ours will make room. */
static int fill(struct run *r, const struct signals *before)
{
    while (r->running < r->jobs && task_waits(r)) {
        if (start(r, before) == 0) {
            r->fork_tries = 0;
            continue;
        }
        return !r->running && ++r->fork_tries >= FORK_TRIES ? -1 : 0;
    }
    return 0;
}

static enum pool_end loop(struct run *r, const struct signals *before, struct errors *e)
{
    while (r->running || tasks_left(r)) {
        if (fill(r, before)) {
            error_add(e, EXIT_INTERNAL, "cannot start a worker process: %s; use fewer --jobs",
                      strerror(errno));
            return POOL_BROKEN;
        }
        if (!r->running && !tasks_left(r))
            break;
        sleep_until_something(r, before);
        for (struct child *c = r->children, *next; c && !r->stopped; c = next) {
            next = c->next;
            drain(c);
            look_after(r, c);
        }
        if (r->stopped)
            return POOL_STOPPED;
        if (stop_signal)
            return POOL_INTERRUPTED;
        enforce_time_limit(r);
        if (r->p->tick)
            r->p->tick(r->p->ctx);
    }
    return POOL_ALL;
}

enum pool_end pool_run(const struct pool *p, struct errors *e)
{
    struct run r = {.p = p, .jobs = p->jobs ? p->jobs : pool_cpus()};
    struct signals before;
    enum pool_end end;

    if (p->choose)
        r.next = POOL_LATER;
    else
        r.kept = xcalloc(p->tasks, sizeof *r.kept);
    watch_signals(&before);
    end = loop(&r, &before, e);
    kill_all(&r);
    restore_signals(&before);
    for (size_t i = r.delivered; r.kept && i < p->tasks; i++)
        drop(&r.kept[i]);
    free(r.kept);
    return end;
}
