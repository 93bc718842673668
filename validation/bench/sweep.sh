#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# How sweeps scale: planning, running, gathering and showing 100, 1,000 and 10,000 points of an RPC
# scenario of 1 simulated second each, as CPU time per point (which other work on the machine
# disturbs less than wall time); the share of the workers' time that goes into simulation, for
# points of about 50 ms; wall time and memory of gathering.
#
#   HVSIM=the program   QUICK=1: without 10,000 points
set -u
export LC_ALL=C
cd "$(dirname "$0")/../.." || exit 1
HVSIM=${HVSIM:-build/hvsim}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
sizes="100 1000 10000"
[ -z "${QUICK:-}" ] || sizes="100 1000"

cat >"$dir/rpc.json" <<'EOF'
{ "version": 1, "warmup": "100ms", "duration": "1s", "drain": "100ms",
  "platform": "one-host-10g.platform.xml",
  "hosts": [ { "name": "xen", "pcpus": 4, "scheduler": "credit", "dom0": {},
      "domains": [ { "name": "web", "network": {}, "programs": [ { "run": "rpc" } ] },
                   { "name": "hog", "count": 4, "programs": [ { "run": "hog" } ] } ] } ],
  "clients": [ { "name": "clients", "on": "client", "to": "web", "load": { "loop": "open",
      "connections": 64, "arrivals": "poisson(2000/s)", "demand": "exponential(100us)" } } ] }
EOF
sweep() { # POINTS DURATION: 10 slices x 10 ratelimits x loads, which are 2000/s on average
    local from=1000/s
    [ "$1" -gt 100 ] || from=2000/s
    cat <<EOF
{ "version": 1, "scenario": "rpc.json", "set": ["/duration=$2"], "replications": 1,
  "metrics": ["clients:*"],
  "axes": [ { "name": "load", "at": "/clients/0/load/arrivals", "form": "poisson({})",
              "from": "$from", "to": "3000/s", "count": $(($1 / 100)) },
            { "name": "slice", "at": "/hosts/0/scheduler/tslice", "from": "1ms", "to": "10ms", "count": 10 },
            { "name": "ratelimit", "at": "/hosts/0/scheduler/ratelimit", "from": "100us", "to": "1ms", "count": 10 } ] }
EOF
}

# measure COMMAND...: sets wall (s) and memory (MB, looked at every 10 ms)
measure() {
    local hwm=0 now start=$EPOCHREALTIME
    "$@" >"$dir/out" 2>&1 &
    local pid=$!
    while kill -0 $pid 2>/dev/null; do
        now=$(awk '/^VmHWM/ { print $2 }' /proc/$pid/status 2>/dev/null)
        [ "${now:-0}" -le "$hwm" ] || hwm=$now
        sleep 0.01
    done
    wait $pid || { cat "$dir/out" >&2; exit 1; }
    wall=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.2f", b - a }')
    memory=$((hwm / 1024))
}
# CPU time of a command, all its processes: by bash's own clock, without the watching above.
cpu_of() {
    local TIMEFORMAT='%U %S'
    { time "$@" >"$dir/out" 2>&1; } 2>"$dir/time" || { cat "$dir/out" >&2; exit 1; }
    awk '{ printf "%.3f", $1 + $2 }' "$dir/time"
}

printf '%8s %10s %10s %10s %10s   (CPU ms per point)\n' points plan run gather show
for n in $sizes; do
    sweep "$n" 1s >"$dir/$n.json"
    plan=$(cpu_of "$HVSIM" sweep plan --no-trial "$dir/$n.json")
    run=$(cpu_of "$HVSIM" sweep run "$dir/$n.json" --out "$dir/$n" --quiet)
    gather=$(cpu_of "$HVSIM" sweep gather "$dir/$n")
    show=$(cpu_of "$HVSIM" sweep show "$dir/$n" --rows slice --cols ratelimit --metric latency_p99 \
        --where "load=$([ "$n" -gt 100 ] && echo 1000/s || echo 2000/s)" --plot none)
    awk -v n="$n" -v p="$plan" -v r="$run" -v g="$gather" -v s="$show" 'BEGIN {
        printf "%8d %10.3f %10.2f %10.3f %10.3f\n", n, p * 1e3 / n, r * 1e3 / n, g * 1e3 / n, s * 1e3 / n }'
done
measure "$HVSIM" sweep gather "$dir/$n"
echo "gather of $n points: $wall s of wall time, $memory MB at most"
sweep 200 17s >"$dir/long.json"
"$HVSIM" sweep run "$dir/long.json" --out "$dir/long" --quiet | sed -n 's/.*; \(200 replications.*\)/points of about 50 ms: \1/p'
awk '{ s += $4; n += $1 == "R" } END { printf "(%.0f ms of CPU time each)\n", s / n / 1000 }' "$dir/long/results.lines"
