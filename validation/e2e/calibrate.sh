#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# timeout: 300
#
# hvsim calibrate: a load that was simulated is found again from its job times; a base latency from
# counted round trips; what the data do not tell is said; validate uses the file; mistakes.

# shellcheck disable=SC2016 # what eval gets is for later

set -u
export LC_ALL=C

. validation/checks.sh
row() { awk -v name="$1" '$1 == name' "$TMP/fit"; } # of the table of unknowns
within() { # LOW HIGH: the value in the row is
    awk -v low="$1" -v high="$2" '{ print "value " $2; good = $2 >= low && $2 <= high } END { exit !good }'
}

# A job on 3 pCPUs beside VMs of 20 %, as the simulator has it (with its own seed).
mkdir -p "$TMP/job" "$TMP/base" "$TMP/bad" "$TMP/empty"
cat >"$TMP/truth.json" <<'END'
{ "version": 1, "kind": "testbed", "unknowns": [
  { "name": "pcpus_12", "value": 3, "low": 3, "high": 3, "identified": "identified" },
  { "name": "pinned", "value": 0, "low": 0, "high": 0, "identified": "identified" },
  { "name": "busy_job", "value": 20, "low": 20, "high": 20, "identified": "identified" } ] }
END
printf 'lookbusy_vms,credit\n2,100\n6,100\n8,100\n11,100\n' >"$TMP/job/job.csv"
check "validate takes a calibration" status 1 "$HVSIM" validate testbed "$TMP/job" --calibration "$TMP/truth.json" --simulations 3
check "validate says what it rests on" says "^what is not published is calibrated: .*truth.json"
check "validate counts the points" says "^testbed: 4 points, median |error| [0-9]* %, worst [0-9]* %"
simulated() { awk -v vms="$1" '/beside/ { ours = $5 == vms } ours && $1 == "job" { print $5 }' "$TMP/out"; }
{
    echo "lookbusy_vms,credit"
    for vms in 2 6 8 11; do echo "$vms,$(simulated "$vms")"; done
} >"$TMP/job.new"
mv "$TMP/job.new" "$TMP/job/job.csv"
check "the simulated times are numbers" eval '! grep -q ",$" "$TMP/job/job.csv"'

# With the machine known, the load is the only thing that job times can tell.
known=(--hold pcpus_host=4 --hold pcpus_12=3 --hold pinned=0 --hold vcpus=1 --hold dom0_apart=0 --hold dom0_vcpus=2
    --hold own_12=0 --hold busy_12=30 --hold clients=10 --hold clients_rpc=5 --hold idle_enter=6)
calibrate() { "$HVSIM" calibrate testbed "$TMP/job" --seconds 20 --simulations 2 --runs 4 --quiet "${known[@]}" "$@"; }
check "calibrate job times" status 0 calibrate --budget 90 --out "$TMP/job.json" --journal "$TMP/journal"
cp "$TMP/out" "$TMP/fit"
check "calibrate finds the load" eval 'row busy_job | within 17 23'
check "calibrate says what the data do not tell" eval 'row dom0_costs | says "not identified" /dev/stdin'
check "calibrate says what was given" eval 'row pcpus_12 | says "given" /dev/stdin'
check "calibrate says which choices they do not tell" eval 'row pcpus_24 | says "not identified" /dev/stdin'
check "calibrate writes the command" says '"command": "hvsim calibrate testbed .*--budget 90' "$TMP/job.json"
check "calibrate keeps a journal" says '"simulated"' "$TMP/journal.loads"
cp "$TMP/job.json" "$TMP/first.json"
# shellcheck disable=SC2034 # by eval below
lines=$(wc -l <"$TMP/journal.loads")
check "calibrate from a journal" status 0 calibrate --budget 90 --out "$TMP/job.json" --journal "$TMP/journal"
check "calibrate from a journal gives the same bytes" cmp "$TMP/first.json" "$TMP/job.json"
check "calibrate from a journal simulates nothing" eval '[ "$(wc -l <"$TMP/journal.loads")" = "$lines" ]'
"$HVSIM" validate testbed "$TMP/job" --calibration "$TMP/job.json" --simulations 5 -q >"$TMP/out"
check "validate is near with its own calibration" says "^testbed: 4 points, median |error| 1\?[0-9] %"

check "validate writes its scenarios" status 0 "$HVSIM" validate testbed "$TMP/job" --calibration "$TMP/truth.json" --scenarios "$TMP/scenarios"
check "a written scenario runs" status 0 "$HVSIM" run "$TMP/scenarios/job-6-credit.json" --set /duration=3s --replications 2 --quiet --out "$TMP/run"
check "results call its values calibrated" says '"/hosts/-/domains/-/programs/-/run/busy", "value": "20%", "status": "calibrated"' "$TMP/run/results.json"
check "a pointer to nothing" status 2 "$HVSIM" run "$TMP/scenarios/job-6-credit.json" --set '/calibrated=["/hosts/-/pcpu"]'
check "a pointer to nothing: its place" says '/calibrated/0' "$TMP/err"

# Round trips with a lognormal share: 120 us and more.
awk 'BEGIN { print "run,rtt_us,count"; for (us = 130; us < 420; us++) {
    z = (log(us - 100) - log(80)) / 0.4; n = int(100000 * exp(-z * z / 2) / (us - 100)); if (n) print "1," us "," n } }' >"$TMP/base/counts.csv"
