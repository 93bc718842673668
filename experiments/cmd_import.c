/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hvsim import: what a xentrace holds. One pass over the trace; the summary goes to standard
 * output, the workload to its file.
 */
#include "experiments/traces/xentrace_workload.h"
#include "sim/error.h"
#include "sim/output.h"
#include "sim/progress.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int cmd_import(int argc, char **argv);

static const char usage[] =
    "Usage: hvsim import TRACE [--cpu-hz HZ] [--workload OUT.json] [--json | --dump]\n"
    "\n"
    "Read a binary trace of xentrace (Xen 4.7 to 4.20) and tell what happened in it: shares, "
    "runs,\n"
    "waits, blocked times, migrations, boosts, gaps of lost records. TRACE may be compressed with\n"
    "gzip; - is standard input.\n"
    "\n"
    "  --cpu-hz HZ          frequency of the machine's TSC: 2400000000, 2.4G, 2400M (default "
    "2.4G)\n"
    "  --workload OUT.json  write what the guests did, to be run under another scheduler\n"
    "  --json               the summary as JSON\n"
    "  --dump               every record instead of the summary, one a line, in the order of time\n"
    "  --help               this text\n"
    "\n"
    "Exit: 0 ok (also when parts of a damaged trace were skipped: the summary says so), 2 bad\n"
    "input, 3 internal error.\n";

struct options {
    const char *trace, *workload;
    uint64_t hz;
    bool hz_given, json, dump;
};

/* "2.4G", "2400M", "2400000000", each with or without "Hz"; exact. */
static bool parse_hz(const char *text, uint64_t *hz)
{
    static const struct {
        char letter;
        unsigned zeros;
    } unit[] = {{'k', 3}, {'K', 3}, {'M', 6}, {'G', 9}};
    uint64_t value = 0;
    unsigned zeros = 0, decimals = 0;
    bool point = false, digits = false;

    for (; (*text >= '0' && *text <= '9') || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        if (value > XENTRACE_MAX_HZ)
            return false;
        value = 10 * value + (uint64_t)(*text - '0');
        decimals += point;
        digits = true;
    }
    for (size_t i = 0; i < sizeof unit / sizeof *unit; i++)
        if (*text == unit[i].letter) {
            zeros = unit[i].zeros;
            text++;
            break;
        }
    if (!strcasecmp(text, "hz"))
        text += 2;
    for (; decimals > zeros; decimals--, value /= 10)
        if (value % 10)
            return false;
    for (; zeros > decimals && value < XENTRACE_MAX_HZ; zeros--)
        value *= 10;
    *hz = value;
    return digits && !*text && value > 0 && value < XENTRACE_MAX_HZ;
}

static int parse_options(int argc, char **argv, struct options *o, struct errors *e)
{
    static const struct option longs[] = {
        {"cpu-hz", required_argument, NULL, 'c'}, {"workload", required_argument, NULL, 'w'},
        {"json", no_argument, NULL, 'j'},         {"dump", no_argument, NULL, 'd'},
        {"help", no_argument, NULL, 'h'},         {0}};
    int option;

    optind = 0; /* another command may have used it */
    while ((option = getopt_long(argc, argv, "h", longs, NULL)) != -1)
        switch (option) {
        case 'c':
            if (!parse_hz(optarg, &o->hz))
                return error_add(e, EXIT_INPUT,
                                 "--cpu-hz: found \"%s\"; a frequency below 17 GHz such as 2.4G, "
                                 "2400M or 2400000000 would be accepted",
                                 optarg);
            o->hz_given = true;
            break;
        case 'w':
            o->workload = optarg;
            break;
        case 'j':
            o->json = true;
            break;
        case 'd':
            o->dump = true;
            break;
        case 'h':
            fputs(usage, stdout);
            return 1;
        default: /* getopt_long has said why */
            return error_add(e, EXIT_INPUT, "see hvsim import --help");
        }
    if (optind + 1 != argc)
        return error_add(e, EXIT_INPUT, "one trace is wanted, found %d; see hvsim import --help",
                         argc - optind);
    if (o->json && o->dump)
        return error_add(e, EXIT_INPUT, "--json and --dump exclude each other");
    o->trace = argv[optind];
    return 0;
}

