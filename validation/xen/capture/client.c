/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What dom0 runs beside xentrace: the client of the guests' servers, and the help that QEMU needs.
 *
 *     client closed   OUT SEED RATE SECONDS IP     one outstanding request; exponential think time
 * of mean 1/RATE s from the reply to the next request client open     OUT SEED RATE SECONDS IP
 * requests at exponential distances client interval OUT US COUNT IP              a request every
 * US, or at once when late client rounds   OUT US COUNT ROTATE IP...    every US the same request
 * to all, back to back in the order given; ROTATE 1: another one first each time client interleave
 * see there
 *
 * A request is 64 bytes by UDP to port 7. OUT is a table of delays in us (-1: lost) with the date
 * of each (first) send in us from the start and in ticks of the TSC, xentrace's clock.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

enum { SERVERS = 8, BYTES = 64, PATIENCE_PERIODS = 5 };

static const int64_t US = 1000, S = 1000000000;
static const int64_t PATIENCE = 2000000000; /* a closed loop's: then the request counts as lost */

enum mode { CLOSED, OPEN, INTERVAL, ROUNDS };
static const char *const mode_name[] = {"closed", "open", "interval", "rounds"};

struct request {
    int64_t sent;
    uint64_t tsc;
    int64_t delay[SERVERS]; /* -1: no reply (yet) */
};

struct client {
    enum mode mode;
    double mean;    /* of exponential times, ns */
    int64_t period; /* ns */
    bool rotate;
    uint64_t random; /* SplitMix64's state; starts as the seed */
    int64_t start, end;
    struct pollfd server[SERVERS];
    unsigned servers;
    struct request *request;
    size_t sends, most;
};

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * S + t.tv_nsec;
}

