#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# timeout: 600
#
# A sweep on a real Slurm: one node on loopback, of this script's own, in a directory of its own,
# without systemd. A running task is killed, the follower too; the tables must be those of a local
# run, to the last byte.

# shellcheck disable=SC2016 # what eval gets is for later
# shellcheck disable=SC2015 # failures of the middle are failures
true

set -u
export LC_ALL=C

. validation/checks.sh
skip() { echo "skip slurm: $1"; exit 0; }

PATH=$PATH:/usr/sbin:/sbin
for tool in slurmctld slurmd sbatch squeue scancel sinfo munged; do
    command -v $tool >/dev/null || skip "$tool is not installed (Debian: slurmctld slurmd slurm-client munge)"
done
[ "$(id -u)" = 0 ] || skip "starting Slurm's daemons needs root"

# ---- A cluster ------------------------------------------------------------------------------------

# Sockets have short names: not below a deep $TMP.
cluster=$(mktemp -d /tmp/hvsim-slurm.XXXXXX) || skip "no temporary directory"
daemons=()
# shellcheck disable=SC2317 # called by the trap
end() {
    scancel --user=root >/dev/null 2>&1
    for _ in {1..50}; do
        [ -z "$(squeue --noheader 2>/dev/null)" ] && break
        sleep 0.1
    done
    { kill "${daemons[@]}" && sleep 1 && kill -9 "${daemons[@]}"; } 2>/dev/null
    for pid in /proc/[0-9]*; do # what this cluster has left behind
        ! grep -qs "SLURM_CONF=$cluster" "$pid/environ" || [ "${pid#/proc/}" = $$ ] ||
            kill -9 "${pid#/proc/}" 2>/dev/null
    done
    wait 2>/dev/null
    rm -rf "$cluster"
}
trap end EXIT
trap 'exit 1' INT TERM

free_port() { # a port that nobody listens on
    local port
    for ((port = 20000 + RANDOM % 20000; ; port++)); do
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
    done
    echo "$port"
}

mkdir -m 755 "$cluster/munge" "$cluster/state" "$cluster/spool"
chmod 755 "$cluster"
head -c 1024 /dev/urandom >"$cluster/munge/key"
chmod 400 "$cluster/munge/key"
cat >"$cluster/slurm.conf" <<EOF
ClusterName=hvsim
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
AuthType=auth/munge
AuthInfo=socket=$cluster/munge/socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/slurmd.pid
SlurmctldLogFile=$cluster/slurmctld.log
SlurmdLogFile=$cluster/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=2,batch_sched_delay=0,sched_min_interval=100000
MailProg=/bin/true
ReturnToService=2
KillWait=5
NodeName=node NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=main Nodes=node Default=YES MaxTime=INFINITE State=UP
EOF
export SLURM_CONF=$cluster/slurm.conf

start() { # NAME COMMAND...: in the foreground of a process of ours
    local name=$1
    shift
    "$@" >"$cluster/$name.out" 2>&1 &
    daemons+=($!)
}
start munged munged --foreground --force --key-file="$cluster/munge/key" \
    --socket="$cluster/munge/socket" --pid-file="$cluster/munge/pid" \
    --log-file="$cluster/munge/log" --seed-file="$cluster/munge/seed" --num-threads=2
for _ in {1..50}; do [ -S "$cluster/munge/socket" ] && break || sleep 0.1; done
[ -S "$cluster/munge/socket" ] || skip "munged does not start: $(tail -n 1 "$cluster/munged.out")"
start slurmctld slurmctld -D -f "$SLURM_CONF"
start slurmd slurmd -D -N node -f "$SLURM_CONF"
for _ in {1..300}; do
    [[ $(sinfo --noheader --format=%T 2>/dev/null) == idle ]] && break
    sleep 0.1
done
[[ $(sinfo --noheader --format=%T 2>/dev/null) == idle ]] ||
    skip "the node does not come up: $(tail -n 1 "$cluster/slurmd.log") $(tail -n 1 "$cluster/slurmctld.log")"

# ---- A sweep --------------------------------------------------------------------------------------

cat >"$TMP/host.json" <<'EOF'
{ "version": 1, "warmup": "50ms", "duration": "10s", "drain": "50ms",
  "platform": "one-host-10g.platform.xml",
  "hosts": [ { "name": "xen", "pcpus": 2, "scheduler": "credit", "dom0": {},
      "domains": [ { "name": "web", "network": {}, "programs": [ { "run": "rpc" } ] },
                   { "name": "hog", "count": 2, "programs": [ { "run": "hog" } ] } ] } ],
  "clients": [ { "name": "web", "on": "client", "to": "web", "load": { "loop": "open",
      "connections": 16, "arrivals": "poisson(1000/s)", "demand": "exponential(100us)" } } ] }
EOF
cat >"$TMP/sweep.json" <<'EOF'
{ "version": 1, "scenario": "host.json", "metrics": ["latency_*", "throughput"],
  "stop": { "metric": "latency_p90", "relative": "10%", "least": 10, "most": 30 },
  "axes": [ { "name": "slice", "at": "/hosts/0/scheduler/tslice", "values": ["1ms", "5ms", "30ms"] },
            { "name": "hogs", "at": "/hosts/0/domains/1/count", "values": [1, 2, 3, 4] } ] }
