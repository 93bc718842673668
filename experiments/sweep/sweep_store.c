/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/sweep/sweep_store.h"

#include "sim/output.h"
#include "sim/random.h"
#include "sim/stats.h"
#include "sim/version.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SUFFIX ".lines"
#define FORMAT "1"

enum { CHECK_TEXT = 16, FIELDS = 6, WAIT_MS = 50, WAITS = 20, RELAX_BYTES = 16 << 20 };

static uint64_t check_of(const char *line, size_t length)
{
    return hash_bytes(UINT64_C(0x6c696e6573206f66), UINT64_C(0x2061207377656570), line, length);
}

/* ---- entries ----------------------------------------------------------------------------------
 */

static size_t *slot_of(const struct store *s, uint64_t key)
{
    size_t i = (size_t)(key & (s->slots - 1));

    while (s->slot[i] && s->entry[s->slot[i] - 1].key != key)
        i = (i + 1) & (s->slots - 1);
    return &s->slot[i];
}

struct entry *store_find(const struct store *s, uint64_t key)
{
    size_t slot = *slot_of(s, key);

    return slot ? &s->entry[slot - 1] : NULL;
}

void store_init(struct store *s, const char *dir, const uint64_t *key, size_t points)
{
    *s = (struct store){.dir = xstrdup(dir), .lock = -1, .slots = 16};
    while (s->slots < 2 * points)
        s->slots *= 2;
    s->slot = xcalloc(s->slots, sizeof *s->slot);
    s->entry = xcalloc(points, sizeof *s->entry);
    for (size_t i = 0; i < points; i++) {
        size_t *slot = slot_of(s, key[i]);

        if (*slot)
            continue;
        s->entry[s->entries++] = (struct entry){.key = key[i], .point = i};
        *slot = s->entries;
    }
}

void entry_drop(struct entry *n)
{
    for (uint32_t i = 0; i < n->reps; i++) {
        if (n->rep[i].failed)
            continue; /* the reason will be told */
        if (n->rep[i].owned)
            free((char *)n->rep[i].text);
        n->rep[i].text = NULL;
        n->rep[i].owned = false;
    }
}

static void free_entry(struct entry *n)
{
    for (uint32_t i = 0; i < n->reps; i++)
        if (n->rep[i].owned)
            free((char *)n->rep[i].text);
    free(n->rep);
}

void store_free(struct store *s)
{
    struct errors none = ERRORS_NONE;

    line_file_close(s->own, &none);
    errors_free(&none);
    for (size_t i = 0; i < s->entries; i++)
        free_entry(&s->entry[i]);
    for (size_t i = 0; i < s->mappings; i++)
        if (s->mapping[i].size)
            munmap(s->mapping[i].data, s->mapping[i].size);
    if (s->lock >= 0)
        close(s->lock);
    free(s->version);
    free(s->mapping);
    free(s->entry);
    free(s->slot);
    free(s->dir);
}

static struct stored *replication_of(struct entry *n, uint32_t replication)
{
    if (replication >= n->reps) {
        uint32_t room = replication + 1 > 2 * n->reps ? replication + 1 : 2 * n->reps;

        n->rep = xrealloc(n->rep, room * sizeof *n->rep);
        memset(&n->rep[n->reps], 0, (room - n->reps) * sizeof *n->rep);
        n->reps = room;
    }
    return &n->rep[replication];
}

/* A result takes the place of a failure, never the other way round; among several the first stays:
 * they are the same. */
static void note(struct entry *n, uint32_t replication, struct stored result)
{
    struct stored *r = replication_of(n, replication);

    if (r->done || (r->failed && result.failed)) {
        if (result.owned)
            free((char *)result.text);
        return;
    }
    if (r->owned)
        free((char *)r->text);
    *r = result;
    while (n->prefix < n->reps && n->rep[n->prefix].done)
        n->prefix++;
}

static void note_failure(struct entry *n, uint32_t replication, const char *reason)
{
    note(n, replication,
         (struct stored){xstrdup(reason), (uint32_t)strlen(reason), .owned = true, .failed = true});
}

int64_t entry_failure(const struct entry *n)
{
    for (uint32_t i = n->prefix; i < n->reps; i++)
        if (n->rep[i].failed)
            return i;
    return -1;
}

const char *entry_reason(const struct entry *n)
{
    int64_t i = entry_failure(n);

    return i < 0 ? "" : n->rep[i].text;
}

/* ---- locking ----------------------------------------------------------------------------------
 */

