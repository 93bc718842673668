/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Captures of real Xen runs: NAME.json says what ran, and beside it are what was recorded of it:
 *
 *     NAME.xentrace[.gz]   Xen's own trace
 *     NAME.rtt             round trips measured by the client: "number microseconds", -1 = lost
 *     NAME.csv[.gz]        a request log "seq,send_us,rtt_us,send_tsc", or a log of rounds
 *                          "round,send_us,send_tsc,d1_us[,d2_us...]"
 *
 * (docs/validation-xen.md describes NAME.json.) Roles are read by what they are made of, so that
 * combinations that nobody recorded yet are understood too: a role's words say which of these run
 * in the guest: a hog, a waker (sleeps, computes), an echo server, a lookbusy; "mixed" adds a hog
 * of Linux's SCHED_IDLE class. What is not understood is an error that names the place.
 */
#ifndef HVSIM_VALIDATE_CAPTURE_H
#define HVSIM_VALIDATE_CAPTURE_H

#include "models/hypervisor/cpumask.h"
#include "sim/error.h"
#include "sim/json.h"
#include "sim/time.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum capture_program {
    CAPTURE_HOG = 1,
    CAPTURE_WAKER = 2,
    CAPTURE_ECHO = 4,
    CAPTURE_LOOKBUSY = 8,
    CAPTURE_IDLE_HOG = 16, /* of the SCHED_IDLE class: the vCPU never blocks */
    CAPTURE_REPLICA = 32,  /* an echo server that is asked in rounds */
};

struct capture_guest {
    uint32_t domain;
    char *name, *role;
    unsigned programs; /* enum capture_program, ored */
    uint32_t vcpus, weight, cap;
    cpumask pinned; /* hard affinity; all: not pinned */
    sim_time waker_sleep, waker_burst;
    uint32_t waker_reports; /* after so many cycles each; 0: it does not measure and report */
    sim_time compute;       /* of the echo server, for each request */
    sim_time lookbusy_burst, lookbusy_sleep;
    uint64_t lookbusy_seed;            /* of the random sleep of less than a cycle at the start */
    sim_time rtds_period, rtds_budget; /* 0: the scheduler's own */
    bool rtds_extratime;
};

enum capture_placement {
    PLACED_POOL,   /* guests in a cpupool of their own */
    PLACED_PINNED, /* in dom0's pool, pinned */
    PLACED_SHARED, /* in dom0's pool, anywhere in guest_cpus */
};

enum capture_loop {
    CLIENT_NONE,
    CLIENT_INTERVAL, /* closed: every `period`, or at once when late */
    CLIENT_CLOSED,   /* exponential think time of mean 1/rate after each reply */
    CLIENT_OPEN,     /* Poisson sends at `rate` */
    CLIENT_ROUNDS,   /* every `period` to all replicas, in the order of guests */
};

struct capture_client {
    enum capture_loop loop;
    bool in_dom0;
    sim_time period;
    double rate;
    uint64_t seed;
    uint64_t requests; /* or rounds; 0: not said */
    uint32_t bytes;    /* of a request and a reply, payload */
    bool rotate;       /* rounds: the first to be sent to changes every round */
};

struct capture {
    char *name;    /* path without .json, as given */
    char *capture; /* as the file calls itself */
    char *xen;
    char *scheduler, *dom0_scheduler; /* of the guests' pool, of dom0's */
    sim_time ratelimit;               /* -1: not said */
    sim_time tslice;                  /* likewise */
    uint64_t tsc_hz;
    uint32_t pcpus;
    uint32_t dom0_vcpus;
    cpumask dom0_cpus;
    enum capture_placement placement;
    cpumask guest_cpus;
    sim_time duration; /* 0: as long as the client takes */
    struct capture_guest *guest;
    size_t guests;
    struct capture_client client;
    double compute_percent; /* of the nominal time that a guest's computation takes */
    char *emulator;         /* what recorded it; NULL: not said */
    char *trace, *log;      /* files that are there; NULL: none */
};

enum { CAPTURE_REPLICAS = 8 }; /* at most */

/* One request or round of a log; times in ns. */
struct capture_row {
    sim_time send;                    /* from the client's start; -1: not in the log */
    uint64_t tsc;                     /* the same on the trace's clock; 0: not in the log */
    sim_time delay[CAPTURE_REPLICAS]; /* by replica; a request has one; -1: lost */
};

struct capture_log {
    struct capture_row *row;
    size_t rows;
    unsigned delays; /* per row */
    bool rounds;
};

/* NULL with errors. */
struct capture *capture_read(const char *json_path, struct errors *e);
struct capture *capture_read_doc(const struct json *doc, const char *json_path, struct errors *e);
void capture_free(struct capture *c);

/* 0, or -1 with errors; for captures with c->log. */
int capture_read_log(const struct capture *c, struct capture_log *log, struct errors *e);
void capture_free_log(struct capture_log *log);

/* What a nominal time of computing takes there; above 0 unless that is 0. */
sim_time capture_burst(const struct capture *c, sim_time nominal);

/* Does any guest have all of these programs? */
bool capture_has(const struct capture *c, unsigned programs);

/* Was the emulator made to take short turns, by a timer of 1024 Hz? If the capture does not say:
 * all captures but those of one guest pCPU and no client were recorded so. */
bool capture_interleaved(const struct capture *c);

/* The .json files of captures (with a trace or a log beside them) in a directory and all below it,
 * in the order of their names; NULL-terminated, freed by capture_free_list. NULL with an error. */
char **capture_list(const char *dir, struct errors *e);
void capture_free_list(char **list); /* or NULL */

#endif
