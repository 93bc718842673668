#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# timeout: 300
#
# hvsim sweep: killed at any instant and called again it gives the same bytes; one run at a time;
# points that fail lose themselves only; a changed file keeps what is still the same; shares and
# workers cannot be seen in results.

# shellcheck disable=SC2016 # what eval gets is for later
# shellcheck disable=SC2015 # failures of the middle are failures
true

set -u
export LC_ALL=C

. validation/checks.sh
sweep() { "$HVSIM" sweep run "$@" --quiet; }
sweep_behind() { exec "$HVSIM" sweep run "$@" --quiet; } # to be called with &: $! is hvsim itself
tables() { # DIR: the checksum of all tables
    "$HVSIM" sweep gather "$1" >/dev/null && (cd "$1" && cat points.csv results.csv replications.csv sweep.sqlite | cksum)
}
same_tables() { # DIR DIR
    local a b
    a=$(tables "$1") && b=$(tables "$2") && [ "$a" = "$b" ] || { echo "$1 and $2 differ"; return 1; }
}

# ---- A scenario of some milliseconds, and a sweep of some seconds ---------------------------------

cat >"$TMP/host.json" <<'EOF'
{ "version": 1, "title": "sweep test", "warmup": "50ms", "duration": "400ms", "drain": "50ms",
  "platform": "one-host-10g.platform.xml",
  "hosts": [ { "name": "xen", "pcpus": 2, "scheduler": "credit", "dom0": {},
      "domains": [ { "name": "web", "network": {}, "programs": [ { "run": "rpc" } ] },
                   { "name": "hog", "count": 2, "programs": [ { "run": "hog" } ] } ] } ],
  "clients": [ { "name": "web", "on": "client", "to": "web", "load": { "loop": "open",
      "connections": 16, "arrivals": "poisson(1000/s)", "demand": "exponential(100us)" } } ] }
EOF
write_sweep() { # FILE HOGS REST
    cat >"$1" <<EOF
{ "version": 1, "title": "test", "scenario": "host.json",
  "axes": [ { "name": "slice", "at": "/hosts/0/scheduler/tslice", "values": ["1ms", "5ms", "30ms"] },
            { "name": "load", "at": "/clients/0/load/arrivals", "form": "poisson({})",
              "from": "500/s", "to": "2000/s", "step": "500/s" },
            { "name": "hogs", "at": "/hosts/0/domains/1/count", "values": [$2] } ],
  "only": ["load >= 1000/s or hogs > 1"],
  "metrics": ["web:latency_*", "throughput", "xen/hog:cpu_share", "utilisation"] $3 }
EOF
}
write_sweep "$TMP/a.json" "1, 2, 3" ', "replications": 4'

check "sweep plan counts points" status 0 "$HVSIM" sweep plan "$TMP/a.json"
check "sweep plan tells them" says "^33 points: slice (3), load (4), hogs (3), under 1 condition"
check "sweep plan tells replications" says "^132 replications"
check "sweep plan tells the time" says "a replication:.*in all on"
check "sweep plan lists the first" says "^0 *1ms *500/s *2 *4$"

check "sweep run" status 0 sweep "$TMP/a.json" --out "$TMP/whole" --jobs 2
check "sweep run says so" says "^33 of 33 points done; 132 replications"
check "sweep gather" status 0 "$HVSIM" sweep gather "$TMP/whole"
check "sweep gather heads columns with units" says \
    "^point,slice_ms,load_per_s,hogs,replications,kind,subject,latency_p50_ms,latency_p50_low_ms," \
    "$TMP/whole/results.csv"
check "sweep gather has a row for each subject" test "$(wc -l <"$TMP/whole/results.csv")" = $((33 * 3 + 1))
check "sweep gather has a row for each replication" test "$(wc -l <"$TMP/whole/replications.csv")" = $((33 * 12 + 1))
check "sweep run again does nothing" status 0 sweep "$TMP/a.json" --out "$TMP/whole"
check "sweep run again says so" says "^33 of 33 points done (33 before).$"

# ---- A point alone gives the same -----------------------------------------------------------------

