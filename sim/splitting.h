/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rare events by multilevel splitting (RESTART: Villen-Altamirano, 1991), in which a whole
 * simulation is cloned by fork().
 *
 * On the way to a rare event there are levels. Whenever the simulation reaches one but the last, it
 * goes on in `copies` copies, of which all but one, the original, are given other random numbers
 * from there on, follow what they were made for until it is decided, hand in what they have counted
 * and end. Every copy is a possible course of the simulation, so
 *
 *     times that level k was reached, by all copies together, / copies^k
 *
 * has the mean of the number of times that a plain simulation reaches it, whatever the levels are
 * and however copies resemble each other; these decide how much it varies. Levels must be chosen
 * before the run.
 *
 *     splitting_init(&s, levels, copies);
 *     ... when something reaches level k:            splitting_reach(&s, k);   returns in each copy
 *     ... when what s.pursued stands for is decided: splitting_end(&s);        ends a copy
 */
#ifndef HVSIM_SIM_SPLITTING_H
#define HVSIM_SIM_SPLITTING_H

#include <stdbool.h>
#include <stdint.h>

enum { SPLITTING_LEVELS = 16, SPLITTING_COPIES = 64 };

struct splitting {
    uint32_t levels, copies;
    uint64_t reached[SPLITTING_LEVELS]; /* here and by copies that have ended */
    uint64_t made, lost;                /* copies; those that did not hand in */
    bool copy;                          /* is this one? */
    uint64_t pursued;                   /* the caller's: what a copy was made for */
    uint64_t salt;
    int out;
};

/* 1 <= levels <= SPLITTING_LEVELS, 1 <= copies <= SPLITTING_COPIES; 1 copy: a plain simulation. */
void splitting_init(struct splitting *s, uint32_t levels, uint32_t copies);

/* Level `level` (from 0) is reached by `pursued`. Copies run one after the other, each within this
 * call of the one that made it. */
void splitting_reach(struct splitting *s, uint32_t level, uint64_t pursued);

/* In a copy: hands in what it counted and ends the process. Nothing in the original. */
void splitting_end(struct splitting *s);

/* Estimated number of times that a plain simulation reaches the level. */
double splitting_count(const struct splitting *s, uint32_t level);

#endif
