/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/sweep/sweep_results.h"

#include <stdlib.h>

int sweep_results_open(struct sweep_results *r, const char *dir, struct errors *e)
{
    uint64_t *key;
    int status;

    *r = (struct sweep_results){0};
    status = index_read(&r->index, dir, e);
    key = index_keys(&r->index);
    store_init(&r->store, dir, key, r->index.points);
    free(key);
    return status ? status : store_read(&r->store, true, e);
}

void sweep_results_free(struct sweep_results *r)
{
    store_free(&r->store);
    index_free(&r->index);
}

int sweep_result(struct sweep_results *r, size_t point, struct point_result *p, struct errors *e)
{
    struct entry_rule rule = index_rule(&r->index, point);
    struct entry *n = store_find(&r->store, r->index.point[point].key);
    struct entry_verdict v = entry_judge(n, &rule);
    const struct kept **list;
    struct kept *item;

    *p = (struct point_result){.state = v.state, .n = v.n, .figures = rule.figures};
    if (v.state == ENTRY_FAILED)
        p->reason = entry_reason(n);
    if (v.state == ENTRY_MORE)
        p->n = n->prefix;
    if (v.state != ENTRY_DONE)
        return 0;
    item = xcalloc(v.n, sizeof *item);
    if (store_kept(n, rule.figures, item, v.n, e)) {
        free(item);
        return -1;
    }
    p->item = item;
    list = xcalloc(v.n, sizeof *list);
    for (uint32_t i = 0; i < v.n; i++)
        list[i] = &p->item[i];
    kept_set_init(&p->set, rule.figures, list, v.n);
    free(list);
    return 0;
}

void point_result_free(struct point_result *p)
{
    if (!p->item)
        return;
    kept_set_free(&p->set);
    for (uint32_t i = 0; i < p->n; i++)
        kept_free(&p->item[i], p->figures);
    free(p->item);
    p->item = NULL;
}
