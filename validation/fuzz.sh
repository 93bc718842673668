#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
#   validation/fuzz.sh BUILD NAME SECONDS
#
# Runs the fuzz target BUILD/fuzz/NAME (from validation/fuzz/fuzz_NAME.c), starting from the inputs
# in validation/fuzz/corpus/NAME (and .../NAME.dict if there) and from what earlier runs found in
# BUILD/corpus/NAME. An input that crashes, leaks or takes over 10 s is kept in BUILD/found/.
# From the same inputs it goes the same way; FUZZ_SEED=0: another way each time.

set -u
cd "$(dirname "$0")/.." || exit 1
[ $# = 3 ] || { sed -n '4,9s/^# \{0,1\}//p' "$0" >&2 && exit 2; }
build=$1 name=$2 seconds=$3
seeds=validation/fuzz/corpus/$name
found=$build/found/$name-
mkdir -p "$build/corpus/$name" "$build/found"
inputs=("$build/corpus/$name")
[ ! -d "$seeds" ] || inputs+=("$seeds")
options=(-max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1
    -artifact_prefix="$found" -seed="${FUZZ_SEED:-1}")
[ ! -f "$seeds.dict" ] || options+=(-dict="$seeds.dict")
export ASAN_OPTIONS=allocator_may_return_null=1:${ASAN_OPTIONS:-}
log=$build/fuzz-$name.log
if "$build/fuzz/$name" "${options[@]}" "${inputs[@]}" >"$log" 2>&1; then
    echo "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs in $seconds s"
    echo "ok fuzz-$name"
else
    tail -n 40 "$log"
    echo "FAIL fuzz-$name: see $log and ${found}*"
    exit 1
fi
