/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/traces/xentrace_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

struct xt_input {
    int fd; /* -1: memory */
    bool regular;
    bool ended;
    const unsigned char *memory;
    size_t memory_size, memory_at;

    /* The first bytes, read to see whether they are gzip, and handed out first if they are not. */
    unsigned char first[2];
    unsigned first_count, first_given;

    bool gzip;
    bool in_member; /* between the header and the end of a gzip member */
    z_stream z;
    unsigned char *packed;

    char *trouble;
};

enum { PACKED_SIZE = 1 << 16 };

/* read(2) until something came, the end, or an error. */
static size_t raw_read(struct xt_input *in, void *buffer, size_t size)
{
    ssize_t n;

    if (in->fd < 0) {
        size_t left = in->memory_size - in->memory_at;

        if (size > left)
            size = left;
        if (size)
            memcpy(buffer, in->memory + in->memory_at, size);
        in->memory_at += size;
        return size;
    }
    do
        n = read(in->fd, buffer, size);
    while (n < 0 && errno == EINTR);
    if (n < 0) {
        if (!in->trouble)
            in->trouble = xasprintf("read error: %s", strerror(errno));
        in->ended = true;
        return 0;
    }
    return (size_t)n;
}

static void look_for_gzip(struct xt_input *in)
{
    while (in->first_count < sizeof in->first) {
        size_t n = raw_read(in, in->first + in->first_count, sizeof in->first - in->first_count);

        if (!n)
            break;
        in->first_count += (unsigned)n;
    }
    in->gzip = in->first_count == 2 && in->first[0] == 0x1f && in->first[1] == 0x8b;
    if (!in->gzip)
        return;
    in->packed = xcalloc(PACKED_SIZE, 1);
    memcpy(in->packed, in->first, 2);
    in->z.next_in = in->packed;
    in->z.avail_in = 2;
    in->in_member = true;
    if (inflateInit2(&in->z, 15 + 16) != Z_OK)
        BUG("zlib does not initialise");
}

struct xt_input *xt_input_open(const char *path, struct errors *e)
{
    struct xt_input *in;
    struct stat st;
    int fd = STDIN_FILENO;

    if (strcmp(path, "-") != 0) {
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0) {
            error_add(e, EXIT_INPUT, "%s: %s", path, strerror(errno));
            return NULL;
        }
    }
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        error_add(e, EXIT_INPUT, "%s: is a directory; name one trace file in it", path);
        if (fd != STDIN_FILENO)
            close(fd);
        return NULL;
    }
    in = xcalloc(1, sizeof *in);
    in->fd = fd;
    /* Standard input may stand anywhere in its file: offsets would be wrong. */
    in->regular = fd != STDIN_FILENO && S_ISREG(st.st_mode);
    if (in->regular)
        (void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    look_for_gzip(in);
    return in;
}

struct xt_input *xt_input_memory(const void *data, size_t size)
{
    struct xt_input *in = xcalloc(1, sizeof *in);

    in->fd = -1;
    in->memory = data;
    in->memory_size = size;
    look_for_gzip(in);
    return in;
}

void xt_input_close(struct xt_input *in)
{
    if (!in)
        return;
    if (in->fd > STDIN_FILENO)
        close(in->fd);
    if (in->gzip)
        inflateEnd(&in->z);
    free(in->packed);
    free(in->trouble);
    free(in);
}

static void end_packed(struct xt_input *in, const char *why)
{
    in->ended = true;
    if (why && !in->trouble)
        in->trouble = xasprintf("gzip data %s", why);
}

static size_t unpack(struct xt_input *in, void *buffer, size_t size)
{
    in->z.next_out = buffer;
    in->z.avail_out = (uInt)size;
    while (in->z.avail_out == size) {
        int rc;

        if (!in->z.avail_in) {
            in->z.next_in = in->packed;
            in->z.avail_in = (uInt)raw_read(in, in->packed, PACKED_SIZE);
            if (!in->z.avail_in) {
                end_packed(in, in->in_member ? "ends early" : NULL);
                break;
            }
        }
        if (!in->in_member) {
            /* Several members after each other are one stream (RFC 1952); zeros are padding. */
            if (*in->z.next_in == 0) {
                in->z.next_in++;
                in->z.avail_in--;
                continue;
            }
            if (inflateReset(&in->z) != Z_OK)
                BUG("zlib does not reset");
            in->in_member = true;
        }
        rc = inflate(&in->z, Z_NO_FLUSH);
        if (rc == Z_STREAM_END) {
            in->in_member = false;
        } else if (rc != Z_OK && rc != Z_BUF_ERROR) {
            end_packed(in, "is damaged");
            break;
        }
    }
    return size - in->z.avail_out;
}

size_t xt_input_read(struct xt_input *in, void *buffer, size_t size)
{
    size_t n;

    if (in->ended || !size)
        return 0;
    if (in->gzip)
        return unpack(in, buffer, size);
    if (in->first_given < in->first_count) {
        n = in->first_count - in->first_given;
        if (n > size)
            n = size;
        memcpy(buffer, in->first + in->first_given, n);
        in->first_given += (unsigned)n;
        return n;
    }
    n = raw_read(in, buffer, size);
    if (!n)
        in->ended = true;
    return n;
}

const char *xt_input_trouble(const struct xt_input *in)
{
    return in->trouble;
}

static bool read_at(int fd, uint64_t offset, void *buffer, size_t size)
{
    char *at = buffer;

    while (size) {
        ssize_t n = pread(fd, at, size, (off_t)offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return true;
}

bool xt_input_rereadable(const struct xt_input *in)
{
    return in->regular && !in->gzip;
}

bool xt_input_reread(struct xt_input *in, uint64_t offset, void *buffer, size_t size)
{
    return read_at(in->fd, offset, buffer, size);
}

int xt_temporary_file(void)
{
    const char *dir = getenv("TMPDIR");
    char *name = xasprintf("%s/hvsim-XXXXXX", dir && *dir ? dir : "/tmp");
    int fd = mkostemp(name, O_CLOEXEC);

    if (fd >= 0)
        unlink(name);
    free(name);
    return fd;
}

int64_t xt_spill_write(struct xt_spill *s, const void *data, size_t size)
{
    const char *at = data;
    int64_t block;
    off_t offset;

    BUG_ON(size > XT_SPILL_BLOCK);
    if (s->fd < 0 && (s->fd = xt_temporary_file()) < 0)
        return -1;
    block = s->free_count ? s->free[--s->free_count] : s->blocks++;
    offset = (off_t)block * XT_SPILL_BLOCK;
    while (size) {
        ssize_t n = pwrite(s->fd, at, size, offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        at += n;
        offset += n;
        size -= (size_t)n;
    }
    return block;
}

bool xt_spill_read(struct xt_spill *s, int64_t block, void *data, size_t size)
{
    if (s->free_count == s->free_capacity) {
        s->free_capacity = s->free_capacity ? 2 * s->free_capacity : 64;
        s->free = xrealloc(s->free, s->free_capacity * sizeof *s->free);
    }
    s->free[s->free_count++] = (uint32_t)block;
    return read_at(s->fd, (uint64_t)block * XT_SPILL_BLOCK, data, size);
}

void xt_spill_free(struct xt_spill *s)
{
    if (s->fd >= 0)
        close(s->fd);
    free(s->free);
    *s = XT_SPILL_NONE;
}