alone=$(sed -n 's/^17,.*,\("\?hvsim run .*\)$/\1/p' "$TMP/whole/points.csv" | sed 's/^"//; s/"$//; s/""/"/g')
alone_is_the_same() {
    local row figures
    eval "${alone/#hvsim/\"\$HVSIM\"} --quiet --out $TMP/alone" || return 1
    row=$(sed -n 's/^17,.*,client,web,\([^,]*,[^,]*,[^,]*\),.*/\1/p' "$TMP/whole/results.csv")
    figures=$(sed -n 's/^web,\([^,]*,[^,]*,[^,]*\),.*/\1/p' "$TMP/alone/clients.csv")
    [ -n "$row" ] && [ "$row" = "$figures" ] || { echo "sweep $row, run $figures"; return 1; }
}
check "sweep point alone" alone_is_the_same

# ---- Killed again and again -----------------------------------------------------------------------

RANDOM=${SEED:-7}
pause() { sleep "$(printf '0.%03d' $((RANDOM % ${1:-300})))"; }
workers() { tr ' ' '\n' <"/proc/$1/task/$1/children" 2>/dev/null | grep .; }

# Kill the run itself at random instants until one comes through.
kill_the_run() { # DIR SWEEP ARGUMENT...
    local dir=$1 file=$2 pid tries
    shift 2
    for ((tries = 0; tries < 60; tries++)); do
        sweep_behind "$file" --out "$dir" "$@" >/dev/null 2>"$TMP/err" &
        pid=$!
        pause $((100 + tries * 30))
        kill -9 "$pid" 2>/dev/null || { wait "$pid" && return 0; head -n 1 "$TMP/err" && return 1; }
        wait "$pid" 2>/dev/null
    done
    sweep "$file" --out "$dir" "$@"
}
check "sweep run killed again and again" kill_the_run "$TMP/killed" "$TMP/a.json" --jobs 3
check "sweep run killed gives the same bytes" same_tables "$TMP/whole" "$TMP/killed"

# Kill workers at random: with SIGKILL the replication is tried again, after SIGSEGV it has failed,
# until the next call. (LeakSanitizer's helper would pass for a worker, and must not be killed.)
kill_workers() { # DIR SIGNAL
    local pid worker
    ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 sweep_behind "$TMP/a.json" --out "$1" --jobs 2 >/dev/null 2>&1 &
    pid=$!
    while kill -0 "$pid" 2>/dev/null; do
        pause 100
        worker=$(workers "$pid" | shuf -n 1 --random-source=/dev/zero)
        [ -z "$worker" ] || kill "-$2" "$worker" 2>/dev/null
    done
    wait "$pid"
    status 0 sweep "$TMP/a.json" --out "$1"
}
check "sweep workers killed" kill_workers "$TMP/workers" KILL
check "sweep workers killed gives the same bytes" same_tables "$TMP/whole" "$TMP/workers"
check "sweep workers crashed" kill_workers "$TMP/crashed" SEGV
check "sweep workers crashed gives the same bytes" same_tables "$TMP/whole" "$TMP/crashed"

# A torn line, as a power cut leaves it, and a damaged one.
tear() {
    cp -r "$TMP/whole" "$TMP/torn" && truncate -s -5 "$TMP/torn/results.lines" &&
        sed -i '30s/\(R\t.*\)7/\18/' "$TMP/torn/results.lines"
}
check "sweep run repairs" eval 'tear && status 0 sweep "$TMP/a.json" --out "$TMP/torn"'
check "sweep run repaired gives the same bytes" same_tables "$TMP/whole" "$TMP/torn"

# Ctrl-C.
interrupted() {
    local pid got=0
    sweep_behind "$TMP/a.json" --out "$TMP/int" --jobs 1 >"$TMP/out" 2>&1 &
    pid=$!
    while [ "$(wc -l 2>/dev/null <"$TMP/int/results.lines" || echo 0)" -lt 3 ] && kill -0 "$pid"; do sleep 0.02; done
    kill -INT "$pid"
    wait "$pid" || got=$?
    # In the background of a script SIGINT is ignored, as nohup wants it: then it runs to its end.
    [ "$got" = 130 ] || [ "$got" = 0 ] || { echo "exit $got" && return 1; }
}
check "sweep run interrupted" interrupted
check "sweep run interrupted gives the same bytes" eval 'sweep "$TMP/a.json" --out "$TMP/int" >/dev/null && same_tables "$TMP/whole" "$TMP/int"'

