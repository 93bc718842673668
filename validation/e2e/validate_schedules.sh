#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# hvsim validate schedules: every stored schedule is identical; one that was changed differs, and the
# row is named; files that cannot be are refused.

set -u
export LC_ALL=C HVSIM_DATA=$PWD/experiments

. validation/checks.sh

stored=validation/xen
identical() { # DIR: as many as there are
    local n
    n=$(find "$stored/$1" -name '*.json' | wc -l)
    [ "$n" -gt 0 ] && status 0 "$HVSIM" validate schedules -q "$stored/$1" &&
        says "^schedules: $n identical, 0 differ\$"
}
check "validate schedules: Xen's" identical schedules
check "validate schedules: TerrierTail's" identical terriertail-schedules

# edited NAME SCRIPT: a directory with this schedule, its scenario edited
edited() {
    rm -rf "$TMP/edited" && mkdir "$TMP/edited"
    cp "$stored/schedules/$1.csv.gz" "$TMP/edited/"
    sed "$2" "$stored/schedules/$1.json" >"$TMP/edited/$1.json"
    ! cmp -s "$stored/schedules/$1.json" "$TMP/edited/$1.json" || { echo "nothing was edited"; return 1; }
}
differs() {
    edited c08_tslice1 's/"tslice_ms": 1,/"tslice_ms": 2,/' || return 1
    status 1 "$HVSIM" validate schedules "$TMP/edited" && says 'c08_tslice1: .*row' &&
        says '^schedules: 0 identical, 1 differ'
}
refused() { # NAME SCRIPT PATTERN
    edited "$1" "$2" || return 1
    status 2 "$HVSIM" validate schedules "$TMP/edited" && says "$3" "$TMP/err"
}
check "validate schedules: another slice differs" differs
check "validate schedules: no such action" refused x_01_change \
    's/"action": "[a-z]*"/"action": "explode"/' 'no such "action"'
check "validate schedules: no such pool" refused x_01_change \
    's/"action": /"pool": 7, "action": /' '/actions/0/pool: the host has no such pool'
check "validate schedules: no such domain" refused x_01_change \
    's/"domain": [0-9]*/"domain": 77/' 'no domain with this id'
# What a number may be, each with its place.
check "validate schedules: no burst of -1" refused c29_capped_waker \
    's/"compute_us": [0-9.]*/"compute_us": -1/' 'behaviour/compute_us: found -1: expected a number from 0'
check "validate schedules: nothing that takes no time" refused c01_two_equal_hogs \
    's/"type": "hog"/"type": "yielder"/' 'behaviour/compute_us: expected a time above 0'
check "validate schedules: no slice that is no number" refused c08_tslice1 \
    's/"tslice_ms": 1,/"tslice_ms": "1ms",/' '/tslice_ms: found "1ms": expected a whole number'
check "validate schedules: not without a pCPU" refused c08_tslice1 \
    's/"pcpus": [0-9]*/"pcpus": 0/' '/pcpus: found 0: expected a whole number from 1'
check "validate schedules: not for 1e300 ms" refused c08_tslice1 \
    's/"duration_ms": [0-9]*/"duration_ms": 1e300/' '/duration_ms: found 1e300'
check "validate schedules: no weight of 0" refused c2_03_cap50 \
    's/"weight": [0-9]*/"weight": 0/' '/weight: found 0: expected a whole number from 1'
check "validate schedules: no budget above the period" refused rt_01_two_reserved \
    's/"budget_us": [0-9]*/"budget_us": 999999/' 'a budget .* not above the period'
check "validate schedules: no IRQ at a pCPU that is not there" refused c29_capped_waker \
    's/"events": {/"events": {"irq_pcpu": 9,/' '/irq_pcpu: found 9'
cut_short() {
    edited c08_tslice1 's/"tslice_ms": 1,/"tslice_ms": 1 ,/' || return 1
    head -c 300 "$stored/schedules/c08_tslice1.csv.gz" >"$TMP/edited/c08_tslice1.csv.gz"
    status 2 "$HVSIM" validate schedules "$TMP/edited" && says 'c08_tslice1.csv.gz: it is cut short' "$TMP/err"
}
check "validate schedules: a schedule that is cut short" cut_short
