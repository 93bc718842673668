/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output files whole or not at all, and files of lines that survive being killed. */
#define _GNU_SOURCE
#include "sim/output.h"

#include "sim/line_file.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64];
static struct errors errors;

static void set_up(void)
{
    strcpy(dir, "/tmp/hvsim-out-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_int_eq(chmod(dir, 0777), 0);
    errors = ERRORS_NONE;
}

static void tear_down(void)
{
    char command[128];

    errors_free(&errors);
    snprintf(command, sizeof command, "rm -rf %s", dir);
    ck_assert_int_eq(system(command), 0);
}

/* A path in the scratch directory; good for the next few calls. */
static const char *in(const char *name)
{
    static char path[8][1024];
    static int next;

    next = (next + 1) % 8;
    snprintf(path[next], sizeof path[next], "%s/%s", dir, name);
    return path[next];
}

static char *content(const char *path)
{
    static char text[1024];
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;

    text[n] = '\0';
    if (f)
        fclose(f);
    return f ? text : NULL;
}

/* Names in the scratch directory, those with a dot in front included. */
static int entries(void)
{
    DIR *d = opendir(dir);
    int n = -2;

    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static void must_fail(enum exit_code code, const char *says)
{
    ck_assert_uint_ge(errors.count, 1);
    ck_assert_msg(strstr(errors.item[0].text, says) != NULL, "\"%s\" does not say \"%s\"",
                  errors.item[0].text, says);
    ck_assert_int_eq(errors.item[0].code, code);
    errors_free(&errors);
}

/* ---- Outputs ------------------------------------------------------------------------------- */

START_TEST(seen_when_committed_and_not_before)
{
    struct output *o = output_open(in("a"), &errors);

    ck_assert_ptr_nonnull(o);
    fprintf(output_stream(o), "hello\n");
    fflush(output_stream(o));
    ck_assert_ptr_null(content(in("a")));
    ck_assert_int_eq(output_commit(o, &errors), 0);
    ck_assert_str_eq(content(in("a")), "hello\n");
    ck_assert_int_eq(entries(), 1);
}
END_TEST

START_TEST(aborted_leaves_the_old_file)
{
    struct output *o;

    ck_assert_int_eq(output_write(in("a"), "old", 3, &errors), 0);
    o = output_open(in("a"), &errors);
    fprintf(output_stream(o), "new");
    output_abort(o);
    ck_assert_str_eq(content(in("a")), "old");
    ck_assert_int_eq(entries(), 1);
    output_abort(NULL);
}
END_TEST

START_TEST(exit_leaves_nothing_half_written)
{
    pid_t pid;
    int status;

    ck_assert_int_eq(output_write(in("a"), "old", 3, &errors), 0);
    pid = fork();
    if (pid == 0) {
        struct output *o = output_open(in("a"), &errors);

        fprintf(output_stream(o), "half");
        fflush(output_stream(o));
        /* a child of the writer that exits must not take the file away */
        if (fork() == 0)
            exit(0);
        wait(NULL);
        if (entries() != 2)
            exit(9);
        exit(EXIT_INTERNAL);
    }
    waitpid(pid, &status, 0);
    ck_assert_int_eq(WEXITSTATUS(status), EXIT_INTERNAL);
    ck_assert_str_eq(content(in("a")), "old");
    ck_assert_int_eq(entries(), 1);
}
END_TEST

START_TEST(killed_leaves_the_old_file)
{
    pid_t pid;

    ck_assert_int_eq(output_write(in("a"), "old", 3, &errors), 0);
    pid = fork();
    if (pid == 0) {
        struct output *o = output_open(in("a"), &errors);

        fprintf(output_stream(o), "half");
        fflush(output_stream(o));
        raise(SIGKILL);
    }
    waitpid(pid, NULL, 0);
    ck_assert_str_eq(content(in("a")), "old");
}
END_TEST

START_TEST(two_outputs_at_once)
{
    struct output *a = output_open(in("a"), &errors), *b = output_open(in("b"), &errors);

    fprintf(output_stream(a), "A");
    fprintf(output_stream(b), "B");
    ck_assert_int_eq(output_commit(a, &errors), 0);
    output_abort(b);
    ck_assert_str_eq(content(in("a")), "A");
    ck_assert_int_eq(entries(), 1);
}
END_TEST

START_TEST(links_and_modes_are_kept)
{
    struct stat st;

    ck_assert_int_eq(output_write(in("a"), "1", 1, &errors), 0);
    ck_assert_int_eq(stat(in("a"), &st), 0);
    ck_assert_int_eq(st.st_mode & 0777, 0666 & ~umask(022));
    ck_assert_int_eq(chmod(in("a"), 0600), 0);
    ck_assert_int_eq(symlink("a", in("link")), 0);
    ck_assert_int_eq(output_write(in("link"), "2", 1, &errors), 0);
    ck_assert_int_eq(lstat(in("link"), &st), 0);
    ck_assert(S_ISLNK(st.st_mode));
    ck_assert_str_eq(content(in("a")), "2");
    ck_assert_int_eq(stat(in("a"), &st), 0);
    ck_assert_int_eq(st.st_mode & 0777, 0600);
    /* a link to what is not there yet */
    ck_assert_int_eq(symlink("later", in("dangling")), 0);
    ck_assert_int_eq(output_write(in("dangling"), "3", 1, &errors), 0);
    ck_assert_str_eq(content(in("later")), "3");
}
END_TEST

/* Looked at with a pipe of our own before any device: code that is wrong here, run by root, would
 * replace the device by a file for the whole machine. */
START_TEST(pipes_and_devices_are_written_directly)
{
    struct stat st;
    char text[8] = "";
    int fd;

    ck_assert_int_eq(mkfifo(in("pipe"), 0600), 0);
    fd = open(in("pipe"), O_RDONLY | O_NONBLOCK);
    ck_assert_int_eq(output_write(in("pipe"), "x", 1, &errors), 0);
    ck_assert_int_eq(lstat(in("pipe"), &st), 0);
    ck_assert(S_ISFIFO(st.st_mode));
    ck_assert_int_eq(read(fd, text, sizeof text), 1);
    close(fd);
    ck_assert_int_eq(output_write("/dev/full", "x", 1, &errors), -1);
    must_fail(EXIT_INTERNAL, "/dev/full: cannot write: No space left on device; free some space");
}
END_TEST

START_TEST(bad_paths)
{
    char name[600];

    ck_assert_ptr_null(output_open("", &errors));
    must_fail(EXIT_INPUT, "the name of a file is wanted");
    ck_assert_ptr_null(output_open(in("x/"), &errors));
    must_fail(EXIT_INPUT, "found that of a directory");
    ck_assert_ptr_null(output_open(dir, &errors));
    must_fail(EXIT_INPUT, "Is a directory");
    ck_assert_ptr_null(output_open(in("no/such"), &errors));
    must_fail(EXIT_INPUT, "make the directory first");
    ck_assert_int_eq(output_write(in("file"), "x", 1, &errors), 0);
    ck_assert_ptr_null(output_open(in("file/x"), &errors));
    must_fail(EXIT_INPUT, "a part of the path is a file");
    ck_assert_int_eq(symlink("loop", in("loop")), 0);
    ck_assert_ptr_null(output_open(in("loop"), &errors));
    must_fail(EXIT_INPUT, "cannot write");
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    ck_assert_ptr_null(output_open(name, &errors));
    must_fail(EXIT_INPUT, "File name too long");
    /* the longest name a file may have leaves room for that of the temporary */
    name[255] = '\0';
    ck_assert_int_eq(output_write(in(name), "x", 1, &errors), 0);
    ck_assert_int_eq(entries(), 3);
}
END_TEST

START_TEST(a_check_leaves_nothing)
{
    int before = entries();

    ck_assert_int_eq(output_check(in("new"), &errors), 0);
    ck_assert_int_eq(entries(), before);
    ck_assert_int_eq(output_write(in("old"), "old", 3, &errors), 0);
    ck_assert_int_eq(output_check(in("old"), &errors), 0);
    ck_assert_str_eq(content(in("old")), "old");
    ck_assert_int_eq(output_check(in("nowhere/new"), &errors), -1);
    must_fail(EXIT_INPUT, "make the directory first");
    ck_assert_int_eq(output_directory_check(in("a/b/c"), &errors), 0);
    ck_assert_int_eq(output_directory_check(dir, &errors), 0);
    ck_assert_int_eq(output_directory_check("here", &errors), 0);
    ck_assert_int_eq(entries(), before + 1);
    ck_assert_int_eq(output_directory_check(in("old"), &errors), -1);
    must_fail(EXIT_INPUT, "a part of the path is a file");
    ck_assert_int_eq(output_directory_check(in("old/a"), &errors), -1);
    must_fail(EXIT_INPUT, "a part of the path is a file");
    ck_assert_int_eq(output_directory("/proc/nowhere", &errors), -1);
    must_fail(EXIT_INPUT, "choose a path you may write to");
}
END_TEST

START_TEST(no_permission)
{
    if (getuid() == 0) /* root may write anywhere */
        ck_assert_int_eq(seteuid(65534), 0);
    ck_assert_ptr_null(output_open("/usr/x", &errors));
    must_fail(EXIT_INPUT, "choose a path you may write to");
    ck_assert_int_eq(output_directory("/usr/x/y", &errors), -1);
    must_fail(EXIT_INPUT, "/usr/x/y: cannot make the directory: Permission denied");
    ck_assert_int_eq(output_write(in("readonly"), "x", 1, &errors), 0);
    ck_assert_int_eq(chmod(in("readonly"), 0444), 0);
    ck_assert_ptr_null(output_open(in("readonly"), &errors));
    must_fail(EXIT_INPUT, "Permission denied");
    ck_assert_int_eq(seteuid(getuid()), 0);
}
END_TEST

/* The disk gets full: played by a limit on the size of files. Small contents fail in the last
 * flush, large ones before, and the reason must be told in both cases. */
START_TEST(full_disk)
{
    struct rlimit limit = {4096, RLIM_INFINITY};
    char *data = calloc(1, 1 << 20);

    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(output_write(in("a"), "old", 3, &errors), 0);
    setrlimit(RLIMIT_FSIZE, &limit);
    ck_assert_int_eq(output_write(in("a"), data, 4500, &errors), -1);
    must_fail(EXIT_INTERNAL, "cannot write: File too large");
    ck_assert_int_eq(output_write(in("a"), data, 1 << 20, &errors), -1);
    must_fail(EXIT_INTERNAL, "cannot write: File too large");
    ck_assert_str_eq(content(in("a")), "old");
    ck_assert_int_eq(entries(), 1);
    free(data);
}
END_TEST

START_TEST(directories)
{
    char *path;

    ck_assert_int_eq(output_directory(in("a/b/c"), &errors), 0);
    ck_assert_int_eq(output_directory(in("a/b/c/"), &errors), 0);
    ck_assert_int_eq(output_directory(in("a//b"), &errors), 0);
    ck_assert_int_eq(output_directory("/", &errors), 0);
    ck_assert_int_eq(access(in("a/b/c"), W_OK), 0);
    ck_assert_int_eq(output_write(in("f"), "", 0, &errors), 0);
    ck_assert_int_eq(output_directory(in("f"), &errors), -1);
    must_fail(EXIT_INPUT, "is a file");
    ck_assert_int_eq(output_directory(in("f/g"), &errors), -1);
    must_fail(EXIT_INPUT, "is a file");
    ck_assert_int_eq(output_directory("", &errors), -1);
    must_fail(EXIT_INPUT, "found nothing");
    path = output_path("out", "x.json");
    ck_assert_str_eq(path, "out/x.json");
    free(path);
    path = output_path("out/", "x.json");
    ck_assert_str_eq(path, "out/x.json");
    free(path);
}
END_TEST

/* ---- Files of lines ------------------------------------------------------------------------ */

struct lines {
    char text[1024];
    int count;
};

static int gather(void *ctx, const char *line, size_t length, struct errors *e)
{
    struct lines *l = ctx;

    ck_assert_uint_eq(strlen(line), length);
    strcat(strcat(l->text, line), "|");
    l->count++;
    if (strcmp(line, "bad") == 0)
        return error_add(e, EXIT_INPUT, "line %d is bad", l->count);
    return 0;
}

static void append(struct line_file *f, const char *line)
{
    ck_assert_int_eq(line_file_append(f, line, strlen(line), &errors), 0);
}

START_TEST(lines_are_appended_and_found_again)
{
    struct line_file *f = line_file_open(in("l"), NULL, NULL, NULL, &errors);
    struct lines l = {0};

    ck_assert_ptr_nonnull(f);
    append(f, "one");
    append(f, "");
    append(f, "three");
    ck_assert_int_eq(line_file_close(f, &errors), 0);
    ck_assert_str_eq(content(in("l")), "one\n\nthree\n");
    f = line_file_open(in("l"), gather, &l, NULL, &errors);
    ck_assert_str_eq(l.text, "one||three|");
    append(f, "four");
    ck_assert_int_eq(line_file_close(f, &errors), 0);
    l = (struct lines){0};
    ck_assert_int_eq(line_file_read(in("l"), gather, &l, &errors), 0);
    ck_assert_str_eq(l.text, "one||three|four|");
}
END_TEST

static const struct {
    const char *file, *lines, *after;
    size_t torn;
} torn[] = {
    {"one\ntwo\n", "one|two|", "one\ntwo\nnew\n", 0},
    {"one\ntw", "one|", "one\nnew\n", 2},
    {"tw", "", "new\n", 2},
    {"", "", "new\n", 0},
    {"\n", "|", "\nnew\n", 0},
    {"one\n\n\n", "one|||", "one\n\n\nnew\n", 0},
};

static const struct {
    const char *file;
    bool ours;
} beginnings[] = {{"", true},         {"ti", true},        {"title", true},  {"title\n", true},
                  {"title\n2", true}, {"titled\n", false}, {"other", false}, {"title 2", false}};

START_TEST(a_file_of_another_kind_is_told)
{
    ck_assert_int_eq(
        output_write(in("l"), beginnings[_i].file, strlen(beginnings[_i].file), &errors), 0);
    struct lines l = {0};
    struct line_file *f =
        line_file_open_titled(in("l"), "title", "is another", gather, &l, &errors);

    if (beginnings[_i].ours) {
        ck_assert_int_eq(line_file_close(f, &errors), 0);
        ck_assert_int_eq(strncmp(content(in("l")), "title\n", 6), 0);
        ck_assert_str_eq(l.text, ""); /* whole lines after the title */
    } else {
        ck_assert_ptr_null(f);
        ck_assert_str_eq(content(in("l")), beginnings[_i].file);
        ck_assert_uint_eq(errors.count, 1);
        errors_free(&errors);
    }
    ck_assert_int_eq(mkfifo(in("pipe"), 0600), 0);
    ck_assert_ptr_null(line_file_open_titled(in("pipe"), "title", "", gather, &l, &errors));
    ck_assert_ptr_nonnull(
        strstr(errors.item[0].text, "not a file")); /* nobody waits for a writer */
    errors_free(&errors);
}
END_TEST

START_TEST(a_torn_last_line_is_cut_off)
{
    struct lines l = {0};
    size_t cut = 99;
    struct line_file *f;

    ck_assert_int_eq(output_write(in("l"), torn[_i].file, strlen(torn[_i].file), &errors), 0);
    ck_assert_int_eq(line_file_read(in("l"), gather, &l, &errors), 0); /* reading changes nothing */
    ck_assert_str_eq(l.text, torn[_i].lines);
    ck_assert_str_eq(content(in("l")), torn[_i].file);
    l = (struct lines){0};
    f = line_file_open(in("l"), gather, &l, &cut, &errors);
    ck_assert_ptr_nonnull(f);
    ck_assert_str_eq(l.text, torn[_i].lines);
    ck_assert_uint_eq(cut, torn[_i].torn);
    append(f, "new");
    ck_assert_int_eq(line_file_close(f, &errors), 0);
    ck_assert_str_eq(content(in("l")), torn[_i].after);
}
END_TEST

/* Killed again and again while it appends: what is found is always the first so many lines. */
START_TEST(killed_while_appending)
{
    char line[4000];
    int before = 0;

    memset(line, 'x', sizeof line);
    for (int round = 0; round < 5; round++) {
        struct lines l = {0};
        int ready[2];
        char byte;
        pid_t pid;
        FILE *in_file;
        int lines = 0, c, length = 0;

        ck_assert_int_eq(pipe(ready), 0);
        pid = fork();
        if (pid == 0) {
            struct line_file *f = line_file_open(in("l"), NULL, NULL, NULL, &errors);

            for (int i = 0; f; i++) {
                line_file_append(f, line, sizeof line, &errors);
                if (i == 20 && write(ready[1], "r", 1) != 1)
                    break;
            }
            _exit(1);
        }
        ck_assert_int_eq(read(ready[0], &byte, 1), 1);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        close(ready[0]);
        close(ready[1]);
        ck_assert_int_eq(line_file_close(line_file_open(in("l"), NULL, &l, NULL, &errors), &errors),
                         0);
        in_file = fopen(in("l"), "r");
        while ((c = fgetc(in_file)) != EOF) {
            if (c != '\n') {
                length++;
                continue;
            }
            ck_assert_int_eq(length, (int)sizeof line);
            length = 0;
            lines++;
        }
        fclose(in_file);
        ck_assert_int_eq(length, 0);
        ck_assert_int_ge(lines, before + 20);
        before = lines;
    }
    ck_assert_uint_eq(errors.count, 0);
}
END_TEST

START_TEST(one_writer_at_a_time)
{
    struct line_file *f = line_file_open(in("l"), NULL, NULL, NULL, &errors);

    ck_assert_ptr_null(line_file_open(in("l"), NULL, NULL, NULL, &errors));
    must_fail(EXIT_INPUT, "another process is writing this file");
    ck_assert_int_eq(line_file_close(f, &errors), 0);
    f = line_file_open(in("l"), NULL, NULL, NULL, &errors);
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(line_file_close(f, &errors), 0);
}
END_TEST

START_TEST(a_failed_append_leaves_no_torn_line)
{
    struct rlimit limit = {10, RLIM_INFINITY};
    struct line_file *f = line_file_open(in("l"), NULL, NULL, NULL, &errors);

    signal(SIGXFSZ, SIG_IGN);
    append(f, "12345");
    setrlimit(RLIMIT_FSIZE, &limit);
    ck_assert_int_eq(line_file_append(f, "67890", 5, &errors), -1);
    must_fail(EXIT_INTERNAL, "cannot append a line: File too large");
    ck_assert_str_eq(content(in("l")), "12345\n");
    append(f, "678");
    ck_assert_int_eq(line_file_close(f, &errors), 0);
    ck_assert_str_eq(content(in("l")), "12345\n678\n");
}
END_TEST

START_TEST(syncs_are_due_only_when_lines_wait)
{
    struct line_file *f = line_file_open(in("l"), NULL, NULL, NULL, &errors);
    int due;

    ck_assert_int_eq(line_file_tick(f, &errors), -1);
    append(f, "x");
    due = line_file_tick(f, &errors);
    ck_assert(due >= -1 && due <= LINE_FILE_SYNC_MS);
    ck_assert_int_eq(line_file_sync(f, &errors), 0);
    ck_assert_int_eq(line_file_tick(f, &errors), -1);
    append(f, "y");
    usleep((LINE_FILE_SYNC_MS + 20) * 1000);
    ck_assert_int_eq(line_file_tick(f, &errors), -1); /* synced just now */
    ck_assert_int_eq(line_file_close(f, &errors), 0);
    ck_assert_int_eq(line_file_close(NULL, &errors), 0);
}
END_TEST

START_TEST(bad_line_files)
{
    struct lines l = {0};

    ck_assert_ptr_null(line_file_open(in("no/l"), NULL, NULL, NULL, &errors));
    must_fail(EXIT_INPUT, "No such file");
    ck_assert_ptr_null(line_file_open(dir, NULL, NULL, NULL, &errors));
    must_fail(EXIT_INPUT, "Is a directory");
    ck_assert_ptr_null(line_file_open("/dev/null", NULL, NULL, NULL, &errors));
    must_fail(EXIT_INPUT, "not a file that lines can be appended to");
    ck_assert_int_eq(line_file_read(in("none"), gather, &l, &errors), -1);
    must_fail(EXIT_INPUT, "No such file");
    ck_assert_int_eq(output_write(in("l"), "good\nbad\ntorn", 13, &errors), 0);
    ck_assert_ptr_null(line_file_open(in("l"), gather, &l, NULL, &errors));
    must_fail(EXIT_INPUT, "line 2 is bad");
    ck_assert_str_eq(content(in("l")), "good\nbad\ntorn"); /* nothing was cut off */
}
END_TEST

Suite *suite_output(void);

Suite *suite_output(void)
{
    Suite *s = suite_create("output");
    TCase *tc = tcase_create("output");

    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, seen_when_committed_and_not_before);
    tcase_add_test(tc, aborted_leaves_the_old_file);
    tcase_add_test(tc, exit_leaves_nothing_half_written);
    tcase_add_test(tc, killed_leaves_the_old_file);
    tcase_add_test(tc, two_outputs_at_once);
    tcase_add_test(tc, links_and_modes_are_kept);
    tcase_add_test(tc, pipes_and_devices_are_written_directly);
    tcase_add_test(tc, bad_paths);
    tcase_add_test(tc, a_check_leaves_nothing);
    tcase_add_test(tc, no_permission);
    tcase_add_test(tc, full_disk);
    tcase_add_test(tc, directories);
    tcase_add_test(tc, lines_are_appended_and_found_again);
    tcase_add_loop_test(tc, a_torn_last_line_is_cut_off, 0, sizeof torn / sizeof *torn);
    tcase_add_loop_test(tc, a_file_of_another_kind_is_told, 0,
                        (int)(sizeof beginnings / sizeof *beginnings));
    tcase_add_test(tc, killed_while_appending);
    tcase_add_test(tc, one_writer_at_a_time);
    tcase_add_test(tc, a_failed_append_leaves_no_torn_line);
    tcase_add_test(tc, syncs_are_due_only_when_lines_wait);
    tcase_add_test(tc, bad_line_files);
    suite_add_tcase(s, tc);
    return s;
}
