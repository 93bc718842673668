#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# timeout: 300
#
# hvsim tune and hvsim capacity: what they find on a small host, the same for any number of workers;
# budgets; mistakes.

# shellcheck disable=SC2016 # what eval gets is for later
# shellcheck disable=SC2015 # failures of the middle are failures
true

set -u
export LC_ALL=C

. validation/checks.sh

# A server beside hogs on as many pCPUs: with fewer hogs it waits less, that is certain.
cat >"$TMP/host.json" <<'EOF'
{ "version": 1, "warmup": "50ms", "duration": "300ms", "drain": "50ms",
  "platform": "one-host-10g.platform.xml",
  "hosts": [ { "name": "xen", "pcpus": 2, "scheduler": "credit", "dom0": {},
      "domains": [ { "name": "web", "network": {}, "programs": [ { "run": "rpc" } ] },
                   { "name": "hog", "count": 2, "programs": [ { "run": "hog" } ] } ] } ],
  "clients": [ { "name": "web", "on": "client", "to": "web", "load": { "loop": "open",
      "connections": 16, "arrivals": "poisson(1000/s)", "demand": "exponential(100us)" } } ] }
EOF
tune() { "$HVSIM" tune "$TMP/host.json" --quiet "$@"; }
capacity() { "$HVSIM" capacity "$TMP/host.json" --quiet "$@"; }

hogs=(--over /hosts/0/domains/1/count=1..4)
check "tune without a bound" status 0 tune --minimise web:latency_mean "${hogs[@]}" --budget 200 --out "$TMP/free"
check "tune finds the fewest hogs" says "^best  *1 "
check "tune tells how to run it" says "^hvsim run .*--set '/hosts/0/domains/1/count=1' --replications"
check "tune shows what is now" says "as it is now  *2 "
check "tune keeps the budget" eval '[ "$(sed -n "s/^ *\"replications\": \([0-9]*\),\$/\1/p" "$TMP/free/tune.json" | head -n 1)" -le 200 ]'
check "tune writes what it tried" eval '[ "$(wc -l <"$TMP/free/tried.csv")" = 5 ] && says "^candidate,fate,count,replications,web:latency_mean_ms,web:latency_mean_low_ms," "$TMP/free/tried.csv"'

# CPU for the hogs, which one alone cannot take.
check "tune with a bound" status 0 tune --minimise web:latency_mean --subject-to 'xen/hog:cpu_share>=150%' "${hogs[@]}" --budget 300
check "tune drops what breaks the bound" says "^breaks xen/hog:cpu_share >= 150%  *1 "
check "tune finds the fewest hogs that do" says "^best, as it is now  *2 "

check "tune: no setting keeps the bound" status 1 tune --minimise web:latency_mean --subject-to 'xen/hog:cpu_share>=900%' "${hogs[@]}" --budget 100
check "tune says that none does" says "^No setting was found that keeps the constraints"

check "tune: a space without a valid setting" status 2 tune --minimise web:latency_mean --over /hosts/0/scheduler/tslice=1ms..30ms --set /hosts/0/scheduler='{"type":"credit"}' --budget 100
check "tune says what is wrong with it" says 'whole number of milliseconds.*1ms..30ms/1ms' "$TMP/err"
check "tune guesses a metric" status 2 tune --minimise p99.9 "${hogs[@]}"
check "tune says which" says 'did you mean "latency_p99.9"' "$TMP/err"

# shellcheck disable=SC2054 # commas of ours
mixed=(--maximise web:throughput --subject-to 'web:latency_p90<=20ms' --over /hosts/0/scheduler=credit,credit2
    --over /hosts/0/domains/0/weight=64..1024:log --over "/clients/0/load/arrivals=200/s..2000/s as poisson({})")
check "tune over choices and ranges" status 0 tune "${mixed[@]}" --budget 150 --jobs 1 --json
cp "$TMP/out" "$TMP/one.json"
check "tune with more workers" status 0 tune "${mixed[@]}" --budget 150 --jobs 4 --json
check "tune with more workers gives the same bytes" cmp "$TMP/one.json" "$TMP/out"
check "tune with another seed tries others" eval 'tune "${mixed[@]}" --budget 150 --seed 2 --json >"$TMP/out" && ! cmp -s "$TMP/one.json" "$TMP/out"'

check "tune wants an objective" eval 'status 2 tune "${hogs[@]}" && says "give --minimise" "$TMP/err"'
check "tune wants variables" eval 'status 2 tune --minimise latency_mean && says "nothing to vary" "$TMP/err"'
check "tune knows metrics" eval 'status 2 tune --minimise latensy_mean "${hogs[@]}" && says "did you mean \"latency_mean\"" "$TMP/err"'
check "tune checks units" eval 'status 2 tune --minimise latency_mean --subject-to "latency_p90<=5%" "${hogs[@]}" && says "a number in ms is wanted" "$TMP/err"'
check "tune refuses maxima" eval 'status 2 tune --minimise latency_max "${hogs[@]}" && says "no interval: use a quantile" "$TMP/err"'
check "tune wants bounds" eval 'status 2 tune --minimise latency_mean --subject-to latency_p90 "${hogs[@]}" && says "write METRIC<=LIMIT" "$TMP/err"'

vms=(--over /hosts/0/domains/1/count=1..12 --require 'web:latency_p90<=3ms')
check "capacity of virtual machines" status 0 capacity "${vms[@]}" --jobs 1 --json --out "$TMP/cap"
check "capacity is written" cmp "$TMP/out" "$TMP/cap/capacity.json"
cp "$TMP/out" "$TMP/one.json"
check "capacity with more workers" status 0 capacity "${vms[@]}" --jobs 3 --json
check "capacity with more workers gives the same bytes" cmp "$TMP/one.json" "$TMP/out"
between() { # kept_at is less than broken_at
    local kept broken
    kept=$(sed -n 's/.*"kept_at": "\?\([0-9]*\).*/\1/p' "$1")
    broken=$(sed -n 's/.*"broken_at": "\?\([0-9]*\).*/\1/p' "$1")
    [ -n "$kept" ] && [ -n "$broken" ] && [ "$kept" -lt "$broken" ] || { echo "kept '$kept', broken '$broken'"; return 1; }
}
check "capacity lies between" between "$TMP/one.json"
check "capacity of a load" status 0 capacity --over '/clients/0/load/arrivals=200/s..40000/s:log as poisson({})' --require 'web:throughput>=50/s' --require 'web:intended_mean<=60ms' --tolerance 30%
check "capacity tells both" says "^The bounds are kept at .*/s and broken at .*/s.$"
check "capacity: nothing is enough" status 1 capacity --over /hosts/0/domains/1/count=1..3 --require 'web:latency_p90<=1us'
check "capacity says so" says "no load was found at which they are kept"
check "capacity: everything is" eval 'status 0 capacity --over /hosts/0/domains/1/count=1..3 --require "web:latency_p90<=1s" && says "kept at 3, and no load was found" '
check "capacity wants a range" eval 'status 2 capacity --over /hosts/0/scheduler=credit,credit2 --require "latency_p90<=1s" && says "a range is wanted" "$TMP/err"'
