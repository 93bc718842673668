/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One replication, in a process of its own. */
#include "experiments/study/study_inside.h"
#include "experiments/study/timeline.h"
#include "experiments/traces/traces.h"
#include "sim/output.h"
#include "sim/simgrid.h"
#include "sim/wire.h"

#include <stdlib.h>
#include <string.h>

static void report_progress(void *arg, sim_time now)
{
    __atomic_store_n((int64_t *)arg, now, __ATOMIC_RELAXED);
}

static struct platform_options options_of(const struct study *s, const struct variant *v,
                                          const struct world *w, int64_t *reached)
{
    return (struct platform_options){
        .file = v->scenario->platform_file,
        .lockstep = s->lockstep,
        .end = w->end,
        .progress = reached ? report_progress : NULL,
        .progress_arg = reached,
    };
}

/* Links can be looked up only when the fleet is bound; a scenario's place is known only here. */
static int check_links(const struct variant *v, const struct world *w, struct errors *e)
{
    size_t before = e->count;

    for (size_t i = 0; i < v->scenario->actions.count; i++) {
        const struct action_spec *a = scenario_action(v->scenario, i);
        const struct action_kind *kind = a->act.choice->user;
        bool link = !strcmp(kind->target, "link"), host = !strcmp(kind->target, "host");
        char *pointer = xasprintf("/actions/%zu/target", i);

        if (link && !wire_uses_link(&w->fleet, a->target))
            json_error_at(v->doc, pointer, e,
                          "no route of this scenario uses a link \"%s\" of the platform",
                          a->target);
        if (host && !fleet_find(&w->fleet, a->target))
            json_error_at(v->doc, pointer, e,
                          "no host of this scenario is the platform's host \"%s\"", a->target);
        free(pointer);
    }
    for (size_t i = 0; i < v->scenario->outages.count; i++) {
        const char *host = scenario_outage(v->scenario, i)->host;
        char *pointer = xasprintf("/outages/%zu/host", i);

        if (!fleet_find(&w->fleet, host))
            json_error_at(v->doc, pointer, e,
                          "no host of this scenario is the platform's host \"%s\"", host);
        free(pointer);
    }
    return e->count > before ? -1 : 0;
}

struct world *study_world(const struct study *s, const struct variant *v, uint64_t replication,
                          struct errors *e)
{
    struct world *w = world_new(v->scenario, v->roster, (uint64_t)v->scenario->seed, replication);
    struct platform_options o = options_of(s, v, w, NULL);

    if (!study_loaded(s))
        platform_load(&o);
    if (!platform_bind(&w->fleet, e) && !check_links(v, w, e) && !world_build(w, e))
        return w;
    world_free(w);
    return NULL;
}

int study_run_world(const struct study *s, const struct variant *v, struct world *w, sim_time end,
                    struct errors *e)
{
    struct platform_options o = options_of(s, v, w, NULL);
    struct platform_report report;

    o.end = end;
    return platform_run(&o, &w->fleet, &w->timeline, &report, e);
}

struct world *study_simulate(const struct study *s, const struct variant *v, uint64_t replication,
                             int64_t *reached, struct errors *e)
{
    struct world *w = study_world(s, v, replication, e);
    struct platform_report report;
    struct platform_options o;

    if (!w)
        return NULL;
    o = options_of(s, v, w, reached);
    if (!platform_run(&o, &w->fleet, &w->timeline, &report, e) && !world_close(w, e)) {
        report_progress(reached, w->end);
        return w;
    }
    world_free(w);
    return NULL;
}

int study_rehearse(const struct study *s, const struct variant *v, struct errors *e)
{
    struct world *w = study_world(s, v, 0, e);

    world_free(w);
    return w ? 0 : -1;
}

/* ---- traces
 * -------------------------------------------------------------------------------------- */

/* The trace of the world's first host. */
struct tracer {
    const struct trace_format *format;
    struct output *file;
    void *writer;
};

static int trace_begin(struct tracer *t, const struct world *w, const char *path, struct errors *e)
{
    if (!path)
        return 0;
    t->format = trace_format_of(path);
    t->file = output_open(path, e);
    if (!t->file)
        return -1;
    t->writer = t->format->attach(w->host[0].host, output_stream(t->file));
    return 0;
}

static int trace_end(struct tracer *t, const struct world *w, const char *path, struct errors *e)
{
    if (!t->file)
        return 0;
    if (t->format->finish(t->writer, w->host[0].host) && !ferror(output_stream(t->file))) {
        output_abort(t->file);
        return error_add(e, EXIT_INTERNAL, "%s: writing the trace failed", path);
    }
    return output_commit(t->file, e); /* which knows what went wrong with the stream */
}

/* ---- running
 * ------------------------------------------------------------------------------------- */

int study_replicate(const struct study *s, const struct variant *v, uint64_t replication,
                    const char *trace, int64_t *reached, FILE *out, struct errors *e)
{
    struct world *w = study_world(s, v, replication, e);
    struct platform_report report;
    struct timelines *timelines = NULL;
    struct tracer tracer = {0};
    struct platform_options o;
    int status;

    if (!w)
        return -1;
    o = options_of(s, v, w, reached);
    status = trace_begin(&tracer, w, trace, e);
    if (!status && s->timeline.dir && !replication)
        timelines = timelines_begin(s, v, w, e);
    if (!status)
        status = platform_run(&o, &w->fleet, &w->timeline, &report, e);
    if (!status)
        status = trace_end(&tracer, w, trace, e);
    status |= timelines_end(timelines, e);
    if (!status)
        status = world_close(w, e);
    if (!status)
        outcome_write(v->layout, w, out);
    report_progress(reached, w->end);
    world_free(w);
    return status;
}