static int lock_directory(struct store *s, enum store_claim claim, struct errors *e)
{
    const struct timespec pause = {.tv_nsec = WAIT_MS * 1000000};
    char *path = output_path(s->dir, "lock");
    int how = claim == STORE_ALONE ? LOCK_EX : LOCK_SH, status;

    s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (s->lock < 0) {
        error_add(e, EXIT_INPUT, "%s: cannot write: %s", path, strerror(errno));
        free(path);
        return -1;
    }
    free(path);
    /* Children of one that was killed hold its lock for some milliseconds more. */
    status = flock(s->lock, how | LOCK_NB);
    for (int i = 0; status && errno == EWOULDBLOCK && i < WAITS; i++) {
        nanosleep(&pause, NULL);
        status = flock(s->lock, how | LOCK_NB);
    }
    if (status && errno == EWOULDBLOCK)
        return error_add(e, EXIT_INPUT,
                         "%s: another hvsim is at work in this directory: wait for it, or choose "
                         "another --out",
                         s->dir);
    return 0; /* a disk without locks: as good as can be */
}

static int write_head(struct store *s, struct errors *e)
{
    char *head = xasprintf("H\t" FORMAT "\t%s", hvsim_version);
    int status = line_file_append(s->own, head, strlen(head), e);

    free(head);
    return status ? status : line_file_sync(s->own, e);
}

static int any_line(void *ctx, const char *line, size_t length, struct errors *e)
{
    (void)line;
    (void)length;
    (void)e;
    *(bool *)ctx = true;
    return 0;
}

int store_claim(struct store *s, enum store_claim claim, const char *name, struct errors *e)
{
    bool begun = false;
    char *path;

    if (output_directory(s->dir, e) || lock_directory(s, claim, e))
        return -1;
    path = output_path(s->dir, name);
    s->own = line_file_open(path, any_line, &begun, NULL, e);
    free(path);
    if (!s->own)
        return -1;
    return begun ? 0 : write_head(s, e);
}

/* ---- reading ----------------------------------------------------------------------------------
 */

struct field {
    const char *text;
    size_t length;
};

/* Split at tabs: the number of fields, at most FIELDS. */
static int split(const char *line, size_t length, struct field *field)
{
    const char *end = line + length;
    int n = 0;

    while (n < FIELDS) {
        const char *tab = memchr(line, '\t', (size_t)(end - line));

        field[n++] = (struct field){line, (size_t)((tab ? tab : end) - line)};
        if (!tab)
            break;
        line = tab + 1;
    }
    return n;
}

