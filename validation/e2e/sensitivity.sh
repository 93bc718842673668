#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# timeout: 300
#
# hvsim sensitivity on a host where effects are known beforehand: a lone client whose requests wait
# for nobody, so that a longer demand or way is a longer latency by just as much.

set -u
export LC_ALL=C

ok() { echo "ok sensitivity: $1"; }
fail() { echo "FAIL sensitivity: $1: $2"; }

cat >"$TMP/idle.json" <<'END'
{ "version": 1, "warmup": "100ms", "duration": "1s", "replications": 8,
  "platform": "one-host-10g.platform.xml",
  "hosts": [ { "name": "xen", "pcpus": 2, "dom0": { "hard_affinity": "0" },
    "domains": [ { "name": "server", "hard_affinity": "1", "network": {}, "programs": [ { "run": "rpc" } ] } ] } ],
  "clients": [ { "name": "client", "to": "server", "load": { "think": "5ms" } } ] }
END
run() { "$HVSIM" sensitivity "$TMP/idle.json" --quiet --metric client:latency_mean "$@"; }

if run --budget 900 --out "$TMP/out" >"$TMP/out.txt" 2>"$TMP/err"; then ok exit; else fail exit "$? $(head -n 2 "$TMP/err")"; fi

# value PARAMETER VALUE COLUMN of sensitivity.csv
value() { awk -F, -v p="$1" -v v="$2" -v c="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == c || $i == c "_ms") at = i } $2 == p && $6 == v { print $at; exit }' "$TMP/out/sensitivity.csv"; }
within() { # NAME X LOW HIGH
    if awk -v x="$2" -v a="$3" -v b="$4" 'BEGIN { exit !(x != "" && x >= a && x <= b) }'; then ok "$1"; else fail "$1" "$2, wanted $3 to $4"; fi
}
within "a longer demand is a longer latency" "$(value /clients/-/load/demand 120us difference)" 0.058 0.062
within "a shorter one a shorter latency" "$(value /clients/-/load/demand 30us difference)" -0.031 -0.029
within "the client's way counts once" "$(value /clients/-/load/receive 50us difference)" 0.0245 0.0255
within "their interval holds the truth" "$(value /clients/-/load/receive 50us difference_low)" 0.0240 0.02501
ranks="$(value /clients/-/load/demand 120us rank) $(value /clients/-/load/receive 50us rank) $(value /clients/-/load/send 30us rank)"
if awk -v r="$ranks" 'BEGIN { n = split(r, x, " "); exit !(n == 3 && x[1] < x[2] && x[2] < x[3]) }'; then ok "larger effects rank first"; else fail "larger effects rank first" "$ranks"; fi
if [ "$(value /clients/-/load/demand 120us not_by_chance)" = yes ]; then ok "what is plain is no chance"; else fail "what is plain is no chance" "$(value /clients/-/load/demand 120us not_by_chance)"; fi
if sed -n '/changed nothing/,$p' "$TMP/out.txt" | grep -q '/hosts/-/block/disk/read'; then ok "what nobody uses changes nothing"; else fail "what nobody uses changes nothing" "no /hosts/-/block/disk/read"; fi
if grep -q '^/clients/-/load/demand  *60us  *30us ' "$TMP/out.txt"; then ok table; else fail table "$(sed -n 5,7p "$TMP/out.txt")"; fi

if ! command -v gnuplot >/dev/null; then
    echo "skip sensitivity: picture: no gnuplot"
elif [ -s "$TMP/out/sensitivity.svg" ] && grep -q 'load/demand' "$TMP/out/sensitivity.svg"; then
    ok picture
else
    fail picture "no sensitivity.svg that names the parameters"
fi

# A value's figure is that of a run with it.
n=$(value /clients/-/load/demand 120us replications)
"$HVSIM" run "$TMP/idle.json" --quiet --replications "$n" --set /clients/0/load/demand=120us --json >"$TMP/run.json" 2>/dev/null
figure=$(grep -o '"metric": "latency_mean", "unit": "ms", "value": [0-9.e-]*' "$TMP/run.json" | head -n 1 | grep -o '[0-9.e-]*$')
if [ -n "$figure" ] && [ "$figure" = "$(value /clients/-/load/demand 120us figure)" ]; then ok "a value is a run of its own"; else fail "a value is a run of its own" "$figure and $(value /clients/-/load/demand 120us figure)"; fi

# The same for any number of workers; --only; values that the scenario gives.
some=(--only '/clients/*/demand' --range /clients/-/load/think=4ms..6ms --budget 60 --json)
run "${some[@]}" -j 1 >"$TMP/one.json" 2>"$TMP/err"
run "${some[@]}" -j 3 >"$TMP/three.json" 2>>"$TMP/err"
if [ -s "$TMP/one.json" ] && cmp -s "$TMP/one.json" "$TMP/three.json"; then ok "any number of workers"; else fail "any number of workers" "$(head -n 2 "$TMP/err")"; fi
if [ "$(grep -c '"parameter":' "$TMP/one.json")" = 2 ] && grep -q '"value": "6ms"' "$TMP/one.json"; then ok "chosen parameters"; else fail "chosen parameters" "$(grep '"parameter"' "$TMP/one.json" | tr '\n' ' ')"; fi

refuses() { # NAME TEXT OPTION...
    local name=$1 text=$2 code=0
    shift 2
    "$HVSIM" sensitivity "$TMP/idle.json" --quiet "$@" >"$TMP/refused" 2>"$TMP/err" || code=$?
    if [ "$code" = 2 ] && grep -q -- "$text" "$TMP/err" && [ ! -s "$TMP/refused" ]; then ok "$name"; else fail "$name" "exit $code: $(head -n 1 "$TMP/err")"; fi
}
refuses "no metric" 'give --metric'
refuses "no such metric" 'latency_p98' --metric latency_p98
refuses "a small budget" 'budget 20 is too small: the first 2 replications' --metric client:latency_mean --budget 20
refuses "a budget that ends in the middle" 'is too small: .* take [0-9]* in all' --metric client:latency_mean --only '/clients/*/demand' --budget 10
refuses "a maximum" 'no interval' --metric client:latency_max
refuses "no such parameter" 'no parameter of this scenario' --metric client:latency_mean --range /hosts/-/nothing=1..2
refuses "a value out of range" 'range /clients/-/load/think' --metric client:latency_mean --range /clients/-/load/think=banana
refuses "nothing to vary" 'nothing that is assumed' --metric client:latency_mean --only '/nowhere*'
