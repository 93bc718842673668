#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# How the cost of a decision grows: 1 to 128 pCPUs, 1 to 64 vCPUs for each, every scheduler; wakers
# (200 us of work, 300 us of sleep), so that from 4 vCPUs per pCPU on most of them queue. A table, a
# CSV and a picture in out/bench/, and a judgement: a decision may have to look at every vCPU that
# waits (some schedulers have one queue for all pCPUs) and at every pCPU, so from one host to one four
# times as large its cost may grow as much as their number, but not more. Half is allowed on top, and
# hosts below 512 vCPUs are left out: there caches make the small ones look better than they are.
# Nothing is asserted.
#
#   BENCH=directory of the bench programs   QUICK=1: shorter
set -u
cd "$(dirname "$0")/../.." || exit 1
BENCH=${BENCH:-build/bench}
out=out/bench
work=400 # vCPU-seconds for each point
[ -z "${QUICK:-}" ] || work=60
mkdir -p $out

# cost SCHEDULER PCPUS VCPUS_PER_PCPU: ns per decision, the least of two; vCPUs that wait
cost() {
    seconds=$(awk -v n=$(($2 * $3)) -v work=$work '
        BEGIN { t = work / n; if (t > 10) t = 10; if (t < .1) t = .1; print t }')
    for _ in 1 2; do
        "$BENCH/sched" wakers "$1" "$2" "$3" "$seconds" 2>/dev/null
    done | sed -n 's/.* \([0-9][0-9]*\) ns per decision.* \([0-9.]*\) waiting.*/\1 \2/p' | sort -n | head -1
}

echo "scheduler,pcpus,vcpus_per_pcpu,ns_per_decision,waiting_vcpus" >$out/growth.csv.new
printf '%-12s %6s' scheduler pCPUs
for per in 1 4 16 64; do printf ' %8s' "x$per"; done
echo
for s in credit credit2 rtds null terriertail rr vslicer; do
    for pcpus in 1 8 32 128; do
        printf '%-12s %6s' $s $pcpus
        for per in 1 4 16 64; do
            point=$(cost $s $pcpus $per)
            printf ' %8s' "${point% *}"
            echo "$s,$pcpus,$per,${point% *},${point#* }" >>$out/growth.csv.new
        done
        echo
    done
done
mv $out/growth.csv.new $out/growth.csv

echo
awk -F, '
    NR == 1 || $4 == "" { next }
    { ns[$1, $2, $3] = $4; items[$1, $2, $3] = $5 + $2; if (!seen[$1]++) order[++n] = $1 }
    # from p pCPUs with v vCPUs for each to P with V
    function step(s, p, v, P, V,    cost, scan) {
        if (p * v < 512 || !((s, p, v) in ns) || !((s, P, V) in ns)) return
        cost = ns[s, P, V] / ns[s, p, v]
        scan = items[s, P, V] / items[s, p, v]
        if (scan < 1) scan = 1
        if (cost / scan > most) {
            most = cost / scan
            where = sprintf("%dx%d to %dx%d: cost %.1f times, vCPUs that wait and pCPUs %.1f times",
                            p, v, P, V, cost, scan)
        }
    }
    END {
        for (i = 1; i <= n; i++) {
            s = order[i]
            most = 0
            for (p = 8; p <= 128; p *= 4)
                for (v = 4; v <= 16; v *= 4) {
                    step(s, p, v, p, 4 * v)
                    step(s, p, v, 4 * p, v)
                }
            step(s, 8, 64, 32, 64)
            step(s, 32, 64, 128, 64)
            printf "%-12s %s: %s\n", s, most <= 1.5 ? "ok" : "GROWS TOO FAST", where
        }
    }' $out/growth.csv

command -v gnuplot >/dev/null 2>&1 || { echo "gnuplot is missing: no picture"; exit 0; }
picture() { # TERMINAL FILE
    gnuplot <<END
set terminal $1
set output "$out/$2"
set datafile separator ","
set logscale xy
set key outside right top spacing 1.1
set grid
set xlabel "vCPUs on the host"
set ylabel "ns per decision"
set title "Cost of a decision, 1 to 128 pCPUs and 1 to 64 vCPUs for each"
set xrange [0.8:12000]
set multiplot layout 2,4 title "Cost of a decision against the number of vCPUs (lines: 1, 8, 32, 128 pCPUs)"
unset title
do for [s in "credit credit2 rtds null terriertail rr vslicer"] {
    set title s
    set nokey
    set format y "%g"
    plot for [p in "1 8 32 128"] "< grep '^".s.",".p.",' $out/growth.csv" using (\$2*\$3):4 with linespoints pointtype 7 pointsize 0.5 linewidth 1.5
}
unset multiplot
END
}
picture 'svg size 1200,640 dynamic background rgb "white"' growth.svg.new && mv $out/growth.svg.new $out/growth.svg
picture 'pngcairo size 1200,640' growth.png.new && mv $out/growth.png.new $out/growth.png
echo "Table and picture: $out/growth.csv, $out/growth.svg, $out/growth.png"
