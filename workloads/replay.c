/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workloads/replay.h"

#include "workloads/program_start.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const sim_time FOR_EVER = INT64_C(1000000000) * NS_PER_S;

/* ---- operations ------------------------------------------------------------------------------ */

/* Times of the same kind that follow each other are one. */
static void add(struct script_list *l, uint32_t *room, enum script_kind kind, int64_t arg)
{
    if (kind != SCRIPT_YIELD && kind != SCRIPT_JUMP && !arg)
        return;
    if (l->count && kind <= SCRIPT_SLEEP && l->op[l->count - 1].kind == kind) {
        l->op[l->count - 1].arg += arg;
        return;
    }
    if (l->count == *room) {
        *room = *room ? 2 * *room : 256;
        l->op = xrealloc(l->op, *room * sizeof *l->op);
    }
    l->op[l->count++] = (struct script_op){.kind = kind, .arg = arg};
}

/* A word of the file (experiments/traces/xentrace_workload.h has them). -1: it is none. */
static int add_word(struct script_list *l, uint32_t *room, const char *word)
{
    char *end;
    int64_t ns;

    if (*word == 'w') /* it woke another one: that one's sleep is as long as it was */
        return 0;
    if (*word == 'y' && !word[1]) {
        add(l, room, SCRIPT_YIELD, 0);
        return 0;
    }
    if (!strchr("cbpg", *word) || word[1] < '0' || word[1] > '9')
        return -1;
    errno = 0;
    ns = strtoll(word + 1, &end, 10);
    if (errno || ns > FOR_EVER || (*end && *end != '@'))
        return -1;
    add(l, room, *word == 'c' ? SCRIPT_COMPUTE : SCRIPT_SLEEP, ns);
    return 0;
}

static int add_words(struct script_list *l, uint32_t *room, struct json_value v, struct errors *e)
{
    const char *text = json_string(v);
    char *words = xstrdup(text ? text : "?");
    int status = 0;

    for (char *save, *w = strtok_r(words, " ", &save); w && !status; w = strtok_r(NULL, " ", &save))
        if (add_word(l, room, w))
            status = json_error(v, e, "\"%.20s\" is no operation of a workload file", w);
    free(words);
    return status;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Beside the scenario, or else from the working directory. */
static char *find_file(const char *file, struct json_value scenario)
{
    const char *name = json_name(scenario.doc), *slash = strrchr(name, '/');
    char *beside;

    if (*file == '/' || !slash)
        return xstrdup(file);
    beside = xasprintf("%.*s/%s", (int)(slash - name), name, file);
    if (!access(beside, R_OK))
        return beside;
    free(beside);
    return xstrdup(file);
}

static struct json_value find_vcpu(const struct json *doc, const char *wanted)
{
    JSON_FOR_EACH(v, json_at(doc, "/vcpus"))
    {
        int64_t domain, vcpu;
        char name[48];

        if (json_integer(json_member(v, "domain"), &domain) ||
            json_integer(json_member(v, "vcpu"), &vcpu))
            continue;
        snprintf(name, sizeof name, "%" PRId64 ".%" PRId64, domain, vcpu);
        if (!strcmp(name, wanted))
            return v;
    }
    return JSON_NONE;
}

static int read_ops(struct replay_trace *t, const struct json *doc, struct json_value at,
                    struct errors *e)
{
    struct json_value vcpu = find_vcpu(doc, t->vcpu);
    const char *format = json_string(json_at(doc, "/format"));
    uint32_t room = 0;
    int status = 0;

    if (!format || strcmp(format, "hvsim-workload"))
        return json_error(at, e, "%s is not written by hvsim import --workload", t->file);
    if (!json_exists(vcpu))
        return json_error_in(at, "vcpu", e, "%s has no vCPU \"%s\" (DOMAIN.VCPU is wanted)",
                             t->file, t->vcpu);
    JSON_FOR_EACH(words, json_member(vcpu, "ops")) status |= add_words(&t->ops, &room, words, e);
    add(&t->ops, &room, SCRIPT_SLEEP, FOR_EVER);
    add(&t->ops, &room, SCRIPT_JUMP, t->ops.count - 1);
    return status;
}

static int trace_read(const struct param *p, struct json_value v, void *field, struct errors *e)
{
    const char *file = json_string(json_member(v, "file"));
    const char *vcpu = json_string(json_member(v, "vcpu"));
    struct replay_trace *t = field;
    struct json *doc;
    char *path;
    int status;

    if (json_kind(v) != JSON_OBJECT || !file || !vcpu || json_length(v) != 2)
        return json_error(v, e, "expected %s", p->type->accepts);
    t->file = xstrdup(file);
    t->vcpu = xstrdup(vcpu);
    path = find_file(file, v);
    doc = json_read(path, e);
    free(path);
    if (!doc)
        return -1;
    status = read_ops(t, doc, v, e);
    json_free(doc);
    return status;
}

static void trace_write(const struct param *p, const void *field, struct json_writer *w,
                        const char *key)
{
    const struct replay_trace *t = field;

    (void)p;
    json_begin_inline(w, key, '{');
    json_put_string(w, "file", t->file);
    json_put_string(w, "vcpu", t->vcpu);
    json_end(w);
}

static void trace_schema(const struct param *p, struct json_writer *w, const char *key)
{
    json_begin(w, key, '{');
    if (p->meaning)
        json_put_string(w, "description", p->meaning);
    json_put_string(w, "type", "object");
    json_begin(w, "properties", '{');
    json_begin_inline(w, "file", '{');
    json_put_string(w, "type", "string");
    json_end(w);
    json_begin_inline(w, "vcpu", '{');
    json_put_string(w, "type", "string");
    json_end(w);
    json_end(w);
    json_begin_inline(w, "required", '[');
    json_put_string(w, NULL, "file");
    json_put_string(w, NULL, "vcpu");
    json_end(w);
    json_end(w);
}

static void trace_release(void *field)
{
    struct replay_trace *t = field;

    free(t->file);
    free(t->vcpu);
    free(t->ops.op);
}

static const struct param_type trace_type = {
    .name = "vCPU of a workload file",
    .accepts = "an object such as {\"file\": \"w.json\", \"vcpu\": \"5.0\"}",
    .size = sizeof(struct replay_trace),
    .read = trace_read,
    .write = trace_write,
    .schema = trace_schema,
    .release = trace_release,
};

/* ---- the program ----------------------------------------------------------------------------- */

static const struct param rows[] = {
    {PARAM("trace", CUSTOM, struct replay_params, trace), .type = &trace_type,
     .meaning = "The file that hvsim import --workload has written, beside the scenario, and the "
                "vCPU of it (DOMAIN.VCPU)."},
};

static const struct param_table table =
    PARAM_TABLE("replay", struct replay_params, rows,
                .meaning = "Computes and sleeps as a vCPU of a real trace did.");

const struct program program_replay = {
    .name = "replay",
    .meaning = "Computes and sleeps as a vCPU of a real trace did.",
    .params = &table,
};

struct thread *replay_start(const void *params, const struct program_site *site)
{
    const struct replay_params *r = params;
    const struct script_params script = {.op = r->trace.ops.op, .count = r->trace.ops.count};

    return guest_add_thread(site_vcpu(site, 0), &program_script, &script, site->entity, site->class,
                            site->priority);
}
