/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Agreement on the measurements before computing, after Quarts (ETFA 2017). The rules are restated
 * from a third party's simulation of it (facts: papers.md B3), which calls some of them guesses.
 *
 * A replica's state is that after some round, its base; a digest is (base, set of measurements).
 *
 *   receive  Measurements of the round are taken for the first phase. None: the round is skipped.
 *   collect  It asks the others for what it lacks, and offers its base. It gives what it has to
 *            who asks, and its state to who is behind. Over as soon as it has all measurements and
 *            its base is the round before, at the latest with the phase.
 *   vote     It votes for its digest, its own vote being there at once. At most half of the votes
 *            missing, it has agreed if those that miss cannot change the winner: the digest with
 *            most votes, the greatest of those with equally many (base, then measurements by
 *            number). A lone vote decides only for the full digest.
 *
 * If the agreed base is its own and it has all agreed measurements, it computes, and the round is
 * its base. Otherwise it sits the round out. Messages that the present phase has no use for wait
 * for one that has.
 */
#include "models/control/replica.h"

#include <string.h>

void agreement_init(struct replica *r)
{
    struct agreement *a = &r->agreement;
    uint64_t agreed = a->agreed, failed = a->failed;

    memset(a, 0, sizeof *a);
    a->agreed = agreed;
    a->failed = failed;
    a->base = -1;
    a->ends = SIM_NEVER;
    a->round = UINT64_MAX;
}

static bool up_to_date(const struct replica *r)
{
    const struct agreement *a = &r->agreement;

    return a->got == r->all && a->base >= (int64_t)a->round - 1;
}

/* ---- the vote -------------------------------------------------------------------------------- */

/* Is digest x less than y? */
static bool digest_less(const struct agreement_vote *x, const struct agreement_vote *y)
{
    uint64_t differ = x->set ^ y->set;

    if (x->base != y->base)
        return x->base < y->base;
    return differ && y->set & (differ & -differ);
}

static bool digest_equal(const struct agreement_vote *x, const struct agreement_vote *y)
{
    return x->base == y->base && x->set == y->set;
}

/* The digests with a number of votes: the greatest of them, and how many different there are. */
static uint32_t digests_with(const struct agreement_vote *votes, const uint32_t *count, uint32_t n,
                             uint32_t number, struct agreement_vote *greatest)
{
    uint32_t different = 0;

    for (uint32_t i = 0; i < n; i++) {
        bool known = false;

        if (count[i] != number)
            continue;
        for (uint32_t k = 0; k < i && !known; k++)
            known = count[k] == number && digest_equal(&votes[k], &votes[i]);
        if (!different || digest_less(greatest, &votes[i]))
            *greatest = votes[i];
        different += !known;
    }
    return different;
}

/* Have the votes that are here decided? */
static bool decided(const struct replica *r, struct agreement_vote *winner)
{
    const struct agreement *a = &r->agreement;
    struct agreement_vote here[CONTROL_REPLICAS], second;
    uint32_t count[CONTROL_REPLICAS] = {0}, n = 0, most = 0, next = 0, missing, winners;

    for (uint32_t i = 0; i < r->loop->replicas; i++)
        if (a->vote[i].here)
            here[n++] = a->vote[i];
    missing = r->loop->replicas - n;
    if (!n || missing > r->loop->replicas / 2)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < n; k++)
            count[i] += digest_equal(&here[i], &here[k]);
        most = count[i] > most ? count[i] : most;
    }
    for (uint32_t i = 0; i < n; i++)
        if (count[i] < most && count[i] > next)
            next = count[i];
    winners = digests_with(here, count, n, most, winner);
    if (!missing)
        return true;
    if (winners > 1 || most < next + missing)
        return false;
    if (most > next + missing)
        return true;
    if (!next)
        return winner->base == (int64_t)a->round - 1 && winner->set == r->all;
    digests_with(here, count, n, next, &second);
    return digest_less(&second, winner);
}

static void end_round(struct replica *r, const struct agreement_vote *agreed)
{
    struct agreement *a = &r->agreement;

    a->phase = AGREE_IDLE;
    a->ends = SIM_NEVER;
    if (!agreed || agreed->base != a->base || agreed->set & ~a->got) {
        a->failed++;
        return;
    }
    a->agreed++;
    a->base = (int64_t)a->round;
    replica_add_job(r, a->round, a->taken, compute_time(&r->compute, a->round));
}

static void begin_vote(struct replica *r, sim_time now)
{
    struct agreement *a = &r->agreement;
    struct agreement_vote winner;

    memset(a->vote, 0, sizeof a->vote);
    a->vote[r->index] = (struct agreement_vote){true, a->base, a->got};
    replica_send_all(r, CONTROL_VOTE, a->round, a->taken, a->got, a->base);
    a->phase = AGREE_VOTE;
    a->ends = now + r->loop->params->agreement.vote;
    if (decided(r, &winner))
        end_round(r, &winner);
}

