#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What ran on real Xen, replayed: a trace's workload under the scheduler it ran under gives the
# shares it had, under another one another schedule; wrong files are refused.
set -u
captures=validation/xen/captures

ok() { echo "ok replay/$1"; }
fail() { echo "FAIL replay/$1: $2"; }

cp experiments/library/one-host.platform.xml "$TMP"
if ! "$HVSIM" import "$captures/credit/b4.xentrace.gz" --cpu-hz 1G --workload "$TMP/w.json" >"$TMP/out" 2>&1; then
    fail import "$(tail -1 "$TMP/out")"
    exit 0
fi

# scenario SCHEDULER FILE VCPU: one pCPU, h1 to h4 and w1 of the capture; w1 is VCPU of FILE
scenario() {
    cat <<END
{ "version": 1, "title": "b4 again", "question": "What would this scheduler have done?",
  "replications": 1, "warmup": "500ms", "duration": "8s", "platform": "one-host.platform.xml",
  "hosts": [{ "name": "xen", "pcpus": 1, "scheduler": "$1", "dom0": { "vcpus": 1 }, "domains": [
END
    for i in 1 2 3 4; do
        echo "{ \"name\": \"h$i\", \"programs\": [{ \"run\": { \"type\": \"replay\", \"trace\": { \"file\": \"w.json\", \"vcpu\": \"$i.0\" } } }] },"
    done
    echo "{ \"name\": \"w1\", \"programs\": [{ \"run\": { \"type\": \"replay\", \"trace\": { \"file\": \"$2\", \"vcpu\": \"$3\" } } }] }] }] }"
}

# share DOMAIN: per cent of the pCPU, of the last run
share() { awk -v d="xen/$1" '$1 == d { print $2; exit }' "$TMP/out"; }
near() { # NAME GOT WANTED: within 1.5 points
    if awk -v a="$2" -v b="$3" 'BEGIN { exit !(a != "" && a - b < 1.5 && b - a < 1.5) }'; then ok "$1"; else fail "$1" "$2, wanted $3"; fi
}

for scheduler in credit credit2; do
    scenario $scheduler w.json 5.0 >"$TMP/s.json"
    timeout 60 "$HVSIM" run -q "$TMP/s.json" >"$TMP/out" 2>"$TMP/err"
    # what xenalyze says of the capture: 22.97 and 8.53 %
    near $scheduler-hog "$(share h1)" 22.97
    near $scheduler-waker "$(share w1)" 8.53
    awk '/from waking up/ { on = 1 } on && $1 == "xen/w1" { print $2; exit }' "$TMP/out" >"$TMP/p50.$scheduler"
done
if cmp -s "$TMP/p50.credit" "$TMP/p50.credit2"; then
    fail another-schedule "p50 of waits is $(cat "$TMP/p50.credit") under both"
else
    ok another-schedule
fi

refused() { # NAME FILE VCPU MESSAGE
    scenario credit "$2" "$3" >"$TMP/s.json"
    timeout 60 "$HVSIM" run -q "$TMP/s.json" >"$TMP/out" 2>"$TMP/err"
    local got=$?
    if [ $got -eq 2 ] && grep -q "$4" "$TMP/err"; then ok "$1"; else fail "$1" "exit $got: $(head -1 "$TMP/err")"; fi
}
refused unknown-vcpu w.json 9.0 'has no vCPU "9.0"'
refused missing-file none.json 5.0 'none.json'
refused other-file s.json 5.0 'is not written by hvsim import --workload'
sed '0,/ c[0-9]/s// q1/' "$TMP/w.json" >"$TMP/bad.json"
bad=$(grep -n ' q1' "$TMP/bad.json" | head -1 | cut -d: -f1)
owner=$(awk -v n="$bad" 'NR > n { exit } /"domain":/ { gsub(/[^0-9]/, ""); d = $0 } END { print d }' "$TMP/bad.json")
refused damaged bad.json "$owner.0" 'is no operation of a workload file'
