/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workloads/tcp.h"

enum { ONE = 256, REPEATED_MAX = 3, BACKOFF_MAX = 9 };
#define CWND_MAX (UINT32_C(1) << 24)

void tcp_sender_init(struct tcp_sender *s, uint32_t first, uint32_t window, sim_time rto_min)
{
    *s = (struct tcp_sender){.window = window,
                             .cwnd = first * ONE,
                             .threshold = CWND_MAX,
                             .rto_min = rto_min,
                             .deadline = SIM_NEVER};
}

static uint64_t outstanding(const struct tcp_sender *s)
{
    return s->next - s->oldest;
}

bool tcp_may_send(const struct tcp_sender *s)
{
    uint64_t allowed = s->cwnd / ONE;

    if (s->resend < s->next)
        return true;
    return outstanding(s) < allowed && outstanding(s) < s->window;
}

static sim_time time_out(const struct tcp_sender *s)
{
    sim_time spread = 4 * s->rttvar > s->rto_min ? 4 * s->rttvar : s->rto_min;

    return (s->srtt + spread) << s->backoff;
}

static void restart(struct tcp_sender *s, sim_time now)
{
    s->deadline = outstanding(s) ? now + time_out(s) : SIM_NEVER;
}

uint64_t tcp_send(struct tcp_sender *s, sim_time now)
{
    uint64_t chunk;

    if (s->resend < s->next) {
        chunk = s->resend;
        s->resend = s->next; /* NewReno: one at a time */
        s->retransmits++;
        s->timing = false;
    } else {
        chunk = s->next++;
        s->resend = s->next;
        if (!s->timing) {
            s->timing = true;
            s->timed = chunk;
            s->timed_at = now;
        }
    }
    if (s->deadline == SIM_NEVER)
        restart(s, now);
    return chunk;
}

static void measure(struct tcp_sender *s, sim_time now)
{
    sim_time r = now - s->timed_at, error = r > s->srtt ? r - s->srtt : s->srtt - r;

    s->timing = false;
    if (!s->srtt) {
        s->srtt = r;
        s->rttvar = r / 2;
        return;
    }
    s->rttvar += (error - s->rttvar) / 4;
    s->srtt += (r - s->srtt) / 8;
}

static void halve(struct tcp_sender *s)
{
    uint64_t half = outstanding(s) * ONE / 2;

    s->threshold = half > 2 * ONE ? (uint32_t)half : 2 * ONE;
    s->recover = s->next;
}

static void grow(struct tcp_sender *s, uint64_t chunks)
{
    uint64_t cwnd = s->cwnd;

    if (cwnd < s->threshold)
        cwnd += chunks * ONE;
    else
        cwnd += chunks * ONE * ONE / cwnd;
    s->cwnd = cwnd < CWND_MAX ? (uint32_t)cwnd : CWND_MAX;
}

/* Something new is acknowledged. */
static void advance(struct tcp_sender *s, uint64_t next, sim_time now)
{
    uint64_t chunks = next - s->oldest;

    if (s->timing && s->timed < next)
        measure(s, now);
    s->oldest = next;
    if (s->resend < next)
        s->resend = s->next;
    s->repeated = s->backoff = 0;
    if (s->recovering && next < s->recover) {
        s->resend = next; /* a partial acknowledgement: the next one is missing too */
    } else if (s->recovering) {
        s->recovering = false;
        s->cwnd = s->threshold;
    } else {
        grow(s, chunks);
    }
    restart(s, now);
}

void tcp_acknowledged(struct tcp_sender *s, uint64_t next, uint32_t window, bool gap, sim_time now)
{
    s->window = window;
    if (next > s->oldest && next <= s->next) {
        advance(s, next, now);
        return;
    }
    if (next < s->oldest || !outstanding(s) || !gap)
        return;
    if (++s->repeated == REPEATED_MAX && !s->recovering) {
        halve(s);
        s->recovering = true;
        s->cwnd = s->threshold;
        s->resend = s->oldest;
    }
}

void tcp_timed_out(struct tcp_sender *s, sim_time now)
{
    s->timeouts++;
    halve(s);
    s->cwnd = ONE;
    s->recovering = outstanding(s) > 1;
    s->resend = s->oldest;
    s->repeated = 0;
    s->timing = false;
    if (s->backoff < BACKOFF_MAX)
        s->backoff++;
    restart(s, now);
}

/* ---- the receiver ---------------------------------------------------------------------------- */

static bool early(const struct tcp_receiver *r, uint64_t chunk)
{
    return r->early[chunk / 64 % (TCP_WINDOW_MAX / 64)] >> chunk % 64 & 1;
}

static void set_early(struct tcp_receiver *r, uint64_t chunk, bool is)
{
    uint64_t *word = &r->early[chunk / 64 % (TCP_WINDOW_MAX / 64)], bit = UINT64_C(1) << chunk % 64;

    *word = is ? *word | bit : *word & ~bit;
}

uint32_t tcp_received(struct tcp_receiver *r, uint64_t chunk, bool *again)
{
    uint32_t complete = 0;

    *again = chunk < r->next || chunk >= r->next + TCP_WINDOW_MAX || early(r, chunk);
    if (*again)
        return 0;
    set_early(r, chunk, true);
    while (early(r, r->next)) {
        set_early(r, r->next, false);
        r->next++;
        complete++;
    }
    return complete;
}
