/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * /init, and all there is, of the guests whose schedules are recorded. The kernel's command line
 * says what to run, any number of these in processes of their own:
 *
 *     run=hog        computes for ever
 *     run=idlehog    the same at SCHED_IDLE: only when nothing else in the guest wants to run, so
 *                    that the vCPU never blocks and nobody is delayed by it within the guest
 *     run=waker      sleeps sleep_us, computes burst_us, for ever
 *     run=lookbusy   sleeps a random time below 100 ms once (by `seed`), then computes percent ms
 *                    and sleeps 100 - percent ms counted from the end, for ever
 *     run=server     answers UDP datagrams to port 7 of `ip`, each after compute_us of computing
 *
 * To compute for a time means a fixed number of instructions, so that it takes longer when the vCPU
 * is preempted. Everybody announces itself on the console as "guest: ready" once it is up.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Under -icount shift=1 an instruction takes 2 ns, and a turn of the loop is two of them. */
enum { TURNS_PER_US = 250, LOOKBUSY_CYCLE_MS = 100, DATAGRAM_MAX = 2048 };

#define DOM0_IP "10.0.0.1"
#define DOM0_MAC "\x00\x16\x3e\x00\x00\x01"

static char command_line[4096];

/* ---- the kernel's command line --------------------------------------------------------------- */

/* Where the value of "key=value" begins; NULL: it is not there. */
static const char *option(const char *key)
{
    size_t length = strlen(key);

    for (const char *at = command_line; (at = strstr(at, key)); at += length)
        if ((at == command_line || at[-1] == ' ') && at[length] == '=')
            return at + length + 1;
    return NULL;
}

static long number(const char *key, long absent)
{
    const char *text = option(key);

    return text ? atol(text) : absent;
}

/* Is this one of the comma-separated words of run=? */
static bool runs(const char *program)
{
    const char *at = option("run");
    size_t length = strlen(program);

    while (at && *at && *at != ' ') {
        size_t n = strcspn(at, ", \n");

        if (n == length && !strncmp(at, program, n))
            return true;
        at += n + (at[n] == ',');
        if (*at == '\n')
            break;
    }
    return false;
}

/* ---- computing and sleeping ------------------------------------------------------------------ */

static void compute(long us)
{
    uint64_t turns = (uint64_t)us * TURNS_PER_US;

    if (turns)
        __asm__ volatile("1: dec %0; jnz 1b" : "+r"(turns) : : "cc");
}

static void rest(long us)
{
    struct timespec t = {us / 1000000, us % 1000000 * 1000};

    clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

static void hog(void)
{
    for (;;)
        compute(1000000);
}

static void idlehog(void)
{
    struct sched_param none = {0};

    sched_setscheduler(0, SCHED_IDLE, &none);
    hog();
}

static void waker(void)
{
    long sleep_us = number("sleep_us", 5000), burst_us = number("burst_us", 300);

    for (;;) {
        rest(sleep_us);
        compute(burst_us);
    }
}

/* SplitMix64's first number from this state. */
static uint64_t random_from(uint64_t state)
{
    uint64_t z = state + 0x9e3779b97f4a7c15;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static void lookbusy(void)
{
    long percent = number("percent", 30);
    uint64_t seed = (uint64_t)number("seed", 1);

    rest((long)(random_from(seed * 1000003 + 12345) % (LOOKBUSY_CYCLE_MS * 1000)));
    for (;;) {
        compute(percent * 1000);
        if (percent < LOOKBUSY_CYCLE_MS)
            rest((LOOKBUSY_CYCLE_MS - percent) * 1000);
    }
}

/* ---- the server ------------------------------------------------------------------------------ */

static void complain(const char *what)
{
    printf("guest: %s: %s\n", what, strerror(errno));
}

static void load_netfront(void)
{
    int fd = open("/xen-netfront.ko", O_RDONLY);

    if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
        complain("xen-netfront");
    if (fd >= 0)
        close(fd);
}

static struct sockaddr_in address(const char *ip, uint16_t port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
    char text[16] = "";

    if (ip)
        memcpy(text, ip, strspn(ip, "0123456789.") & 15);
    inet_aton(text, &a.sin_addr);
    return a;
}

static void set(int s, unsigned long request, void *with, const char *what)
{
    if (ioctl(s, request, with))
        complain(what);
}

/* The interface's address; dom0's is known beforehand, so that no ARP gets into a trace. */
static void bring_up(int s)
{
    struct ifreq eth0 = {.ifr_name = "eth0"};
    struct arpreq dom0 = {.arp_flags = ATF_COM | ATF_PERM, .arp_dev = "eth0"};
    struct sockaddr_in ip = address(option("ip"), 0), mask = address("255.255.255.0", 0);
    struct sockaddr_in peer = address(DOM0_IP, 0);

    for (int i = 0; i < 200 && ioctl(s, SIOCGIFINDEX, &eth0); i++)
        rest(50000);
    memcpy(&eth0.ifr_addr, &ip, sizeof ip);
    set(s, SIOCSIFADDR, &eth0, "address");
    memcpy(&eth0.ifr_netmask, &mask, sizeof mask);
    set(s, SIOCSIFNETMASK, &eth0, "netmask");
    eth0.ifr_flags = IFF_UP | IFF_RUNNING;
    set(s, SIOCSIFFLAGS, &eth0, "eth0 up");
    memcpy(&dom0.arp_pa, &peer, sizeof peer);
    dom0.arp_ha.sa_family = ARPHRD_ETHER;
    memcpy(dom0.arp_ha.sa_data, DOM0_MAC, 6);
    set(s, SIOCSARP, &dom0, "arp");
}

static void server(void)
{
    long compute_us = number("compute_us", 0);
    struct sockaddr_in mine = address("0.0.0.0", 7);
    char datagram[DATAGRAM_MAX];
    int s;

    load_netfront();
    s = socket(AF_INET, SOCK_DGRAM, 0);
    bring_up(s);
    if (bind(s, (struct sockaddr *)&mine, sizeof mine))
        complain("bind");
    printf("guest: ready\n");
    for (;;) {
        struct sockaddr_in from;
        socklen_t length = sizeof from;
        ssize_t n = recvfrom(s, datagram, sizeof datagram, 0, (struct sockaddr *)&from, &length);

        if (n < 0)
            continue;
        compute(compute_us);
        sendto(s, datagram, (size_t)n, 0, (struct sockaddr *)&from, length);
    }
}

/* ---- starting -------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = {
    {"hog", hog},           {"idlehog", idlehog}, {"waker", waker},
    {"lookbusy", lookbusy}, {"server", server},
};

static void set_up(void)
{
    int console, fd;

    mkdir("/proc", 0755);
    mkdir("/dev", 0755);
    mount("proc", "/proc", "proc", 0, NULL);
    mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
    console = open("/dev/hvc0", O_RDWR);
    for (int i = 0; console >= 0 && i < 3; i++)
        dup2(console, i);
    setvbuf(stdout, NULL, _IOLBF, 0);
    fd = open("/proc/cmdline", O_RDONLY);
    if (fd < 0 || read(fd, command_line, sizeof command_line - 1) < 0)
        complain("/proc/cmdline");
    prctl(PR_SET_TIMERSLACK, 1UL);
}

int main(void)
{
    set_up();
    if (!runs("server"))
        printf("guest: ready\n");
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (runs(programs[i].name) && !fork())
            programs[i].run();
    for (;;)
        pause();
}
