/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/commands/study_options.h"

#include "experiments/study/timeline.h"
#include "experiments/traces/traces.h"
#include "models/schedulers/plugin.h"
#include "sim/output.h"

#include <stdlib.h>
#include <string.h>

static int check_trace(const char *path, struct errors *e)
{
    char *known = xstrdup("");

    if (!path || trace_format_of(path)) {
        free(known);
        return 0;
    }
    for (const struct trace_format *f = trace_formats; f->suffix; f++) {
        char *longer = xasprintf("%s%s%s", known, *known ? ", " : "", f->suffix);

        free(known);
        known = longer;
    }
    error_add(e, EXIT_INPUT, "--trace %s: the name must end in one of %s", path, known);
    free(known);
    return -1;
}

static int begin_timeline(struct study *s, const struct study_options *o, struct errors *e)
{
    if (!o->timeline)
        return 0;
    if (!o->out)
        return error_add(e, EXIT_INPUT, "--timeline needs --out, where to write it");
    if (timeline_read_span(o->timeline, &s->timeline.from, &s->timeline.until, e))
        return -1;
    s->timeline.dir = xstrdup(o->out);
    return 0;
}

int study_begin(struct study *s, const char *path, const struct study_options *o, struct errors *e)
{
    size_t before = e->count;

    study_init(s, path);
    s->jobs = (unsigned)o->jobs;
    s->lockstep = o->lockstep;
    s->quiet = o->quiet;
    check_trace(o->trace, e);
    begin_timeline(s, o, e);
    s->trace = o->trace ? xstrdup(o->trace) : NULL;
    for (size_t i = 0; i < o->plugin.count; i++)
        scheduler_load(((char **)o->plugin.item)[i], e);
    return e->count > before ? -1 : 0;
}

int study_check_outputs(const struct study_options *o, struct errors *e)
{
    if (o->trace && output_check(o->trace, e))
        return -1;
    if (!o->out)
        return 0;
    /* Only a timeline is written before there are results. */
    return o->timeline ? output_directory(o->out, e) : output_directory_check(o->out, e);
}

static void add(struct param_list *l, char *text)
{
    char **item = xrealloc(l->item, (l->count + 1) * sizeof *item);

    item[l->count++] = text;
    l->item = item;
}

struct param_list study_overrides(const struct study_options *o)
{
    struct param_list l = {0};

    for (size_t i = 0; i < o->set.count; i++)
        add(&l, xstrdup(((char **)o->set.item)[i]));
    if (o->seed >= 0)
        add(&l, xasprintf("/seed=%lld", (long long)o->seed));
    if (o->replications >= 0)
        add(&l, xasprintf("/replications=%lld", (long long)o->replications));
    return l;
}

void study_overrides_free(struct param_list *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(((char **)l->item)[i]);
    free(l->item);
}