static void dump_record(const struct xentrace_record *rec, uint64_t *first, uint64_t hz)
{
    const struct xt_event_info *info = xt_event_find(rec->event, rec->words);
    char payload[256];
    uint64_t ns;

    if (rec->kind == XENTRACE_RESTART) {
        *first = 0;
        puts("the TSC starts anew");
        return;
    }
    if (!*first)
        *first = rec->tsc;
    ns = xentrace_ns(rec->tsc > *first ? rec->tsc - *first : 0, hz);
    printf("%5" PRIu64 ".%09" PRIu64 " p%-3u ", ns / 1000000000, ns % 1000000000, rec->pcpu);
    if (rec->kind == XENTRACE_GAP_BEGIN) {
        puts("records are lost from here ...");
        return;
    }
    xt_event_format(rec->event, rec->word, rec->words, payload, sizeof payload);
    if (info)
        printf("%s %s\n", info->name, payload);
    else
        printf("0x%08" PRIx32 " %s\n", rec->event, payload);
}

/* Bytes of a plain file, for the progress line; 0 when unknown. */
static double file_size(const char *path)
{
    struct stat st;
    size_t length = strlen(path);

    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) ||
        (length > 3 && !strcmp(path + length - 3, ".gz")))
        return 0;
    return (double)st.st_size;
}

static void read_all(const struct options *o, struct xentrace_reader *reader,
                     struct xentrace_summary *summary, struct xentrace_workload *workload)
{
    struct progress progress;
    double size = file_size(o->trace);
    struct xentrace_record rec;
    uint64_t first = 0, n = 0;

    progress_begin(&progress, "reading", "bytes", size, o->dump || size == 0);
    while (xentrace_next(reader, &rec)) {
        if (o->dump)
            dump_record(&rec, &first, o->hz);
        if (workload)
            xentrace_workload_record(workload, &rec);
        xentrace_summary_record(summary, &rec);
        if (++n % (1 << 20) == 0)
            progress_update(&progress, (double)xentrace_volume(reader)->bytes, NULL);
    }
    progress_end(&progress);
    if (workload)
        xentrace_workload_ends(workload);
    xentrace_summary_end(summary);
}

static int write_workload(struct xentrace_workload *workload, const char *path,
                          const struct xentrace_report *report, struct errors *e)
{
    struct output *out = output_open(path, e);

    if (!out)
        return -1;
    if (xentrace_workload_write(workload, report, output_stream(out), e) != 0) {
        output_abort(out);
        return -1;
    }
    return output_commit(out, e);
}

static int import(const struct options *o, struct errors *e)
{
    struct xentrace_reader *reader = xentrace_open(o->trace, e);
    struct xentrace_summary *summary;
    struct xentrace_workload *workload = NULL;
    struct xentrace_report report = {.file = o->trace, .hz = o->hz, .hz_given = o->hz_given};
    int result = 0;

    if (!reader)
        return -1;
    summary = xentrace_summary_new();
    if (o->workload)
        workload = xentrace_workload_new(summary, o->hz);
    read_all(o, reader, summary, workload);
    report.damage = xentrace_damage(reader);
    report.volume = xentrace_volume(reader);
    if (!report.volume->windows) {
        result = error_add(e, EXIT_INPUT,
                           "%s: no xentrace: no CPU change record in %" PRIu64 " bytes%s%s",
                           o->trace, report.volume->bytes, report.damage->input_trouble ? "; " : "",
                           report.damage->input_trouble ? report.damage->input_trouble : "");
    } else {
        if (o->json)
            xentrace_summary_json(summary, &report, stdout);
        else if (!o->dump)
            xentrace_summary_text(summary, &report, stdout);
        if (workload)
            result = write_workload(workload, o->workload, &report, e);
        if (fflush(stdout) != 0 || ferror(stdout))
            result = error_add(e, EXIT_INTERNAL, "standard output: cannot be written");
    }
    xentrace_workload_free(workload);
    xentrace_summary_free(summary);
    xentrace_close(reader);
    return result;
}

int cmd_import(int argc, char **argv)
{
    struct options o = {.hz = XENTRACE_DEFAULT_HZ};
    struct errors e = ERRORS_NONE;
    int code = parse_options(argc, argv, &o, &e);

    if (code == 0)
        import(&o, &e);
    for (size_t i = 0; i < e.count; i++)
        fprintf(stderr, "hvsim import: %s\n", e.item[i].text);
    code = errors_exit_code(&e);
    errors_free(&e);
    return code;
}
