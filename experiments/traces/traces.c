/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/traces/traces.h"

#include "experiments/traces/csv.h"
#include "experiments/traces/xentrace_write.h"
#include "sim/error.h"

#include <stdlib.h>
#include <string.h>

char *vcpu_name(const struct vcpu *v, char out[VCPU_NAME])
{
    if (v->idle)
        snprintf(out, VCPU_NAME, "idle");
    else if (*v->domain->name)
        snprintf(out, VCPU_NAME, "%.64s/v%u", v->domain->name, v->id);
    else
        snprintf(out, VCPU_NAME, "d%u/v%u", v->domain->id, v->id);
    return out;
}

/* ---- xentrace -----------------------------------------------------------------------------------
 */

static void *xentrace_attach(struct host *h, FILE *out)
{
    struct xentrace_writer *w = xcalloc(1, sizeof *w);

    xentrace_writer_attach(w, h, out, XENTRACE_DEFAULT_KHZ);
    return w;
}

static int xentrace_finish(void *writer, struct host *h)
{
    int failed = xentrace_writer_finish(writer);

    (void)h;
    free(writer);
    return failed;
}

/* ---- CSV ----------------------------------------------------------------------------------------
 */

struct csv_file {
    struct csv_trace trace;
    FILE *out;
};

static void csv_row(void *ctx, const char *text)
{
    struct csv_file *f = ctx;

    fputs(text, f->out);
    fputc('\n', f->out);
}

void *csv_file_attach(struct host *h, FILE *out)
{
    struct csv_file *f = xcalloc(1, sizeof *f);

    f->out = out;
    csv_row(f, csv_header);
    csv_trace_attach(&f->trace, h, csv_row, f);
    return f;
}

int csv_file_finish(void *writer, struct host *h)
{
    struct csv_file *f = writer;
    int failed = ferror(f->out) ? -1 : 0;

    (void)h;
    csv_trace_free(&f->trace);
    free(f);
    return failed;
}

/* ---- the table ----------------------------------------------------------------------------------
 */

const struct trace_format trace_formats[] = {
    {".xentrace", "Xen's own binary format: xenalyze, hvsim import", xentrace_attach,
     xentrace_finish},
    {".perfetto.json", "Chrome trace JSON: ui.perfetto.dev, chrome://tracing", perfetto_attach,
     perfetto_finish},
    {".ftrace", "Linux ftrace text with sched_switch and sched_wakeup: Perfetto's scheduler view",
     ftrace_attach, ftrace_finish},
    {".paje", "Paje: ViTE, PajeNG (pj_dump)", paje_attach, paje_finish},
    {".csv", "one row per record, as in the reference schedules", csv_file_attach, csv_file_finish},
    {.suffix = NULL},
};

const struct trace_format *trace_format_of(const char *path)
{
    size_t n = strlen(path);

    for (const struct trace_format *f = trace_formats; f->suffix; f++) {
        size_t k = strlen(f->suffix);

        if (n > k && !strcmp(path + n - k, f->suffix))
            return f;
    }
    return NULL;
}
