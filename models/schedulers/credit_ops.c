/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Credit's parameters and operation table; the rules are in credit.c. */
#include "models/schedulers/credit.h"
#include "models/schedulers/schedulers.h"

static const struct param credit_rows[] = {CREDIT_PARAM_ROWS(struct credit_params, )};

int credit_params_check(void *target, struct json_value v, struct errors *e)
{
    const struct credit_params *p = target;

    if (p->tslice % NS_PER_MS)
        return json_error(json_member(v, "tslice"), e,
                          "Credit's slice is a whole number of milliseconds; round it");
    if (p->ratelimit && p->ratelimit < 100 * NS_PER_US)
        return json_error(json_member(v, "ratelimit"), e,
                          "the ratelimit is 0 (off) or from 100us to 500ms");
    return 0;
}

const struct param_table credit_param_table =
    PARAM_TABLE("credit", struct credit_params, credit_rows, .meaning = "Xen's Credit scheduler.",
                .check = credit_params_check);

const struct sched_ops sched_credit = {
    CREDIT_OPERATIONS,
    .name = "credit",
    .title = "Credit: proportional shares, BOOST for vCPUs that wake",
    .params = &credit_param_table,
    .domain_size = sizeof(struct credit_domain),
    .create = credit_create,
};
