#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
#   HVSIM=build/hvsim BENCH=build/bench validation/bench/xentrace.sh [RECORDS]
#
# Time of hvsim import and of Xen's own xenalyze --summary on made-up traces, in turn, the best of
# three each, with the peak memory of each. Nothing is asserted.

set -u
export LC_ALL=C
HVSIM=${HVSIM:-build/hvsim}
BENCH=${BENCH:-build/bench}
records=${1:-8000000}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# best COMMAND...: "SECONDS MB" of three runs
best() {
    for _ in 1 2 3; do
        command time -o "$tmp/time" -f '%e %M' "$@" >/dev/null 2>&1
        tail -n 1 "$tmp/time"
    done | awk 'NR == 1 || $1 < s { s = $1 } $2 > m { m = $2 } END { printf "%.2f %.0f\n", s, m / 1024 }'
}

command -v time >/dev/null || { echo "skip xentrace: GNU time is not installed" && exit 0; }
printf '%-22s %8s %8s %8s %8s %8s\n' "pCPUs, vCPUs" "MB" "hvsim s" "MB" "xenalyze" "MB"
for shape in "2 8" "8 32" "64 200"; do
    # shellcheck disable=SC2086 # two words on purpose
    "$BENCH/xentrace_made" $shape "$records" >"$tmp/trace"
    read -r ours ours_mb < <(best "$HVSIM" import "$tmp/trace")
    theirs=- theirs_mb=-
    if command -v xenalyze >/dev/null; then
        read -r theirs theirs_mb < <(best xenalyze --summary "$tmp/trace")
    fi
    printf '%-22s %8d %8s %8s %8s %8s\n' "$shape" $(($(wc -c <"$tmp/trace") / 1000000)) \
        "$ours" "$ours_mb" "$theirs" "$theirs_mb"
done
