#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# make demo-map: what the published experiment's set-up leaves open, each choice simulated. Writes
# map.md and map.csv; some minutes.
#
#   HVSIM=path of the program   OUT=directory (out/demo-map)   REPLICATIONS, DURATION of each run

set -eu
cd "$(dirname "$0")/.."
hvsim=${HVSIM:-build/hvsim}
out=${OUT:-out/demo-map}
replications=${REPLICATIONS:-12}
duration=${DURATION:-100s}

mkdir -p "$out"
runs=0

# point SERVER DOM0 PCPUS BUSY: one line of map.csv
point() {
    server=$1 dom0=$2 pcpus=$3 busy=$4
    set -- --set "/hosts/0/pcpus=$pcpus" --set "/hosts/0/domains/1/programs/0/run/busy=$busy%"
    if [ "$dom0" = own ]; then
        guests="\"1-$((pcpus - 1))\""
        set -- "$@" --set /hosts/0/dom0/vcpus=1 --set '/hosts/0/dom0/hard_affinity="0"' \
            --set "/hosts/0/domains/0/hard_affinity=$guests" \
            --set "/hosts/0/domains/1/hard_affinity=$guests"
    else
        set -- "$@" --set "/hosts/0/dom0/vcpus=$pcpus"
    fi
    [ "$server" = pure ] || set -- "$@" \
        --set '/hosts/0/domains/0/programs/-={"run": {"type": "lookbusy", "busy": "30%"}}'
    "$hvsim" compare experiments/library/rpc-12vm.json --quiet --replications "$replications" \
        --set "/duration=$duration" "$@" --vary /hosts/0/scheduler=credit,terriertail \
        --out "$out/point" >/dev/null
    awk -F, -v at="$server,$dom0,$pcpus,$busy" '
        NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
        { line = line sprintf(",%s,%s,%s,%s", $c["latency_p99.9_ms"], $c["latency_p99.9_low_ms"],
                              $c["latency_p99.9_high_ms"], $c["throughput_per_s"]) }
        END { print at line }' "$out/point/clients.csv" >>"$out/map.csv.new"
    runs=$((runs + 1))
    [ ! -t 2 ] || printf '\r%d of 64 ' $runs >&2
}

cat >"$out/map.csv.new" <<'END'
server,dom0,pcpus,hogs_percent,credit_p99.9_ms,credit_low_ms,credit_high_ms,credit_per_s,terriertail_p99.9_ms,terriertail_low_ms,terriertail_high_ms,terriertail_per_s
END
for server in pure computing; do
    for dom0 in own sharing; do
        for pcpus in 3 4 5 6; do
            for busy in 30 50 80 100; do
                point $server $dom0 $pcpus $busy
            done
        done
    done
done
[ ! -t 2 ] || printf '\r            \r' >&2
mv "$out/map.csv.new" "$out/map.csv"
rm -rf "$out/point"

awk -F, -v replications="$replications" -v duration="$duration" -v version="$("$hvsim" version)" '
    function cell(i,   star) {
        star = $6 == "" || $10 == "" ? " *" : ""
        return sprintf(" %.1f / %.1f, %+.0f %%%s |", $5, $9, ($9 / $5 - 1) * 100, star)
    }
    BEGIN {
        print "# Where TerrierTail helps"
        print ""
        print "p99.9 of the RPC latency in ms, Credit / TerrierTail and the change, in"
        print "`experiments/library/rpc-12vm.json` (12 VMs, one RPC server, 11 lookbusy hogs) over what the"
        print "published set-up leaves open. Published: 59.4 / 29.5, -50 %. Written by `make demo-map`"
        printf "(%s): %s replications of %s each; * means fewer than\n", version, replications, duration
        print "10 slower requests in some replication, so the figure is rough."
        print ""
        print "\"own\": dom0 has pCPU 0 for itself and the guests have the others. \"sharing\": dom0 has as"
        print "many vCPUs as there are pCPUs, and everyone runs anywhere. \"computing\": the server VM runs"
        print "lookbusy of 30 % besides."
        print ""
        print "| server | dom0 | pCPUs | hogs of 30 % | 50 % | 80 % | 100 % |"
        print "|---|---|---|---|---|---|---|"
    }
    NR > 1 {
        if ($4 == 30) printf "| %s | %s | %s |", $1, $2, $3
        printf "%s", cell()
        if ($4 == 100) print ""
    }' "$out/map.csv" >"$out/map.md"
cat "$out/map.md"
