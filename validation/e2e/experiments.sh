#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# timeout: 300
#
# Experiments with replicas: each page's tables hold what its command computes (here one row or a
# few of each; all of them in slow/experiments.sh), and what the pages use: sweeps in compare,
# actions that come again, hosts that fail at random, rare events.

# shellcheck disable=SC2016,SC2034 # what eval gets is for later
set -u
export LC_ALL=C HVSIM_DATA=$PWD/experiments

ok() { echo "ok experiments: $1"; }
fail() { echo "FAIL experiments: $1: $2"; }
check() { # NAME COMMAND...
    local name=$1
    shift
    if "$@" >"$TMP/out" 2>&1; then ok "$name"; else fail "$name" "$(tail -n 2 "$TMP/out" | tr '\n' ' ')"; fi
}
refused() { # NAME TEXT COMMAND...: exit 2, and the text
    local name=$1 text=$2 code=0
    shift 2
    "$@" >"$TMP/out" 2>&1 || code=$?
    if [ $code = 2 ] && grep -qF -- "$text" "$TMP/out"; then ok "$name"; else fail "$name" "exit $code: $(head -n 1 "$TMP/out")"; fi
}

# ---- The pages ----------------------------------------------------------------------------------

page() { # NAME AXIS=VALUE...
    local name=$1 where=() one
    shift
    for one in "$@"; do where+=(--where "$one"); done
    rm -rf "$TMP/page"
    if ! grep -qxF "    hvsim compare experiments/library/$name.sweep.json --out out/$name" "docs/experiments/$name.md"; then
        fail "$name" "the page does not show its command"
    elif ! "$HVSIM" compare "experiments/library/$name.sweep.json" "${where[@]}" -q --out "$TMP/page" >"$TMP/out" 2>&1; then
        fail "$name" "$(tail -n 1 "$TMP/out")"
    else
        docs/experiments/tables.sh --where "$1" "$name" "$TMP/page"
    fi
}
# Two variants at least: control.csv of one has no names.
page replicas-where "replicas=1 physical" | sed 's/^\(ok\|FAIL\) /&experiments: /'
page replicas-correlation scheduler=credit2 "neighbours=2 hogs" | sed 's/^\(ok\|FAIL\) /&experiments: /'
page replicas-causes "cause=the same, one after the other" | sed 's/^\(ok\|FAIL\) /&experiments: /'
page replicas-schedulers "setting=Credit2" | sed 's/^\(ok\|FAIL\) /&experiments: /'
page replicas-mixed "placement=2 physical, hosts fail" | sed 's/^\(ok\|FAIL\) /&experiments: /'
page replicas-modes "mode=2, active" | sed 's/^\(ok\|FAIL\) /&experiments: /'
page replicas-deadline "where=Credit2, one pCPU, 2 hogs" | sed 's/^\(ok\|FAIL\) /&experiments: /'

# A table that is not what the program computes is found.
cp docs/experiments/replicas-schedulers.md "$TMP/kept.md"
sed 's/^| Credit2 | 0 /| Credit2 | 1 /' "$TMP/kept.md" >"$TMP/wrong.md"
mkdir -p "$TMP/elsewhere/docs/experiments"
cp "$TMP/wrong.md" "$TMP/elsewhere/docs/experiments/replicas-schedulers.md"
"$HVSIM" compare experiments/library/replicas-schedulers.sweep.json --where setting=Credit2 -q --out "$TMP/page" >/dev/null
if (cd "$TMP/elsewhere" && "$OLDPWD/docs/experiments/tables.sh" --where x replicas-schedulers "$TMP/page") | grep -q ^FAIL; then
    ok "a wrong row is found"
else
    fail "a wrong row is found" "tables.sh said nothing"
fi

# ---- Sweeps in compare --------------------------------------------------------------------------

sweep=experiments/library/replicas-correlation.sweep.json
refused "an axis that is not there" 'write AXIS=VALUE' "$HVSIM" compare $sweep --where colour=red
refused "no point left" 'no point' "$HVSIM" compare $sweep --where scheduler=red
refused "--vary with a sweep" '--vary is for' "$HVSIM" compare $sweep --vary /seed=1,2
refused "--where with a scenario" '--where is for' "$HVSIM" compare experiments/library/replicas-study.json --where a=b --vary /seed=1,2

# ---- Actions that come again, hosts that fail ---------------------------------------------------

share() { # FILE COLUMN ROW: a cell of control.csv or replicas.csv of one variant
    awk -F, -v name="$2" -v row="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next } NR == row + 1 { print $c }' "$1"
}
between() { awk -v x="$1" -v a="$2" -v b="$3" 'BEGIN { exit !(x >= a && x <= b) }' || { echo "$1 is not between $2 and $3"; return 1; }; }

# Pauses of 100 ms each 500 ms: a fifth of the time, less the horizon of 10 ms.
pauses='/actions=[{"at": "1100ms", "every": "500ms", "do": "pause", "target": "r1"}, {"at": "1200ms", "every": "500ms", "do": "unpause", "target": "r1"}]'
check "actions that come again" eval '"$HVSIM" run experiments/library/replicas-one-host.json --set "$pauses" --set /duration=20s --set "/control/0/replicas=[{\"type\": \"domain\", \"domain\": \"r1\"}]" -q --out "$TMP/pauses" && between "$(share "$TMP/pauses/control.csv" late_percent 2)" 16 20'
node='/control/0/replicas=[{"type": "node", "on": "plc1"}]'
check "hosts that fail" eval '"$HVSIM" run experiments/library/replicas-one-host.json --set "$node" --set /duration=200s --set "/outages=[{\"host\": \"plc1\", \"mttf\": \"800ms\", \"mttr\": \"200ms\"}]" -q --out "$TMP/outages" && between "$(share "$TMP/outages/replicas.csv" crashed_percent 1)" 18 22'
refused "an outage of a host that is not there" '/outages/0/host' "$HVSIM" run experiments/library/replicas-one-host.json --set '/outages=[{"host": "plc9", "mttf": "1s", "mttr": "1s"}]'

# ---- Rare events --------------------------------------------------------------------------------

rare=("$HVSIM" rare experiments/library/replicas-rare.json --set /duration=2s --replications 4)
check "rare events" eval '"${rare[@]}" --levels 4ms,6ms,8ms --copies 3 --json >"$TMP/rare1" && "${rare[@]}" --levels 4ms,6ms,8ms --copies 3 --jobs 1 --json >"$TMP/rare2" && cmp "$TMP/rare1" "$TMP/rare2" && grep -q "\"copies_lost\": 0" "$TMP/rare1"'
check "copies reach more" eval '"${rare[@]}" --levels 4ms,6ms --copies 1 --json >"$TMP/plain" && [ "$(grep -o "\"seen\": [0-9]*" "$TMP/rare1" | sed -n "2s/.* //p")" -gt "$(grep -o "\"seen\": [0-9]*" "$TMP/plain" | sed -n "2s/.* //p")" ]'
refused "levels that descend" 'longer than the one before' "${rare[@]}" --levels 6ms,4ms
refused "a loop that is not there" 'no control loop' "${rare[@]}" --loop nets
refused "an agent in a domain" 'on a host of the platform' "${rare[@]}" --set /control/0/on=null --set '/control/0={"name": "g", "in": "xen1/dom0", "replicas": [{"type": "domain", "domain": "xen1/r"}]}'
