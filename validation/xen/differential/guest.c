/* SPDX-License-Identifier: GPL-3.0-or-later OR GPL-2.0-only */
/* What the vCPUs do. */
#include "validation/xen/differential/glue.h"

#include <math.h>

double num(const cJSON *o, const char *k, double otherwise)
{
    const cJSON *v = cJSON_GetObjectItem(o, k);

    return cJSON_IsNumber(v) ? v->valuedouble : cJSON_IsBool(v) ? cJSON_IsTrue(v) : otherwise;
}

s_time_t micros(const cJSON *o, const char *k)
{
    return llround(num(o, k, 0) * 1000.0);
}

const char *text(const cJSON *o, const char *k)
{
    const cJSON *v = cJSON_GetObjectItem(o, k);

    return cJSON_IsString(v) ? v->valuestring : NULL;
}

/* ---- guests ---------------------------------------------------------------------------------- */

enum op_kind { OP_COMPUTE, OP_SLEEP, OP_PERIOD, OP_WAIT, OP_YIELD, OP_JUMP };

struct op {
    enum op_kind kind;
    s_time_t arg;
};

struct guest {
    struct op *op;
    int count, at;
    int mode; /* of the operation it is in; -1: none yet */
    s_time_t start, left, since, wake_at, phase;
    bool pending; /* an event it has not waited for yet */
};

#define EVER ((s_time_t)1 << 61)

/* Where it runs, its burst is used up as time goes by. */
static void burst_update(struct vcpu *v)
{
    struct guest *g = v->guest;

    if (g && shim_now > g->since) {
        g->left -= g->left >= EVER / 2 ? 0 : shim_now - g->since;
        if (g->left < 0)
            BUG();
    }
    if (g)
        g->since = shim_now;
}

void guest_switched(struct vcpu *prev, struct vcpu *next)
{
    struct guest *g = next->guest;

    burst_update(prev);
    if (g)
        g->since = shim_now;
}

static void act(struct vcpu *v)
{
    struct guest *g = v->guest;

    if (g->mode == OP_SLEEP && shim_now < g->wake_at) {
        vcpu_block();
        return;
    }
    if (g->mode == OP_WAIT) {
        if (!g->pending) {
            vcpu_block();
            return;
        }
        g->pending = false;
    }
    for (int steps = 0; steps < 1000; steps++) {
        struct op *op = &g->op[g->at];

        g->at = (g->at + 1) % g->count;
        g->mode = op->kind;
        switch (op->kind) {
        case OP_COMPUTE:
            if (!op->arg)
                break;
            g->left = op->arg;
            g->since = shim_now;
            return;
        case OP_SLEEP:
        case OP_PERIOD:
            g->mode = OP_SLEEP;
            if (op->kind == OP_SLEEP)
                g->wake_at = shim_now + op->arg;
            else if (shim_now < g->start + g->phase)
                g->wake_at = g->start + g->phase;
            else
                g->wake_at = g->start + g->phase +
                             ((shim_now - g->start - g->phase) / op->arg + 1) * op->arg;
            migrate_timer(&v->singleshot_timer, shim_cpu);
            set_timer(&v->singleshot_timer, g->wake_at);
            vcpu_block();
            return;
        case OP_WAIT:
            if (!g->pending) {
                vcpu_block();
                return;
            }
            g->pending = false;
            break;
        case OP_YIELD:
            vcpu_yield();
            return;
        case OP_JUMP:
            g->at = (int)op->arg % g->count;
            break;
        }
    }
    g->left = EVER;
    g->mode = OP_COMPUTE;
}

static struct op *ops(int n, ...)
{
    struct op *o = calloc((size_t)n, sizeof *o);
    __builtin_va_list ap;

    __builtin_va_start(ap, n);
    for (int i = 0; i < n; i++) {
        o[i].kind = (enum op_kind) __builtin_va_arg(ap, int);
        o[i].arg = __builtin_va_arg(ap, s_time_t);
    }
    __builtin_va_end(ap);
    return o;
}

static void behave(struct guest *g, const cJSON *b)
{
    const char *type = text(b, "type");
    s_time_t c = micros(b, "compute_us");

    g->mode = -1;
    if (!strcmp(type, "hog") || !strcmp(type, "mixed")) {
        g->op = ops(g->count = 1, OP_COMPUTE, EVER);
    } else if (!strcmp(type, "burst_sleep")) {
        g->op = ops(g->count = 2, OP_COMPUTE, c, OP_SLEEP, micros(b, "sleep_us"));
    } else if (!strcmp(type, "periodic")) {
        g->phase = micros(b, "phase_us");
        g->op = ops(g->count = 2, OP_COMPUTE, c, OP_PERIOD, micros(b, "period_us"));
    } else if (!strcmp(type, "server")) {
        g->op = ops(g->count = 2, OP_WAIT, (s_time_t)0, OP_COMPUTE, c);
    } else if (!strcmp(type, "yielder")) {
        g->op = ops(g->count = 2, OP_COMPUTE, c, OP_YIELD, (s_time_t)0);
    } else if (!strcmp(type, "program")) {
        static const char *names[] = {"compute_us", "sleep_us", "period_us",
                                      "wait",       "yield",    "jump"};
        const cJSON *list = cJSON_GetObjectItem(b, "ops"), *o;

        g->op = calloc((size_t)cJSON_GetArraySize(list), sizeof *g->op);
        cJSON_ArrayForEach(o, list)
        {
            const cJSON *arg = cJSON_GetArrayItem(o, 1);

            for (int i = 0; i < 6; i++)
                if (!strcmp(cJSON_GetArrayItem(o, 0)->valuestring, names[i]))
                    g->op[g->count].kind = (enum op_kind)i;
            if (arg)
                g->op[g->count].arg =
                    (s_time_t)(g->op[g->count].kind <= OP_PERIOD ? arg->valuedouble * 1000.0
                                                                 : arg->valuedouble);
            g->count++;
        }
    } else {
        BUG();
    }
}

void guest_new(struct vcpu *v, s_time_t start, const cJSON *behaviour)
{
    struct guest *g = v->guest = xzalloc(struct guest);

    g->start = start;
    behave(g, behaviour);
}

s_time_t guest_start(const struct vcpu *v)
{
    return ((const struct guest *)v->guest)->start;
}

void guest_event(struct vcpu *v)
{
    ((struct guest *)v->guest)->pending = true;
    vcpu_unblock(v);
}

s_time_t guest_burst_end(const struct vcpu *v)
{
    const struct guest *g = v->guest;

    return g ? g->since + g->left : STIME_MAX;
}

bool guest_acts(struct vcpu *v)
{
    struct guest *g = v->guest;

    burst_update(v);
    if (!g || g->left)
        return false;
    act(v);
    return true;
}
