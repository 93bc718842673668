/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workloads/request.h"

#include "models/net/packet.h"
#include "sim/distribution_params.h"

#include <string.h>

/* memcached's text protocol without key and value: "get KEY", "VALUE KEY FLAGS BYTES ... END", "set
 * KEY FLAGS TIME BYTES", "STORED", with their line ends. */
enum { GET_TEXT = 6, VALUE_TEXT = 24, SET_TEXT = 15, STORED_TEXT = 8 };

void request_streams_init(struct request_streams *s, uint64_t seed, uint64_t replication,
                          const char *entity)
{
    rng_init(&s->think, seed, replication, entity, "think time");
    rng_init(&s->slack, seed, replication, entity, "timer slack");
    rng_init(&s->demand, seed, replication, entity, "demand");
    rng_init(&s->request, seed, replication, entity, "request size");
    rng_init(&s->reply, seed, replication, entity, "reply size");
    rng_init(&s->send, seed, replication, entity, "send delay");
    rng_init(&s->receive, seed, replication, entity, "receive delay");
    rng_init(&s->phantom, seed, replication, entity, "phantom think time");
}

static uint32_t draw_bytes(const struct distribution *d, struct rng *r, uint32_t least)
{
    double x = dist_draw(d, r);

    if (!(x > least))
        return least;
    return x < PACKET_BYTES_MAX ? (uint32_t)(x + 0.5) : PACKET_BYTES_MAX;
}

enum { VALUE_MAX = 1 << 20 }; /* memcached's default limit of an item */

static void bear_memcached(struct request_leg *leg, const struct memcached_mix *m,
                           struct request_streams *s)
{
    bool set = rng_bernoulli(&s->demand, percent_fraction(m->sets));
    uint32_t key = draw_bytes(&m->key, &s->request, 1);
    uint32_t value = draw_bytes(&m->value, &s->reply, 0);

    if (key > 250) /* memcached's limit */
        key = 250;
    if (value > VALUE_MAX)
        value = VALUE_MAX;
    leg->demand = (set ? m->set : m->get) + m->kibibyte * value / 1024;
    leg->bytes = packet_framed(set ? SET_TEXT + key + value : GET_TEXT + key);
    leg->reply = packet_framed(set ? STORED_TEXT : VALUE_TEXT + key + value);
}

static void bear_leg(struct request_leg *leg, const struct request_params *p,
                     struct request_streams *s)
{
    if (p->memcached) {
        bear_memcached(leg, p->memcached, s);
        return;
    }
    leg->demand = dist_draw_time(&p->demand, &s->demand);
    leg->bytes = draw_bytes(&p->request, &s->request, 1);
    leg->reply = draw_bytes(&p->reply, &s->reply, 1);
}

void request_bear(struct request *q, const struct request_params *p, struct request_streams *s,
                  uint32_t legs)
{
    for (uint32_t i = 0; i < legs; i++)
        bear_leg(&q->leg[i], p, s);
    q->send_delay = dist_draw_time(&p->send, &s->send);
    q->receive_delay = dist_draw_time(&p->receive, &s->receive);
}

void request_copy(struct request *to, const struct request *from, uint32_t legs)
{
    struct request_leg *leg = to->leg;

    *to = *from;
    to->leg = leg;
    memcpy(leg, from->leg, legs * sizeof *leg);
}

static const struct param memcached_rows[] = {
    {PARAM("sets", PERCENT, struct memcached_mix, sets), .def = "3.2258064%", .max = "100%",
     .meaning = "Part of the requests that are SETs; the others are GETs.",
     .source = "Atikoglu et al., SIGMETRICS 2012: 30 GETs to a SET", .status = STATUS_CITED},
    {PARAM("key", CUSTOM, struct memcached_mix, key), .type = &dist_size_type,
     .def = "facebook-etc-key-size", .meaning = "Length of keys.",
     .source = "mutilate's model of Facebook's ETC pool", .status = STATUS_CITED},
    {PARAM("value", CUSTOM, struct memcached_mix, value), .type = &dist_size_type,
     .def = "facebook-etc-value-size", .meaning = "Length of values.",
     .source = "mutilate's model of Facebook's ETC pool", .status = STATUS_CITED},
    {PARAM("get", DURATION, struct memcached_mix, get), .def = "2us", .max = "1s",
     .meaning = "CPU time of the server's program for a GET.",
     .source = "2 to 3 us, as cited by the authors of Chronos", .status = STATUS_CITED},
    {PARAM("set", DURATION, struct memcached_mix, set), .def = "3us", .max = "1s",
     .meaning = "CPU time of the server's program for a SET.",
     .source = "2 to 3 us, as cited by the authors of Chronos", .status = STATUS_CITED},
    {PARAM("kibibyte", DURATION, struct memcached_mix, kibibyte), .def = "0.1us", .max = "1ms",
     .meaning = "More for each KiB of the value.", .status = STATUS_ASSUMED},
};

const struct param_table memcached_mix_table =
    PARAM_TABLE("memcached", struct memcached_mix, memcached_rows,
                .meaning = "Requests as those of memcached's clients: GETs and SETs of items.");
