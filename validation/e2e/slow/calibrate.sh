#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# timeout: 900
#
# hvsim calibrate on the real data, for a short time: the testbed's published figures, with most of
# the machine given; the captures' costs.

set -u
export LC_ALL=C

. validation/checks.sh
below() { awk -v text="$1" -v most="$2" 'index($0, text) { sub(".*error. ", ""); print; good = $1 < most } END { exit !good }' "$3"; }

# Given: the machine and kernels as shipped, with fewer clients. Left: the loads and the base latency.
given=(--hold pcpus_host=4 --hold pcpus_12=4 --hold pcpus_24=1 --hold pinned=1 --hold dom0_apart=0
    --hold vcpus=1 --hold dom0_vcpus=4 --hold dom0_boost=1 --hold own_12=3 --hold clients=20
    --hold clients_rpc=10 --hold idle_enter=2 --hold dom0_costs=7 --hold housekeeping=20 --hold demand=4)
check "calibrate the testbed's loads" "$HVSIM" calibrate testbed "${given[@]}" --budget 12 --runs 2 \
    --seconds 10 --simulations 1 --quiet --out "$TMP/testbed.json"
"$HVSIM" calibrate testbed "${given[@]}" --budget 12 --runs 2 --seconds 10 --simulations 1 --quiet \
    --out "$TMP/again.json" >"$TMP/testbed.out"
# A factor of 1.7 in the mean for tails with half of the experiments at the ends of their series.
check "its loads explain the tails by and large" below "loads and machine: " 0.55 "$TMP/testbed.out"
check "its base latency is that of the raw counts" below "base latency: " 0.1 "$TMP/testbed.out"
sed -i 's/--out [^"]*//' "$TMP/testbed.json" "$TMP/again.json"
check "the same command gives the same calibration" cmp "$TMP/testbed.json" "$TMP/again.json"

if [ -d validation/xen/captures ]; then
    check "calibrate the captures' costs" "$HVSIM" calibrate xentrace --budget 20 --simulations 1 \
        --quiet --out "$TMP/xentrace.json"
    check "what calibrated does not judge" eval '"$HVSIM" validate xentrace validation/xen/captures/credit --calibration "$TMP/xentrace.json" >"$TMP/out"; says "b4: costs were calibrated on it" "$TMP/out"'
else
    echo "skip calibrate the captures' costs: there are no captures"
fi
