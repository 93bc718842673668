/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hvsim import: what a xentrace holds. One pass over the trace; the summary goes to standard
 * output, the workload to its file.
 */
#include "experiments/commands/commands.h"
#include "experiments/commands/import_xl.h"
#include "experiments/traces/xentrace_workload.h"
#include "sim/output.h"
#include "sim/progress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct import_options {
    char *cpu_hz, *workload;
    bool json, dump;
};

static const struct command_option rows[] = {
    {.param = {PARAM("cpu-hz", STRING, struct import_options, cpu_hz),
               .meaning =
                   "Frequency of the traced machine's TSC, such as 2400000000, 2.4G or 2400M "
                   "(default: 2.4G, as xenalyze's)."},
     .value = "HZ"},
    {.param = {PARAM("workload", STRING, struct import_options, workload),
               .meaning =
                   "Write what the guests did: each vCPU's bursts and blocks, what ended them "
                   "and who woke whom, to be run under another scheduler."},
     .value = "OUT.json"},
    {.param = {PARAM("json", BOOLEAN, struct import_options, json),
               .meaning = "Print the summary as JSON."}},
    {.param = {PARAM("dump", BOOLEAN, struct import_options, dump),
               .meaning = "Print every record instead of the summary, one a line, in the order of "
                          "time."}},
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

static void read_all(const char *trace, const struct import_options *o, uint64_t hz,
                     struct xentrace_reader *reader, struct xentrace_summary *summary,
                     struct xentrace_workload *workload)
{
    struct progress progress;
    double size = file_size(trace);
    struct xentrace_record rec;
    uint64_t first = 0, n = 0;

    progress_begin(&progress, "reading", "bytes", size, o->dump || size == 0);
    while (xentrace_next(reader, &rec)) {
        if (o->dump)
            dump_record(&rec, &first, hz);
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

static int import(const char *trace, const struct import_options *o, uint64_t hz, struct errors *e)
{
    struct xentrace_reader *reader = xentrace_open(trace, e);
    struct xentrace_summary *summary;
    struct xentrace_workload *workload = NULL;
    struct xentrace_report report = {.file = trace, .hz = hz, .hz_given = o->cpu_hz != NULL};
    int result = 0;

    if (!reader)
        return -1;
    summary = xentrace_summary_new();
    if (o->workload)
        workload = xentrace_workload_new(summary, hz);
    read_all(trace, o, hz, reader, summary, workload);
    report.damage = xentrace_damage(reader);
    report.volume = xentrace_volume(reader);
    if (!report.volume->windows) {
        const char *trouble = report.damage->input_trouble;

        result = error_add(e, EXIT_INPUT,
                           "%s: no xentrace: no CPU change record in %" PRIu64 " bytes%s%s", trace,
                           report.volume->bytes, trouble ? "; " : "", trouble ? trouble : "");
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

static enum exit_code run(const void *options, const struct operands *operands, struct errors *e)
{
    const struct import_options *o = options;
    uint64_t hz = XENTRACE_DEFAULT_HZ;

    if (!strcmp(operands->text[0], "xl")) {
        if (operands->count < 2)
            error_add(e, EXIT_INPUT, "hvsim import xl: name the files with xl's output");
        else
            import_xl(operands->text + 1, operands->count - 1, stdout, e);
        return errors_exit_code(e);
    }
    if (operands->count > 1)
        error_add(e, EXIT_INPUT, "hvsim import: one trace at a time");
    else if (o->cpu_hz && !parse_hz(o->cpu_hz, &hz))
        error_add(e, EXIT_INPUT,
                  "hvsim import: --cpu-hz %s: a frequency below 17 GHz such as 2.4G, 2400M or "
                  "2400000000 would be accepted",
                  o->cpu_hz);
    else if (o->json && o->dump)
        error_add(e, EXIT_INPUT, "hvsim import: --json and --dump exclude each other");
    else
        import(operands->text[0], o, hz, e);
    return errors_exit_code(e);
}

const struct command command_import = {
    .name = "import",
    .summary = "Read a trace of xentrace: what happened, and a workload made of it",
    .arguments = "TRACE | xl FILE...",
    .least = 1,
    .most = -1,
    .details =
        "TRACE is what Xen's xentrace writes (Xen 4.7 to 4.20), also compressed with gzip; "
        "\"-\" is standard input. It is read once, in bounded memory, however long it is.\n\n"
        "The summary tells shares, run lengths, waits after a wake-up and after a "
        "preemption, blocked times, migrations, boosts and gaps of lost records, per domain "
        "and vCPU, and the use of the pCPUs. Where `xenalyze --summary` reports the same "
        "figure it is the same. Parts of a damaged trace that could not be read are told at "
        "its end.\n\n"
        "`hvsim import xl FILE...` writes a scenario of a host from what an operator can print on "
        "it: xl info, xl vcpu-list, xl list -l, xl sched-credit, xl sched-credit2, "
        "xl cpupool-list, xl cpupool-list -c; in files of their own, in any order.",
    OPTIONS_OF(rows, struct import_options),
    .run = run,
};
