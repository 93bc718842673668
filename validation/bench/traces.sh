#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
#   HVSIM=build/hvsim BENCH=build/bench validation/bench/traces.sh
#
# What writing a trace costs: CPU time (with the kernel's for the file) of the RPC demo as it is (12
# VMs, 4 pCPUs, 48 replications, the first one traced); and in each format of one replication alone
# (600 s), and ns per observation on the scheduler bench. The best of three each (of seven for one
# replication with a xentrace and without). Budget: xentrace below 30 % of the time without.

set -u
export LC_ALL=C
HVSIM=${HVSIM:-build/hvsim}
BENCH=${BENCH:-build/bench}
demo=experiments/library/rpc-12vm.json
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# cpu TRIES [OPTION...]: CPU seconds of the demo, the least of so many tries
cpu() {
    local tries=$1 TIMEFORMAT='%3U %3S'
    shift
    for ((i = 0; i < tries; i++)); do
        rm -f "$tmp"/trace.*
        { time "$HVSIM" run -q "$demo" "$@" >/dev/null 2>&1; } 2>&1
    done | awk '{ t = $1 + $2 } NR == 1 || t < least { least = t } END { print least }'
}

# observation FILE: what the scheduler bench says of an observation in a trace, the least of three
observation() {
    for _ in 1 2 3; do
        "$BENCH/sched" wakers credit 8 4 5 "$1" | sed -n 's/.*, \([0-9.]*\) ns per observation.*/\1/p'
    done | sort -n | head -1
}

more() { # PLAIN TRACED: per cent
    awk -v a="$1" -v b="$2" 'BEGIN { printf "%.0f", 100 * (b - a) / a }'
}
plain=$(cpu 3)
traced=$(cpu 3 --trace "$tmp/trace.xentrace")
printf 'RPC demo: %s s of CPU time, with a xentrace %s s: %s %% more\n' "$plain" "$traced" \
    "$(more "$plain" "$traced")"
alone=(-j 1 --replications 1 --set '/duration="600s"')
plain=$(cpu 7 "${alone[@]}")
printf 'One replication of 600 s without a trace: %s s of CPU time\n' "$plain"
printf '%-16s %8s %8s %8s %20s\n' format "CPU s" "more %" "MB" "ns per observation"
for format in xentrace ftrace paje perfetto.json csv; do
    traced=$(cpu "$([ "$format" = xentrace ] && echo 7 || echo 3)" "${alone[@]}" --trace "$tmp/trace.$format")
    size=$(wc -c <"$tmp/trace.$format")
    rm "$tmp/trace.$format"
    printf '%-16s %8s %8s %8d %20s\n' "$format" "$traced" \
        "$(more "$plain" "$traced")" \
        $((size / 1000000)) "$(observation "$tmp/bench.$format")"
    rm "$tmp/bench.$format"
done