check "calibrate the base latency" status 0 "$HVSIM" calibrate testbed "$TMP/base" --hold dom0_costs=8 --hold demand=8 --budget 80 --seconds 20 --simulations 1 --quiet
cp "$TMP/out" "$TMP/fit"
check "calibrate fits counted round trips" eval 'sed -n "s/^base latency: mean |log error| \([0-9.]*\) over 9 points.*/\1/p" "$TMP/out" | awk "{ exit !(\$1 < 0.05) }"'
check "calibrate finds their spread" eval 'row base_sigma | within 0.25 0.9'

check "hold something that is not one" status 2 "$HVSIM" calibrate testbed "$TMP/job" --hold pcpus=3
check "hold what it cannot be" status 2 "$HVSIM" calibrate testbed "$TMP/job" --hold pcpus_12=7
check "no such kind" status 2 "$HVSIM" calibrate testbeds
check "no such kind: the nearest" says 'did you mean "testbed"' "$TMP/err"
check "no directory" status 2 "$HVSIM" calibrate testbed "$TMP/nowhere"
check "nothing in a directory" status 2 "$HVSIM" calibrate testbed "$TMP/empty"
check "no captures" status 2 "$HVSIM" calibrate xentrace "$TMP/empty"
printf 'lookbusy_vms,credit\n2,fast\n' >"$TMP/bad/job.csv"
check "a value that is no number" status 2 "$HVSIM" calibrate testbed "$TMP/bad"
check "a value that is no number: its place" says 'job.csv:2: credit is "fast"' "$TMP/err"
printf 'lookbusy_vms,credit\n2,100,3\n' >"$TMP/bad/job.csv"
check "a line that is too long" status 2 "$HVSIM" validate testbed "$TMP/bad"
check "another problem's journal" status 2 "$HVSIM" calibrate testbed "$TMP/job" --runs 2 --quiet --journal "$TMP/journal"
check "another problem's journal: says so" says 'the journal of another calibration' "$TMP/err"
cp "$TMP/journal.loads" "$TMP/before"
check "simulations of another length are none of these" status 0 calibrate --seconds 10 --budget 4 --journal "$TMP/journal"
check "simulations of another length stand beside them" eval 'head -n "$lines" "$TMP/journal.loads" | cmp - "$TMP/before" && [ "$(wc -l <"$TMP/journal.loads")" -gt "$lines" ]'
cp "$TMP/before" "$TMP/journal.loads"
sed '2s/"x"/"y"/' "$TMP/journal.loads" >"$TMP/journal2.loads"
check "a damaged journal" status 2 calibrate --budget 90 --journal "$TMP/journal2"
check "a damaged journal: its place" says 'journal2.loads:2: the line is damaged: expected an object with "how", "x" of [0-9]* numbers' "$TMP/err"
printf '{ "version": 1 }' >"$TMP/journal3.loads"
check "no journal, and without a newline" status 2 calibrate --budget 90 --journal "$TMP/journal3"
check "no journal, and without a newline: untouched" says '"version": 1' "$TMP/journal3.loads"
refused() { # NAME SCRIPT PATTERN: the calibration file so edited
    sed "$2" "$TMP/truth.json" >"$TMP/wrong.json"
    check "a calibration with $1" status 2 "$HVSIM" validate testbed "$TMP/job" --calibration "$TMP/wrong.json"
    check "a calibration with $1: its place" says "$3" "$TMP/err"
}
refused "a value that is a text" 's/"value": 3/"value": "3"/' 'wrong.json:2:[0-9]*: /unknowns/0/value: '
refused "unknowns that are no list" 's/"unknowns": \[/"unknowns": {}, "was": [/' '/unknowns: '
refused "no kind" 's/"kind": "testbed", //' '"kind" is missing'
refused "another version" 's/"version": 1/"version": 9/' '/version: '
refused "a choice that is none" 's/"value": 3/"value": 3.5/' '/unknowns/0/value: 3.5 is not a value of "pcpus_12"'
refused "no end" '$d' 'wrong.json'
printf 'run,rtt_us,count\n1,130,5\n1,many,5\n' >"$TMP/bad/job.csv"
check "a count that is none" status 2 "$HVSIM" calibrate testbed "$TMP/bad"
check "a count that is none: its place" says 'job.csv:3: wanted a run, a time and a count' "$TMP/err"
check "no such calibration file" status 2 "$HVSIM" validate testbed "$TMP/job" --calibration "$TMP/none.json"
sed 's/busy_job/busyjob/' "$TMP/truth.json" >"$TMP/wrong.json"
check "an unknown that is not one" status 2 "$HVSIM" validate testbed "$TMP/job" --calibration "$TMP/wrong.json"
check "an unknown that is not one: says so" says 'there is no unknown "busyjob"' "$TMP/err"
sed 's/"value": 20/"value": 400/' "$TMP/truth.json" >"$TMP/wrong.json"
check "a value out of range" status 2 "$HVSIM" validate testbed "$TMP/job" --calibration "$TMP/wrong.json"
sed 's/"kind"/"kinds"/' "$TMP/truth.json" >"$TMP/wrong.json"
check "a key that is not one" status 2 "$HVSIM" validate testbed "$TMP/job" --calibration "$TMP/wrong.json"
check "a calibration of something else" status 2 "$HVSIM" validate xentrace "$TMP/empty" --calibration "$TMP/truth.json"
check "a calibration for all checks" status 2 "$HVSIM" validate --calibration "$TMP/truth.json"
check "an output that cannot be written" status 2 calibrate --budget 2 --runs 1 --seconds 1 --out "$TMP/nowhere/x.json"
