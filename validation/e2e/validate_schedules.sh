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