static bool read_number(const struct field *f, int base, uint64_t *value)
{
    *value = 0;
    if (!f->length || f->length > 18)
        return false;
    for (size_t i = 0; i < f->length; i++) {
        char c = f->text[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;

        if (digit >= base)
            return false;
        *value = *value * (uint64_t)base + (uint64_t)digit;
    }
    return true;
}

/* All results are of one version of hvsim: of this one, if more are to be added. */
static int check_head(struct store *s, const struct field *field, int fields, const char *path,
                      struct errors *e)
{
    if (fields < 3 || field[1].length != 1 || *field[1].text != *FORMAT)
        return error_add(e, EXIT_INPUT, "%s: not written by this version of hvsim", path);
    if (!s->version)
        s->version = s->own ? xstrdup(hvsim_version)
                            : xasprintf("%.*s", (int)field[2].length, field[2].text);
    if (strlen(s->version) == field[2].length &&
        !strncmp(field[2].text, s->version, field[2].length))
        return 0;
    if (getenv("HVSIM_ANY_VERSION"))
        return 0;
    return error_add(
        e, EXIT_INPUT,
        "%s: these results are of hvsim %.*s, and %s %s, which may compute others: use "
        "another directory (or set HVSIM_ANY_VERSION=1 to mix them)",
        path, (int)field[2].length, field[2].text, s->own ? "this is" : "others here of",
        s->version);
}

/* "\n" of a reason is a newline again; caller frees. */
static char *unescape(const struct field *f)
{
    char *text = xasprintf("%.*s", (int)f->length, f->text), *to = text;

    for (const char *from = text; *from; from++)
        *to++ = *from == '\\' && from[1] == 'n' ? (from++, '\n') : *from;
    *to = '\0';
    return text;
}

static void take_line(struct store *s, const char *line, size_t length, bool failures)
{
    struct field field[FIELDS];
    uint64_t key, replication, microseconds, check;
    struct entry *n;

    if (split(line, length, field) != FIELDS || field[0].length != 1 ||
        !read_number(&field[1], 16, &key) || !read_number(&field[2], 10, &replication) ||
        !read_number(&field[3], 10, &microseconds) || field[5].length != CHECK_TEXT ||
        !read_number(&field[5], 16, &check) || replication > 1000000 ||
        check != check_of(line, (size_t)(field[5].text - line))) {
        s->damaged++;
        return;
    }
    n = store_find(s, key);
    if (!n) {
        s->strangers++;
        return;
    }
    if (*line == 'R') {
        s->lines++;
        s->seconds += (double)microseconds / 1e6;
        note(n, (uint32_t)replication,
             (struct stored){field[4].text, (uint32_t)field[4].length, .done = true});
    } else if (*line == 'D' && read_number(&field[4], 16, &n->said_by)) {
        n->said = (uint32_t)replication;
    } else if (*line == 'F' && failures) {
        char *reason = unescape(&field[4]);

        note_failure(n, (uint32_t)replication, reason);
        free(reason);
    }
}

void store_relax(struct store *s)
{
    for (size_t i = 0; i < s->mappings; i++)
        if (s->mapping[i].size)
            madvise(s->mapping[i].data, s->mapping[i].size, MADV_DONTNEED);
}

static int take_lines(struct store *s, const char *path, const char *data, size_t size,
                      bool failures, struct errors *e)
{
    const char *end = data + size, *newline, *relaxed = data;

    for (; data < end && (newline = memchr(data, '\n', (size_t)(end - data))); data = newline + 1) {
        struct field field[FIELDS];

        if (data - relaxed > RELAX_BYTES) {
            store_relax(s);
            relaxed = data;
        }
        if (*data != 'H') {
            take_line(s, data, (size_t)(newline - data), failures);
            continue;
        }
        if (check_head(s, field, split(data, (size_t)(newline - data), field), path, e))
            return -1;
    }
    return 0;
}

static int read_file(struct store *s, const char *path, bool failures, struct errors *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct mapping m = {0};
    struct stat st;

    if (fd < 0 || fstat(fd, &st)) {
        if (fd >= 0)
            close(fd);
        return error_add(e, EXIT_INPUT, "%s: cannot read: %s", path, strerror(errno));
    }
    m.size = (size_t)st.st_size;
    if (m.size)
        m.data = mmap(NULL, m.size, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (m.size && m.data == MAP_FAILED)
        return error_add(e, EXIT_INTERNAL, "%s: cannot map: %s", path, strerror(errno));
    s->mapping = xrealloc(s->mapping, (s->mappings + 1) * sizeof *s->mapping);
    s->mapping[s->mappings++] = m;
    return take_lines(s, path, m.data, m.size, failures, e);
}

static int ends_in_suffix(const struct dirent *d)
{
    size_t n = strlen(d->d_name), k = strlen(SUFFIX);

    return n > k && !strcmp(d->d_name + n - k, SUFFIX) && *d->d_name != '.';
}

int store_read(struct store *s, bool failures, struct errors *e)
{
    struct dirent **name;
    int n = scandir(s->dir, &name, ends_in_suffix, alphasort), status = 0;

    if (n < 0)
        return error_add(e, EXIT_INPUT, "%s: cannot read: %s", s->dir, strerror(errno));
    for (int i = 0; i < n; i++) {
        char *path = output_path(s->dir, name[i]->d_name);

        status |= read_file(s, path, failures, e);
        store_relax(s);
        free(path);
        free(name[i]);
    }
    free(name);
    return status;
}

int store_kept(const struct entry *n, const struct figures *f, struct kept *item, uint32_t count,
               struct errors *e)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct stored *r = &n->rep[i];
        char *text;
        int status;

        BUG_ON(!r->text);
        text = xasprintf("%.*s", (int)r->length, r->text);
        status = kept_read(&item[i], f, text);
        free(text);
        if (!status)
            continue;
        while (i-- > 0)
            kept_free(&item[i], f);
        return error_add(e, EXIT_INTERNAL, "a stored result of point %016" PRIx64 " is damaged",
                         n->key);
    }
    return 0;
}

/* ---- appending --------------------------------------------------------------------------------
 */

static int append(struct store *s, const struct entry *n, char letter, uint32_t replication,
                  double seconds, const char *text, struct errors *e)
{
    char *line = xasprintf("%c\t%016" PRIx64 "\t%u\t%.0f\t%s\t", letter, n->key, replication,
                           seconds * 1e6, text);
    char *whole = xasprintf("%s%016" PRIx64, line, check_of(line, strlen(line)));
    int status = line_file_append(s->own, whole, strlen(whole), e);

    free(line);
    free(whole);
    return status;
}