static uint64_t tsc(void)
{
    uint32_t low, high;

    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

/* By SplitMix64, so that the dates follow from the seed whatever the C library. */
static double exponential(struct client *c)
{
    uint64_t z = c->random += 0x9e3779b97f4a7c15;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    z ^= z >> 31;
    return -c->mean * log(((double)(z >> 11) + 0.5) / 9007199254740992.0);
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* ---- sending and receiving ------------------------------------------------------------------- */

static void send_all(struct client *c)
{
    struct request *r = &c->request[c->sends];
    char datagram[BYTES] = {0};
    uint64_t number = c->sends;

    memcpy(datagram, &number, sizeof number);
    r->tsc = tsc();
    r->sent = now();
    for (unsigned i = 0; i < c->servers; i++)
        send(c->server[c->rotate ? (i + c->sends) % c->servers : i].fd, datagram, BYTES, 0);
    c->sends++;
}

static void receive(struct client *c, unsigned server)
{
    char datagram[BYTES];
    ssize_t n = recv(c->server[server].fd, datagram, BYTES, MSG_DONTWAIT);
    int64_t at = now();
    uint64_t number;

    memcpy(&number, datagram, sizeof number);
    if (n == BYTES && number < c->sends && c->request[number].delay[server] < 0)
        c->request[number].delay[server] = at - c->request[number].sent;
}

/* Take replies until that date, or until one was taken. */
static void wait_until(struct client *c, int64_t date)
{
    int64_t left = date - now();
    struct timespec t = {left / S, left % S};

    if (left <= 0 || ppoll(c->server, c->servers, &t, NULL) <= 0)
        return;
    for (unsigned i = 0; i < c->servers; i++)
        if (c->server[i].revents)
            receive(c, i);
}

static bool answered(const struct client *c)
{
    return !c->sends || c->request[c->sends - 1].delay[0] >= 0;
}

/* Closed loops wait for the reply first. */
static void await_reply(struct client *c)
{
    int64_t until = c->sends ? c->request[c->sends - 1].sent + PATIENCE : 0;

    while (!answered(c) && now() < until)
        wait_until(c, until);
}

static int64_t next_send(struct client *c, int64_t last)
{
    switch (c->mode) {
    case CLOSED:
        await_reply(c);
        return (c->sends ? now() : c->start) + (int64_t)exponential(c);
    case OPEN:
        return last + (int64_t)exponential(c);
    case INTERVAL:
        await_reply(c);
        return !c->sends ? c->start : last + c->period > now() ? last + c->period : now();
    default:
        return c->start + (int64_t)c->sends * c->period;
    }
}

static void run(struct client *c)
{
    int64_t next, end;

    c->start = now() + 20000 * US;
    c->end = c->end ? c->start + c->end : INT64_MAX;
    next = c->start;
    while (c->sends < c->most && (next = next_send(c, next)) < c->end) {
        while (now() < next)
            wait_until(c, next);
        send_all(c);
    }
    end = now() + (c->mode == ROUNDS ? PATIENCE_PERIODS * c->period : PATIENCE);
    while (now() < end && !(c->servers == 1 && answered(c)))
        wait_until(c, end);
}

/* ---- the table ------------------------------------------------------------------------------- */

static void print_delay(const struct client *c, int64_t delay, FILE *f)
{
    if (delay < 0 || (c->mode == ROUNDS && delay > PATIENCE_PERIODS * c->period))
        fputs(",-1", f);
    else
        fprintf(f, ",%.1f", (double)delay / (double)US);
}

static void write_table(const struct client *c, const char *path)
{
    FILE *f = fopen(path, "w");

    if (!f)
        fail(path);
    fputs(c->mode == ROUNDS ? "round,send_us,send_tsc" : "seq,send_us,rtt_us,send_tsc", f);
    for (unsigned i = 0; c->mode == ROUNDS && i < c->servers; i++)
        fprintf(f, ",d%u_us", i + 1);
    fputc('\n', f);
    for (size_t n = 0; n < c->sends; n++) {
        const struct request *r = &c->request[n];

        fprintf(f, "%zu,%.1f", n, (double)(r->sent - c->start) / (double)US);
        if (c->mode != ROUNDS)
            print_delay(c, r->delay[0], f);
        fprintf(f, ",%llu", (unsigned long long)r->tsc);
        for (unsigned i = 0; c->mode == ROUNDS && i < c->servers; i++)
            print_delay(c, r->delay[i], f);
        fputc('\n', f);
    }
    if (fclose(f))
        fail(path);
}

/* ---- the emulated clock's timer -------------------------------------------------------------- */

static void cmos_write(int at, int value)
{
    outb((unsigned char)at, 0x70);
    outb((unsigned char)value, 0x71);
}

static int cmos_read(int at)
{
    outb((unsigned char)at, 0x70);
    return inb(0x71);
}

/* Under -icount QEMU runs the emulated CPUs in turn, each until the next deadline of a timer. Here
 * the timer of the emulated clock (RTC) starts to tick 1024 times a second; its interrupt stays
 * masked, so that no software sees it, but CPUs then take turns within a millisecond. */
static int interleave(void)
{
    enum { RATE_1024_HZ = 6, REGISTER_A = 10, REGISTER_B = 11, PERIODIC = 0x40 };

    if (iopl(3))
        fail("iopl");
    cmos_write(REGISTER_A, (cmos_read(REGISTER_A) & 0xf0) | RATE_1024_HZ);
    cmos_write(REGISTER_B, cmos_read(REGISTER_B) | PERIODIC);
    return 0;
}

/* ---- the command line ------------------------------------------------------------------------ */

static void add_server(struct client *c, const char *ip)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(7)};
    int s = socket(AF_INET, SOCK_DGRAM, 0);

    if (!inet_aton(ip, &a.sin_addr) || connect(s, (struct sockaddr *)&a, sizeof a))
        fail(ip);
    c->server[c->servers++] = (struct pollfd){.fd = s, .events = POLLIN};
}

/* Room for all requests, touched and locked: no page faults later. */
static void make_room(struct client *c)
{
    c->request = malloc(c->most * sizeof *c->request);
    if (!c->request)
        fail("memory");
    memset(c->request, 0xff, c->most * sizeof *c->request);
    mlockall(MCL_CURRENT);
    prctl(PR_SET_TIMERSLACK, 1UL);
}

int main(int argc, char **argv)
{
    struct client c = {0};
    int at = 5;

    if (argc == 2 && !strcmp(argv[1], "interleave"))
        return interleave();
    if (argc < 6)
        return 2;
    while (c.mode < ROUNDS && strcmp(argv[1], mode_name[c.mode]))
        c.mode++;
    if (c.mode <= OPEN) {
        c.random = strtoull(argv[3], NULL, 10);
        c.mean = 1e9 / atof(argv[4]);
        c.end = (int64_t)(atof(argv[at++]) * 1e9);
        c.most = (size_t)((double)c.end / c.mean * 2) + 1000;
    } else {
        c.period = atoll(argv[3]) * US;
        c.most = strtoull(argv[4], NULL, 10);
        if (c.mode == ROUNDS)
            c.rotate = atoi(argv[at++]);
    }
    while (at < argc && c.servers < SERVERS)
        add_server(&c, argv[at++]);
    if (!c.servers)
        return 2;
    make_room(&c);
    run(&c);
    write_table(&c, argv[2]);
    return 0;
}