# ---- One at a time --------------------------------------------------------------------------------

write_sweep "$TMP/long.json" "1, 2, 3" ', "replications": 40'
locked() {
    local pid status=0
    sweep_behind "$TMP/long.json" --out "$TMP/locked" --jobs 1 >/dev/null 2>&1 &
    pid=$!
    while [ ! -s "$TMP/locked/results.lines" ] && kill -0 "$pid"; do sleep 0.02; done
    status 2 sweep "$TMP/long.json" --out "$TMP/locked" && says "at work in this directory" "$TMP/err" || status=1
    status 2 sweep "$TMP/long.json" --out "$TMP/locked" --shard 1/2 || status=1
    "$HVSIM" sweep gather "$TMP/locked" >"$TMP/out" || status=1 # reading is allowed
    kill -9 "$pid"
    wait "$pid" 2>/dev/null
    return $status
}
check "sweep run refuses a second one" locked

# ---- Shares, workers ------------------------------------------------------------------------------

shares() {
    local pids=() i
    for i in 3 1 2; do
        sweep_behind "$TMP/a.json" --out "$TMP/shares" --shard $i/3 --jobs 1 >/dev/null &
        pids+=($!)
    done
    for i in "${pids[@]}"; do wait "$i" || return 1; done
    [ "$(wc -l <"$TMP/shares/results-2-of-3.lines")" = $((44 + 1)) ]
}
check "sweep shares" shares
check "sweep shares give the same bytes" same_tables "$TMP/whole" "$TMP/shares"
check "sweep shares count from 1" status 2 sweep "$TMP/a.json" --out "$TMP/shares" --shard 0/3
check "sweep shares count from 1, and say so" says "counted from 1" "$TMP/err"

write_sweep "$TMP/stop.json" "2" ', "stop": { "metric": "latency_p90", "relative": "20%", "most": 40 }'
check "sweep stops by a rule" status 0 sweep "$TMP/stop.json" --out "$TMP/stop1" --jobs 1
check "sweep stops by a rule, killed" kill_the_run "$TMP/stop4" "$TMP/stop.json" --jobs 4
check "sweep stops at the same replication" same_tables "$TMP/stop1" "$TMP/stop4"
stops_differ() { [ "$(cut -d, -f7 "$TMP/stop1/points.csv" | sort -u | wc -l)" -gt 3 ] || { echo "all alike"; return 1; }; }
check "sweep stops at different numbers" stops_differ

# ---- Points that fail -----------------------------------------------------------------------------

cat >"$TMP/bad.json" <<'EOF'
{ "version": 1, "scenario": "host.json", "replications": 2, "metrics": ["utilisation"],
  "limits": { "time": "3s", "memory": "96MiB" },
  "axes": [ { "name": "what", "settings": [
    { "label": "good", "set": [] },
    { "label": "hangs", "set": ["/duration=900d"] },
    { "label": "memory", "set": ["/hosts/0/domains/1/count=10000", "/hosts/0/domains/1/vcpus=60"] },
    { "label": "also good", "set": ["/hosts/0/domains/1/count=1"] } ] } ] }
EOF
check "sweep goes on after failures" status 3 sweep "$TMP/bad.json" --out "$TMP/bad" --jobs 2
check "sweep counts failures" says "^2 of 4 points done, 2 failed"
check "sweep tells the time limit" says "point 1 (what=hangs), replication 0: killed after the time limit of 3 s"
check "sweep tells the memory limit" says "point 2 (what=memory), replication 0: .*\(memory\|time\) limit"
check "sweep tells how to run it alone" says "alone: hvsim run .*host.json --set /duration=900d --replications 1"
check "sweep gather keeps failures" eval '"$HVSIM" sweep gather "$TMP/bad" >"$TMP/out" && says "2 of 4 points, 2 failed" && says "^1,hangs,.*,failed,0,killed after the time limit" "$TMP/bad/points.csv"'
check "sweep run tries again" status 3 sweep "$TMP/bad.json" --out "$TMP/bad" --jobs 2
check "sweep run --keep-failed does not" status 3 sweep "$TMP/bad.json" --out "$TMP/bad" --keep-failed
check "sweep run --keep-failed says so" says "^2 of 4 points done (2 before), 2 failed.$"