/* ---- messages -------------------------------------------------------------------------------- */

static bool phase_wants(const struct agreement *a, enum control_kind kind)
{
    switch (kind) {
    case CONTROL_QUERY:
    case CONTROL_OFFER:
        return a->phase == AGREE_COLLECT || a->phase == AGREE_VOTE;
    case CONTROL_ANSWER:
    case CONTROL_STATE:
        return a->phase == AGREE_COLLECT;
    case CONTROL_VOTE:
        return a->phase == AGREE_VOTE;
    default:
        return false;
    }
}

static void take_vote(struct replica *r, const struct control_message *m)
{
    struct agreement *a = &r->agreement;
    struct agreement_vote winner;

    if (m->round != a->round || a->vote[m->replica].here)
        return;
    a->vote[m->replica] = (struct agreement_vote){true, m->base, m->set};
    if (decided(r, &winner))
        end_round(r, &winner);
}

static void heed(struct replica *r, const struct control_message *m)
{
    struct agreement *a = &r->agreement;

    if (m->kind == CONTROL_QUERY && m->round == a->round)
        replica_send_all(r, CONTROL_ANSWER, a->round, a->taken, m->set & a->got, 0);
    else if (m->kind == CONTROL_ANSWER && m->round == a->round)
        a->got |= m->set;
    else if (m->kind == CONTROL_OFFER && m->base < a->base)
        replica_send_all(r, CONTROL_STATE, a->round, a->taken, 0, a->base);
    else if (m->kind == CONTROL_STATE && m->base > a->base)
        a->base = m->base;
    else if (m->kind == CONTROL_VOTE)
        take_vote(r, m);
}

/* Heed the first waiting message that the phase wants. False: there is none. */
static bool heed_one(struct replica *r, sim_time now)
{
    struct agreement *a = &r->agreement;
    struct control_message m;
    uint32_t i = 0;

    while (i < a->waiting && !phase_wants(a, a->inbox[i].kind))
        i++;
    if (i == a->waiting)
        return false;
    m = a->inbox[i];
    a->waiting--;
    memmove(&a->inbox[i], &a->inbox[i + 1], (a->waiting - i) * sizeof m);
    heed(r, &m);
    if (a->phase == AGREE_COLLECT && up_to_date(r))
        begin_vote(r, now);
    return true;
}

static void take_measurement(struct replica *r, const struct control_message *m)
{
    struct agreement *a = &r->agreement;

    if (a->round == UINT64_MAX || m->round > a->round) {
        a->round = m->round;
        a->taken = m->taken;
        a->got = 0;
        a->phase = AGREE_RECEIVE;
        a->ends = m->taken + r->loop->params->agreement.receive;
    }
    if (m->round == a->round)
        a->got |= UINT64_C(1) << m->sensor;
}

void agreement_message(struct replica *r, const struct control_message *m, sim_time now)
{
    struct agreement *a = &r->agreement;

    (void)now;
    if (m->kind == CONTROL_MEASUREMENT) {
        take_measurement(r, m);
        return;
    }
    if (a->waiting == AGREE_INBOX) { /* the oldest are stale */
        a->waiting--;
        memmove(&a->inbox[0], &a->inbox[1], a->waiting * sizeof a->inbox[0]);
        r->counts->dropped++;
    }
    a->inbox[a->waiting++] = *m;
}

/* ---- phases ---------------------------------------------------------------------------------- */

static void begin_collecting(struct replica *r, sim_time now)
{
    struct agreement *a = &r->agreement;

    if (compute_fails(&r->compute, a->round)) {
        r->counts->faulty++;
        a->phase = AGREE_IDLE;
        a->ends = SIM_NEVER;
        return;
    }
    if (a->got != r->all)
        replica_send_all(r, CONTROL_QUERY, a->round, a->taken, r->all & ~a->got, 0);
    replica_send_all(r, CONTROL_OFFER, a->round, a->taken, 0, a->base);
    a->phase = AGREE_COLLECT;
    a->ends = now + r->loop->params->agreement.collect;
    if (up_to_date(r))
        begin_vote(r, now);
}

sim_time agreement_next(struct replica *r, sim_time now)
{
    struct agreement *a = &r->agreement;

    for (;;) {
        if (heed_one(r, now))
            continue;
        if (now < a->ends)
            return a->ends;
        if (a->phase == AGREE_RECEIVE)
            begin_collecting(r, now);
        else if (a->phase == AGREE_COLLECT)
            begin_vote(r, now);
        else
            end_round(r, NULL);
    }
}
