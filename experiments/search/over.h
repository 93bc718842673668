/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Variables of a search in a scenario, as given on the command line:
 *
 *     /json/pointer=a,b,c          one of these (JSON, or texts without quotes)
 *     /json/pointer=LOW..HIGH      any value of that range; whole numbers where the scenario wants
 *                                  them
 *     /json/pointer=LOW..HIGH/STEP values of that range, in steps
 *     ...:log                      sampled evenly by ratio
 *     ... as FORM                  the value takes the place of {} in FORM: "poisson({})"
 *
 * Several pointers joined by "+" take the same value.
 */
#ifndef HVSIM_SEARCH_OVER_H
#define HVSIM_SEARCH_OVER_H

#include "experiments/search/tune.h"
#include "experiments/sweep/sweep_value.h"
#include "sim/json.h"

struct over {
    char *text; /* as given */
    char **pointer;
    size_t pointers;
    char **choice; /* as text of an assignment */
    size_t choices;
    enum quantity quantity; /* of a range */
    bool whole;             /* numbers of a range are whole base units */
    char *form;             /* NULL: the value itself */
    struct variable variable;
};

/* 0, or -1 with an error; free in both cases. `scenario` tells which places hold whole numbers. */
int over_read(struct over *o, const char *text, const char *flag, const struct json *scenario,
              struct errors *e);
void over_free(struct over *o);

/* The value as people write it ("5ms", "credit"), and the assignments it makes; caller frees. */
char *over_value(const struct over *o, double x);
char *over_assignment(const struct over *o, size_t pointer, double x);

/* What the scenario has now, as a value of the variable; false if it is none. */
bool over_current(const struct over *o, const struct json *scenario, double *x);

/* The last part of the first pointer: a heading. */
const char *over_name(const struct over *o);

#endif