# ---- A changed file -------------------------------------------------------------------------------

changed() {
    cp -r "$TMP/whole" "$TMP/changed"
    write_sweep "$TMP/b.json" "1, 2, 3, 4" ', "replications": 5'
    status 0 sweep "$TMP/b.json" --out "$TMP/changed"
}
check "sweep changed" changed
check "sweep changed says so" says "^The sweep has changed: 33 of its points were there before, 0 others"
check "sweep changed computes what is new" says "^45 of 45 points done; $((33 + 12 * 5)) replications"
check "sweep changed gives the same bytes" eval 'sweep "$TMP/b.json" --out "$TMP/fresh" >/dev/null && same_tables "$TMP/changed" "$TMP/fresh"'
check "sweep changed back" eval 'status 0 sweep "$TMP/a.json" --out "$TMP/changed" && says "^33 of 33 points done (33 before)" && same_tables "$TMP/changed" "$TMP/whole"'

# ---- Tables to look at ----------------------------------------------------------------------------

check "sweep show" status 0 "$HVSIM" sweep show "$TMP/whole" --rows load --cols slice --metric latency_p90 --where hogs=2 --plot none --best least
check "sweep show heads the table" says '^load \\ slice '
check "sweep show marks the best" eval 'says " <" && says "with 4 replications none can be called worse"'
check "sweep show pages" eval 'status 0 "$HVSIM" sweep show "$TMP/whole" --rows load --cols slice --metric throughput --plot none && says "^hogs=3$"'
check "sweep show knows its axes" eval 'status 2 "$HVSIM" sweep show "$TMP/whole" --rows lood --metric throughput && says "did you mean \"load\"" "$TMP/err"'
check "sweep show wants one metric" eval 'status 2 "$HVSIM" sweep show "$TMP/whole" --rows load --cols slice --metric "lat*" && says "means several" "$TMP/err"'
if command -v gnuplot >/dev/null; then
    check "sweep show draws" eval '"$HVSIM" sweep show "$TMP/whole" --rows load --cols hogs --metric latency_mean --where slice=5ms --name p >/dev/null && grep -q "</svg>" "$TMP/whole/p.svg"'
else
    echo "skip sweep show draws: no gnuplot"
fi

# ---- The library's sweeps ---------------------------------------------------------------------------

for file in experiments/library/*.sweep.json; do
    check "sweep plan of $(basename "$file")" "$HVSIM" sweep plan --no-trial "$file"
done

# ---- Mistakes -------------------------------------------------------------------------------------

sed 's|/tslice|/tslize|' "$TMP/a.json" >"$TMP/typo.json"
check "sweep refuses unknown places" status 2 "$HVSIM" sweep plan "$TMP/typo.json"
check "sweep names the axis" eval 'says "point 0 (slice=1ms.*: axis slice /hosts/0/scheduler/tslize" "$TMP/err" && says "tslice" "$TMP/err"'
sed 's|latency_\*|latensy_p99|' "$TMP/a.json" >"$TMP/typo2.json"
check "sweep refuses unknown metrics" eval 'status 2 "$HVSIM" sweep plan "$TMP/typo2.json" && says "did you mean \"latency_p99\"" "$TMP/err"'
check "sweep says what can be done" eval 'status 2 "$HVSIM" sweep && says "sweep plan, sweep run" "$TMP/err"'
check "sweep gather wants a sweep" eval 'status 2 "$HVSIM" sweep gather "$TMP" && says "not the directory of a sweep" "$TMP/err"'
check "sweep run wants a directory" eval 'status 2 "$HVSIM" sweep run "$TMP/a.json" && says "out is missing" "$TMP/err"'