int store_add(struct store *s, struct entry *n, uint32_t replication, double seconds,
              const char *text, bool keep, struct errors *e)
{
    struct stored result = {.length = (uint32_t)strlen(text), .owned = keep, .done = true};

    if (append(s, n, 'R', replication, seconds, text, e))
        return -1;
    result.text = keep ? xstrdup(text) : NULL;
    note(n, replication, result);
    s->lines++;
    s->seconds += seconds;
    return 0;
}

int store_add_failure(struct store *s, struct entry *n, uint32_t replication, double seconds,
                      const char *reason, struct errors *e)
{
    size_t size;
    char *escaped;
    FILE *out = open_memstream(&escaped, &size);
    int status;

    for (const char *c = reason; *c; c++)
        fputs(*c == '\n' ? "\\n" : *c == '\t' ? " " : (char[]){*c, 0}, out);
    fclose(out);
    status = append(s, n, 'F', replication, seconds, escaped, e);
    free(escaped);
    if (!status)
        note_failure(n, replication, reason);
    return status;
}

static uint64_t rule_digest(const struct entry_rule *r)
{
    const struct figure *f = &r->figures->item[r->stop];
    char *text = xasprintf("%s %s %a %a %u %u", f->subject, f->metric->name, r->relative, r->level,
                           r->least, r->wanted);
    uint64_t digest = check_of(text, strlen(text));

    free(text);
    return digest;
}

int store_add_decision(struct store *s, struct entry *n, const struct entry_rule *r,
                       struct errors *e)
{
    char digest[20];

    if (r->stop < 0 || !n->final || n->said)
        return 0;
    snprintf(digest, sizeof digest, "%016" PRIx64, rule_digest(r));
    return append(s, n, 'D', n->final, 0, digest, e);
}

/* ---- deciding ---------------------------------------------------------------------------------
 */

/* The stopping rule's figure over the first replications. */
static struct interval figure_of(const struct entry *n, const struct entry_rule *r, uint32_t count)
{
    struct kept *item = xcalloc(count, sizeof *item);
    const struct kept **list = xcalloc(count, sizeof *list);
    struct interval i = {.none = INTERVAL_FEW_VALUES};
    struct errors e = ERRORS_NONE;
    struct kept_set set;

    if (!store_kept(n, r->figures, item, count, &e)) {
        for (uint32_t k = 0; k < count; k++)
            list[k] = &item[k];
        kept_set_init(&set, r->figures, list, count);
        i = kept_interval(&set, (size_t)r->stop, r->level);
        kept_set_free(&set);
        for (uint32_t k = 0; k < count; k++)
            kept_free(&item[k], r->figures);
    }
    errors_free(&e);
    free(list);
    free(item);
    return i;
}

/* Replications at which the rule ends, or wants to have before it can tell. Replications that are
 * too short for a quantile stay too short: then there is no use in more. */
static uint32_t apply_rule(struct entry *n, const struct entry_rule *r, bool *ends)
{
    struct stopping_state *s = &n->stopping;

    if (!s->n)
        *s = stopping_begin(r->least, r->wanted);
    for (*ends = false; !*ends && s->n <= n->prefix;) {
        struct interval i = {.none = INTERVAL_FEW_VALUES};

        if (s->n < r->wanted)
            i = figure_of(n, r, (uint32_t)s->n);
        *ends = i.none == INTERVAL_FEW_BEYOND || stopping_decide(s, r->relative, &i, r->wanted);
    }
    return (uint32_t)s->n;
}

struct entry_verdict entry_judge(struct entry *n, const struct entry_rule *r)
{
    uint32_t wanted = r->wanted;
    bool ends;

    if (r->stop >= 0 && !n->final && n->said && n->said <= n->prefix &&
        n->said_by == rule_digest(r))
        n->final = n->said;
    if (n->final)
        return (struct entry_verdict){ENTRY_DONE, n->final};
    ends = n->prefix >= wanted;
    if (r->stop >= 0)
        wanted = apply_rule(n, r, &ends);
    if (ends) {
        n->final = wanted;
        return (struct entry_verdict){ENTRY_DONE, wanted};
    }
    if (n->prefix < n->reps && n->rep[n->prefix].failed)
        return (struct entry_verdict){ENTRY_FAILED, n->prefix};
    return (struct entry_verdict){ENTRY_MORE, wanted};
}
