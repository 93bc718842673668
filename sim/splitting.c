/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/splitting.h"

#include "sim/error.h"
#include "sim/random.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a copy hands in. */
struct report {
    uint64_t reached[SPLITTING_LEVELS], made, lost;
};

void splitting_init(struct splitting *s, uint32_t levels, uint32_t copies)
{
    BUG_ON(!levels || levels > SPLITTING_LEVELS || !copies || copies > SPLITTING_COPIES);
    *s = (struct splitting){.levels = levels, .copies = copies, .out = -1};
}

static bool read_all(int fd, void *data, size_t size)
{
    size_t at = 0;

    while (at < size) {
        ssize_t n = read(fd, (char *)data + at, size - at);

        if (n > 0)
            at += (size_t)n;
        else if (!n || errno != EINTR)
            return false;
    }
    return true;
}

/* From here on this process is the copy: its own counts, other random numbers. */
static void become_copy(struct splitting *s, int out, uint64_t number)
{
    const uint64_t key[2] = {s->salt, number};

    if (s->copy)
        close(s->out);
    memset(s->reached, 0, sizeof s->reached);
    s->made = s->lost = 0;
    s->copy = true;
    s->out = out;
    s->salt = hash_bytes(1, 2, key, sizeof key) | 1;
    rng_salt = s->salt;
}

static void take_report(struct splitting *s, const struct report *r)
{
    for (uint32_t i = 0; i < s->levels; i++)
        s->reached[i] += r->reached[i];
    s->made += r->made;
    s->lost += r->lost;
}

/* Make a copy and wait for what it hands in. True in the copy. */
static bool make_copy(struct splitting *s)
{
    struct report r;
    int fd[2];
    pid_t pid;

    s->made++;
    if (pipe(fd)) {
        s->lost++;
        return false;
    }
    pid = fork();
    if (!pid) {
        close(fd[0]);
        become_copy(s, fd[1], s->made);
        return true;
    }
    close(fd[1]);
    if (pid > 0 && read_all(fd[0], &r, sizeof r))
        take_report(s, &r);
    else
        s->lost++;
    close(fd[0]);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return false;
}

void splitting_reach(struct splitting *s, uint32_t level, uint64_t pursued)
{
    BUG_ON(level >= s->levels);
    s->reached[level]++;
    if (level + 1 == s->levels)
        return;
    for (uint32_t i = 1; i < s->copies; i++)
        if (make_copy(s)) {
            s->pursued = pursued;
            return;
        }
}

void splitting_end(struct splitting *s)
{
    struct report r = {.made = s->made, .lost = s->lost};

    if (!s->copy)
        return;
    memcpy(r.reached, s->reached, sizeof r.reached);
    if (write(s->out, &r, sizeof r) != sizeof r)
        _exit(1);
    _exit(0);
}

double splitting_count(const struct splitting *s, uint32_t level)
{
    double count = (double)s->reached[level];

    for (uint32_t i = 0; i < level; i++)
        count /= s->copies;
    return count;
}
