#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# timeout: 300
#
# hvsim validate testbed on a small made-up table: servers that compute as well; only some
# experiments; a journal that goes on where it was; mistakes.

# shellcheck disable=SC2016 # what eval gets is for later

set -u
export LC_ALL=C

. validation/checks.sh

mkdir -p "$TMP/mixed"
cat >"$TMP/mixed/mixed.csv" <<'END'
# made up
server_vms,memcached_credit,memcached_mixed_credit,memcached_mixed_terriertail
3,,9000,7
23,2500,3000,
END
echo '{ "version": 1, "kind": "testbed", "unknowns": [] }' >"$TMP/starts.json"
testbed() { "$HVSIM" validate testbed "$TMP/mixed" --calibration "$TMP/starts.json" "$@"; }

# Which programs, in which guests.
check "mixed: scenarios" status 0 testbed --scenarios "$TMP/scenarios"
check "mixed: one for each figure, blanks left out" eval '[ "$(ls "$TMP/scenarios" | tr "\n" " ")" = "24vm-memcached-23-credit.json 24vm-memcached-mixed-23-credit.json 24vm-memcached-mixed-3-credit.json 24vm-memcached-mixed-3-terriertail.json " ]'
busy() { grep -o '"type": "lookbusy", "busy": "[0-9.]*%"' "$TMP/scenarios/$1" | grep -c "\"$2%\""; }
# shellcheck disable=SC2034 # by eval below
mixed=24vm-memcached-mixed-23-credit.json plain=24vm-memcached-23-credit.json
check "mixed: the measured server computes as it always does" eval '[ "$(busy $mixed 3)" = 1 ] && [ "$(busy $plain 3)" = 1 ]'
check "mixed: the other 22 servers keep their lookbusy" eval '[ "$(busy $mixed 4)" = 23 ]'
check "not mixed: only the VM that is no server has one" eval '[ "$(busy $plain 4)" = 1 ]'

# Simulated: the computing servers are slower than the others.
check "mixed: simulated" status 1 testbed --only '*-23-*' --simulations 1
check "mixed: counted" says "^testbed: 2 points, "
simulated() { awk -v set="$1" '/servers, credit/ { ours = index($0, set) } ours && $1 == "latency" { print $5; exit }' "$TMP/out"; }
check "mixed: servers that compute are slower" eval 'awk -v mixed="$(simulated "memcached mixed")" -v plain="$(simulated "memcached, ")" "BEGIN { print mixed, plain; exit !(mixed > plain && plain > 0) }"'

# A journal: what is in it is not simulated again, more simulations add to it, and the verdict is
# that of one go.
only=(--only 24vm-memcached-mixed-3-terriertail)
check "journal: begun" status 1 testbed "${only[@]}" --simulations 1 --journal "$TMP/journal" --quiet
check "journal: one line for each simulation, and a title" eval '[ "$(wc -l <"$TMP/journal")" = 2 ]'
cp "$TMP/journal" "$TMP/before"
printf '{"experiment":"torn' >>"$TMP/journal"
check "journal: goes on" status 1 testbed "${only[@]}" --simulations 2 --journal "$TMP/journal"
cp "$TMP/out" "$TMP/resumed"
check "journal: has both" eval '[ "$(wc -l <"$TMP/journal")" = 3 ] && head -n 2 "$TMP/journal" | cmp - "$TMP/before"'
check "journal: the same verdict without" eval 'testbed "${only[@]}" --simulations 2 >"$TMP/out"; cmp "$TMP/out" "$TMP/resumed"'
cp "$TMP/journal" "$TMP/before"
check "journal: all known" status 1 testbed "${only[@]}" --simulations 2 --journal "$TMP/journal"
check "journal: nothing is simulated again" cmp "$TMP/before" "$TMP/journal"
check "journal: known, the same verdict" cmp "$TMP/out" "$TMP/resumed"
sed 's/\[\]/[{ "name": "demand", "value": 20, "low": 20, "high": 20, "identified": "identified" }]/' "$TMP/starts.json" >"$TMP/other.json"
check "journal: another calibration has its own lines" eval '"$HVSIM" validate testbed "$TMP/mixed" --calibration "$TMP/other.json" "${only[@]}" --simulations 1 --journal "$TMP/journal" >/dev/null; [ "$(wc -l <"$TMP/journal")" = 4 ]'

# Damaged lines are told; a file of another kind is left alone, also one without a newline.
damaged() { # NAME SCRIPT PATTERN
    sed "2$2" "$TMP/before" >"$TMP/damaged"
    cp "$TMP/damaged" "$TMP/damaged.was"
    check "journal: $1" status 2 testbed "${only[@]}" --simulations 2 --journal "$TMP/damaged"
    check "journal: $1: its place" says "damaged:2: the line is damaged: $3" "$TMP/err"
    check "journal: $1: untouched" cmp "$TMP/damaged" "$TMP/damaged.was"
}
damaged "no JSON" 's/{/[/' 'it is no JSON'
damaged "no scenario" 's/"scenario":"*/&x/' '/scenario: expected 16'
damaged "a simulation of -1" 's/"simulation": *[0-9]*/"simulation":-1/' '/simulation: expected a whole number from 0'
damaged "no values" 's/"values": *{.*/"values":7}/' '/values: expected an object'
damaged "a value that is a text" 's/"latency p99.9": *[0-9.]*/"latency p99.9":"7"/' '/values: expected a number'
printf '{ "version": 1 }' >"$TMP/no_newline"
check "a file without a newline that is no journal" status 2 testbed "${only[@]}" --simulations 1 --journal "$TMP/no_newline"
check "a file without a newline that is no journal: untouched" says '"version": 1' "$TMP/no_newline"
check "a file that is no journal" status 2 testbed "${only[@]}" --simulations 1 --journal "$TMP/starts.json"
check "a file that is no journal: says so" says "is no journal" "$TMP/err"
check "a file that is no journal: untouched" says '"kind": "testbed"' "$TMP/starts.json"
check "no such experiment" status 2 testbed --only '12vm-*'
check "no such experiment: what there is" says '24vm-memcached-mixed-3-credit' "$TMP/err"
