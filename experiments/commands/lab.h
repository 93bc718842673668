/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Labs of the teaching course, docs/labs/N/lab.json: questions whose answers are computed by
 * running the simulator when they are wanted, never stored.
 */
#ifndef HVSIM_COMMANDS_LAB_H
#define HVSIM_COMMANDS_LAB_H

#include "sim/config.h"
#include "sim/time.h"

enum { LABS = 9 };

/* ---- answers: where the value is to be found ------------------------------------------------- */

enum figure_take { TAKE_VALUE, TAKE_HALF_WIDTH, TAKE_CHANGE, TAKE_CHANGE_HALF_WIDTH, TAKE_RATIO };

/* "figure": of a run, or of two runs under the same random numbers. */
struct figure_answer {
    char *figure;              /* "client:latency_p99" */
    struct param_list against; /* char *: what is set in the other run */
    int take;                  /* enum figure_take; but for the first two it needs `against` */
};

/* "shares": figures in per cent of one run, multiplied as shares; or how many times that product
 * another one is. */
struct shares_answer {
    struct param_list figures; /* char * */
    char *over;                /* NULL: the product itself */
};

enum state_take { TAKE_CREDIT, TAKE_PRIORITY, TAKE_PCPU, TAKE_RUNSTATE };

/* "state": of a vCPU at a date of the first replication, once all events of that date are over. */
struct state_answer {
    char *vcpu; /* "web/v0" */
    sim_time at;
    int take; /* enum state_take */
};

/* "record": the n-th record of a kind about a vCPU. "count": how many there are. */
struct record_answer {
    char *record, *vcpu;
    sim_time from, until;
    int64_t nth;
    char *take; /* "date", or the name of an argument of the record ("waited") */
};

enum answer_type { ANSWER_FIGURE, ANSWER_SHARES, ANSWER_STATE, ANSWER_RECORD, ANSWER_COUNT };

struct question {
    char *name; /* "1", "2b" */
    char *ask, *unit;
    char *scenario;        /* NULL: the lab's */
    struct param_list set; /* char * */
    struct param_variant answer;
    int64_t tolerance; /* of the value; percent as in sim/units.h */
    double margin;     /* and in the unit, whichever is more */
};

/* ---- a task: a scheduler of one's own -------------------------------------------------------- */

struct task_bound {
    char *figure;
    char *reference;    /* a scheduler the bounds are multiples of; NULL: they are in the unit */
    double least, most; /* 0: none */
};

struct lab_task {
    int64_t lines;            /* of the plug-in's source at most, without comments and blank ones */
    struct param_list bounds; /* struct task_bound */
};

struct lab {
    char *title, *scenario;
    int64_t minutes;
    struct param_list set;       /* char * */
    struct param_list questions; /* struct question */
    struct lab_task *task;       /* NULL: none */
    char *dir;                   /* of its files; not in the file */
};

extern const struct config_format lab_format;

/* Read lab number n. NULL with errors. */
struct lab *lab_read(int64_t n, struct errors *e);
void lab_free(struct lab *l);

static inline const struct question *lab_question(const struct lab *l, size_t i)
{
    return &((const struct question *)l->questions.item)[i];
}

enum answer_type question_type(const struct question *q);

/* ---- answering ------------------------------------------------------------------------------- */

enum { ANSWER_TEXT = 64 };

struct answer {
    double value;           /* in the question's unit; NAN: it is a text */
    char text[ANSWER_TEXT]; /* "BOOST" */
};

/* Compute answers to some questions, each in a process of its own. 0, or -1 with errors. */
int lab_answers(const struct lab *l, const size_t *question, size_t count, struct answer *answer,
                struct errors *e);

/* What a student wrote: "59.4ms", "0.0594s", "59.4" (in the question's unit), "boost". 0: it is
 * right; 1: it is not; -1 with an error: it cannot be understood. */
int answer_check(const struct question *q, const struct answer *right, const char *text,
                 struct errors *e);

/* One bound that a task's plug-in was held against. */
struct bound_result {
    double value, reference; /* reference: NAN if there is none */
    bool kept;
};

/* Run the lab's scenario with the scheduler in `plugin`. result[] has a row for each bound. */
int lab_grade(const struct lab *l, const char *plugin, struct bound_result *result,
              struct errors *e);

/* Lines of a C source that are neither blank nor only comment; -1: it cannot be read. */
long lab_lines(const char *path);

#endif
