#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# timeout: 900
#
# hvsim validate replication: everything that comes with hvsim holds, but for what is known not to; a
# captured run whose delays were changed does not; directories without captures are refused.

set -u
export LC_ALL=C HVSIM_DATA=$PWD/experiments

ok() { echo "ok validate replication: $1"; }
fail() { echo "FAIL validate replication: $1: $2"; }

# Every row holds; known would name one that does not (docs/models/control.md): CAPTURE: ROW.
known=
"$HVSIM" validate replication >"$TMP/out" 2>&1
awk -v known="$known" '/^[^ ]/ { capture = $0 }
    / falls short$/ { row = $0; sub(/^ +/, "", row); sub(/  .*/, "", row)
                      if (capture ": " row != known) print capture ": " row }' "$TMP/out" >"$TMP/short"
if [ ! -s "$TMP/short" ] && tail -n 1 "$TMP/out" | grep -qE '^replication: [0-9]+ hold, 0 do not$'; then
    ok "all rows hold"
else
    fail "all rows hold" "$(head -n 2 "$TMP/short" | tr '\n' ' ')$(tail -n 1 "$TMP/out")"
fi
for group in 'independent replicas' 'measurements missing' 'a third party' "the study's findings" 'multilevel splitting' 'replicas-1pcpu/g1_alone'; do
    if grep -q "^$group\|^agreement: $group" "$TMP/out"; then ok "rows about $group"; else fail "rows about $group" "there are none"; fi
done

# One replica alone takes 1.22 ms; here it is said to take 1 ms more.
mkdir -p "$TMP/changed"
cp validation/xen/replication/g1_alone.json "$TMP/changed/"
gzip -dc validation/xen/replication/g1_alone.csv.gz |
    awk -F, -v OFS=, 'NR > 1 { $4 += 1000 } { print }' | gzip >"$TMP/changed/g1_alone.csv.gz"
code=0
"$HVSIM" validate -q replication "$TMP/changed" >"$TMP/out" 2>&1 || code=$?
if [ $code = 1 ] && grep -q 'delay p50, replica 1 .*falls short' "$TMP/out"; then
    ok "changed delays fall short"
else
    fail "changed delays fall short" "exit $code: $(tail -n 2 "$TMP/out" | tr '\n' ' ')"
fi

mkdir -p "$TMP/empty"
code=0
"$HVSIM" validate -q replication "$TMP/empty" >"$TMP/out" 2>&1 || code=$?
if [ $code = 2 ] && grep -q 'no capture' "$TMP/out"; then ok "an empty directory is refused"; else fail "an empty directory is refused" "exit $code"; fi
