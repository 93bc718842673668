#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# make bench: how fast hvsim is, held against the budget of the design. Nothing is asserted: times
# depend on the machine and on what else it does, so what counts are the ratios, measured in one run.
# Each line is the best of three.
#
#   HVSIM=the program   BENCH=directory of the bench programs   QUICK=1: shorter
set -u
cd "$(dirname "$0")/../.." || exit 1
HVSIM=${HVSIM:-build/hvsim}
BENCH=${BENCH:-build/bench}
rounds=3
[ -z "${QUICK:-}" ] || rounds=1

# best REGEX COMMAND...: of several runs, the output line whose number before REGEX is largest
best() {
    pattern=$1
    shift
    i=0
    while [ $i -lt $rounds ]; do
        "$@" 2>/dev/null
        i=$((i + 1))
    done | awk -v p="$pattern" '
        match($0, "[0-9.]+ *" p) {
            n = substr($0, RSTART, RLENGTH) + 0
            if (n > most) { most = n; line = $0 }
        }
        END { print line != "" ? line : "no result" }'
}

number() { # the first number before a word in a line
    printf '%s\n' "$1" | sed -n "s/.*[^0-9.]\\([0-9][0-9.]*\\) *$2.*/\\1/p" | head -1
}

# milliseconds COMMAND...: of one run, the least of 20
milliseconds() {
    i=0
    while [ $i -lt 20 ]; do
        t=$(date +%s%N)
        "$@" >/dev/null 2>&1
        echo $((($(date +%s%N) - t) / 1000))
        i=$((i + 1))
    done | sort -n | awk 'NR == 1 { printf "%.1f", $1 / 1000 }'
}

echo "== the bare event queue"
best 'million' "$BENCH/heap"

echo
echo "== the scheduling core, 8 pCPUs, 32 vCPUs (budget: hogs 10 M events/s, wakers 3 M decisions/s)"
for s in credit credit2 rtds null terriertail rr vslicer; do
    best 'M events' "$BENCH/sched" hogs $s 8 4 200
    best 'M events' "$BENCH/sched" wakers $s 8 4 10
done

echo
echo "== the job of sched-sim: 5 VMs on 2 pCPUs (its own figure with its prints taken out: 9.4 to 11.7"
echo "   M events/s under its third draft of Credit2, without recording latencies)"
for s in credit2 credit; do
    best 'M events/s' "$BENCH/sched_sim" $s
done

echo
echo "== how the cost of a decision grows: ns per decision, 1 to 64 vCPUs for each pCPU"
BENCH=$BENCH QUICK=${QUICK:-} validation/bench/growth.sh

echo
echo "== against plain SimGrid actors (budget: 10 times)"
"$BENCH/twin" 8 4 10

echo
echo "== many machines under one driver"
for n in 1 2 16 1000; do "$BENCH/driver" $n 2>/dev/null | head -1; done

echo
echo "== start-up, ms (budget: 10 above an empty SimGrid program)"
platform=experiments/library/one-host.platform.xml
echo "empty SimGrid program: $(milliseconds "$BENCH/empty" $platform)"
echo "probe, load, fork, bind, run nothing: $(milliseconds "$BENCH/startup" $platform xen client)"
echo "hvsim help: $(milliseconds "$HVSIM" help)"

echo
echo "== requests through the whole virtual path (budget: 300,000 per second of one core)"
[ ! -x "$BENCH/net" ] || best 'requests/s' "$BENCH/net"

if [ -x validation/bench/xentrace.sh ] && command -v xenalyze >/dev/null 2>&1; then
    echo
    echo "== reading a xentrace, beside xenalyze --summary"
    HVSIM=$HVSIM BENCH=$BENCH validation/bench/xentrace.sh
fi

if [ -x validation/bench/traces.sh ] && [ -x "$BENCH/sched" ]; then
    echo
    echo "== writing traces (budget: xentrace 30 % of the RPC demo's time)"
    HVSIM=$HVSIM BENCH=$BENCH validation/bench/traces.sh
fi
