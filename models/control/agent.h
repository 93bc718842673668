/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The process agent: sensors, masker, actuator and plant of a control loop.
 *
 * Sensors. Round k begins at the loop's start + k periods, or, if the agent is a program, as soon
 * after that as it runs. Each sensor takes its measurement (unless it fails to) after its jitter
 * and sends it to all replicas, in their order or beginning with the next one each round, once on
 * each path.
 *
 * Masker. A setpoint is valid if it comes within the horizon after the round began. The first
 * `votes` replicas' valid setpoints of a round let one pass to the actuator; copies, setpoints of
 * rounds before the last one implemented and, if asked for, setpoints that the latest measurement
 * did not cause are dropped. (The replicas are deterministic: their setpoints of a round are equal,
 * so voting guards against lost and late ones only.)
 *
 * Detector (after Axo): a replica without a valid setpoint in so many rounds in a row is restarted,
 * and then left alone for as long as that takes.
 */
#ifndef HVSIM_CONTROL_AGENT_H
#define HVSIM_CONTROL_AGENT_H

#include "models/control/loop.h"
#include "models/control/plant.h"
#include "models/guest/guest.h"

struct socket;
struct stack;
struct late_watch;

/* What became of every round; -1: nothing. Dates relative to `sent`, ns. */
struct control_record {
    uint32_t replicas;
    size_t rounds;      /* begun */
    size_t first, end;  /* those measured: first <= k < end */
    sim_time *sent;     /* when the round began */
    sim_time *delay;    /* [round * replicas + replica]: its setpoint came in */
    sim_time *accepted; /* the masker let one pass */
    uint8_t *by;        /* ... the replica's that decided it */
    size_t capacity;
};

struct agent {
    const struct control_loop *loop;
    struct machine *machine;
    struct control_record record;
    struct plant plant;
    double *setpoint;     /* by round: what its measurement causes */
    uint32_t *votes;      /* by round: replicas whose valid setpoint has come */
    size_t implemented;   /* rounds up to this one are over for the actuator */
    sim_time last_change; /* date at which it was implemented */
    uint32_t missed[CONTROL_REPLICAS];
    size_t lenient[CONTROL_REPLICAS]; /* the detector does not count rounds before this one */
    uint64_t restarts;
    uint8_t *issued; /* NULL, or the caller's: by round, did a replica issue a setpoint? */
    bool restart[CONTROL_REPLICAS]; /* to be sent */
    struct rng *jitter, *loss;      /* by sensor */
    struct rng path_out, path_in;
    double cost, seconds; /* measured, once closed */
    uint64_t falls;
    double cost_before;
    uint64_t falls_before;
    bool measuring, closed;
    sim_time from, until;
    struct agent_machine *on_machine; /* at most one of these two */
    struct agent_thread *in_guest;
    struct late_watch *watch; /* NULL: nobody is told of rounds under way */
};

/* loop and plant are kept by reference, `end` is the run's. Rounds that begin in [from, until) are
 * measured. */
void agent_init(struct agent *a, const struct control_loop *loop, const struct plant_params *plant,
                sim_time from, sim_time until, sim_time end);
void agent_free(struct agent *a);

/* The run is over. */
void agent_close(struct agent *a, sim_time now);

/* ---- for those that host it ------------------------------------------------------------------ */

/* Round record.rounds begins now. */
void agent_begin(struct agent *a, sim_time now);

/* Rounds that are due before now begin, without measurements: it was not there to take them. */
void agent_skip(struct agent *a, sim_time now);

/* A message has come in. */
void agent_message(struct agent *a, const struct control_message *m, sim_time now);

/* The replica that is sent to as the i-th in a round. */
uint32_t agent_order(const struct agent *a, size_t round, uint32_t i);

/* ---- on a machine of its own ----------------------------------------------------------------- */

/* Becomes m->model, and begins with round 0. m's ops must be agent_machine_ops. */
void agent_on_machine(struct agent *a, struct machine *m);
extern const struct machine_ops agent_machine_ops;

/* ---- as a program ---------------------------------------------------------------------------- */

/* A thread on that vCPU, with a socket of the stack on a port. Sensors have no jitter then, and
 * paths no delay. */
void agent_in_guest(struct agent *a, struct guest_vcpu *gv, struct stack *stack, uint16_t port);

#endif