EOF
tables() { (cd "$1" && cat points.csv results.csv replications.csv sweep.sqlite | cksum); }
same_tables() { # DIR
    local a b
    a=$(tables "$TMP/local") && b=$(tables "$1") && [ "$a" = "$b" ] || { echo "$1 differs"; return 1; }
}
slurm() { # DIR ARGUMENT...
    "$HVSIM" sweep run "$TMP/sweep.json" --engine slurm --quiet --poll 200ms --jobs 1 --out "$@"
}
slurm_behind() { # the same, to be called with &: $! is hvsim itself
    exec "$HVSIM" sweep run "$TMP/sweep.json" --engine slurm --quiet --poll 200ms --jobs 1 --out "$@"
}
check "slurm: local run" eval '"$HVSIM" sweep run "$TMP/sweep.json" --quiet --out "$TMP/local" && "$HVSIM" sweep gather "$TMP/local"'

check "slurm: sweep" slurm "$TMP/plain" --partition main --tasks 4 --array-limit 2
check "slurm: the same bytes" same_tables "$TMP/plain"
check "slurm: done already" eval 'slurm "$TMP/plain" --tasks 4 >"$TMP/out" && grep -q "^12 of 12 points done (12 before)" "$TMP/out"'

# A task that runs: the hvsim of a share, found by its directory; not a worker that it has forked.
# Quickly, while it has work left.
running_task() { # DIR
    local files file key value
    files=$(grep -lzxF -e "$1" /proc/[0-9]*/cmdline 2>/dev/null | xargs -r grep -lzxF -e --shard 2>/dev/null)
    for file in $files; do
        while read -r key value; do
            [ "$key" != PPid: ] || break
        done 2>/dev/null <"${file%cmdline}status"
        if [ "$key" = PPid: ] && ! grep -qxF "/proc/$value/cmdline" <<<"$files"; then
            file=${file#/proc/}
            echo "${file%/cmdline}"
            return
        fi
    done
    return 1
}
wait_for_lines() { # DIR N PID
    while [ "$(cat "$1"/results-*.lines 2>/dev/null | wc -l)" -lt "$2" ] && kill -0 "$3" 2>/dev/null; do
        sleep 0.05
    done
}
jobs_submitted() { # DIR: how many, by the logs of their tasks, JOB_TASK.log
    find "$1/slurm" -name '*.log' -printf '%f\n' | cut -d_ -f1 | sort -u | wc -l
}
task_killed() {
    local pid task
    slurm_behind "$TMP/killed" --tasks 4 >"$TMP/out" 2>&1 &
    pid=$!
    wait_for_lines "$TMP/killed" 4 $pid
    task=$(running_task "$TMP/killed") || { kill $pid; echo "no task is running"; return 1; }
    kill -9 "$task" || { wait $pid; echo "the task was over before it could be killed"; return 1; }
    wait $pid || { head -n 3 "$TMP/out"; return 1; }
    [ "$(jobs_submitted "$TMP/killed")" -ge 2 ] || { echo "nothing was submitted again"; return 1; }
}
check "slurm: a task is killed" task_killed
check "slurm: a task is killed, the same bytes" same_tables "$TMP/killed"

task_requeued() {
    local pid job
    slurm_behind "$TMP/requeued" --tasks 4 >"$TMP/out" 2>&1 &
    pid=$!
    wait_for_lines "$TMP/requeued" 12 $pid
    job=$(squeue --noheader --array --states=RUNNING --format=%A | head -n 1)
    scontrol requeue "$job" || { kill $pid; echo "not requeued"; return 1; }
    # Slurm holds what was requeued back for a while; we do not want to wait for it.
    for _ in {1..100}; do
        scontrol update JobId="$job" StartTime=now 2>/dev/null
        scontrol release "$job" 2>/dev/null
        kill -0 $pid 2>/dev/null || break
        sleep 0.5
        [ -n "$(squeue --noheader --array --states=PENDING --format=%A)" ] || break
    done
    wait $pid || { head -n 3 "$TMP/out"; return 1; }
}
check "slurm: a task is preempted" task_requeued
check "slurm: a task is preempted, the same bytes" same_tables "$TMP/requeued"

follower_killed() {
    local pid jobs
    slurm_behind "$TMP/follower" --tasks 4 --array-limit 1 >"$TMP/out" 2>&1 &
    pid=$!
    wait_for_lines "$TMP/follower" 5 $pid
    kill -9 $pid
    wait $pid 2>/dev/null
    slurm "$TMP/follower" --tasks 4 --array-limit 1 >"$TMP/out" 2>&1 || { head -n 3 "$TMP/out"; return 1; }
    jobs=$(jobs_submitted "$TMP/follower")
    [ "$jobs" = 1 ] || { echo "$jobs jobs instead of the one that was there"; return 1; }
}
check "slurm: the follower is killed" follower_killed
check "slurm: the follower is killed, the same bytes" same_tables "$TMP/follower"

check "slurm: unknown partition" eval '! slurm "$TMP/none" --partition nowhere 2>"$TMP/err" && grep -q "sbatch refuses the job: .*partition" "$TMP/err"'
