#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Ping, fair shares and the latency of disks, where the answer is known beforehand.

set -u
export LC_ALL=C

ok() { echo "ok others: $1"; }
fail() { echo "FAIL others: $1: $2"; }
within() { # NAME X LOW HIGH
    if awk -v x="$2" -v a="$3" -v b="$4" 'BEGIN { exit !(x != "" && x >= a && x <= b) }'; then ok "$1"; else fail "$1" "$2, wanted $3 to $4"; fi
}
# run NAME OPTION...: simulate $TMP/NAME.json into $TMP/NAME.d
run() {
    local name=$1
    shift
    rm -rf "$TMP/$name.d"
    "$HVSIM" run "$TMP/$name.json" --quiet --out "$TMP/$name.d" "$@" >"$TMP/$name.txt" 2>"$TMP/$name.err" || fail "$name runs" "$(head -n 2 "$TMP/$name.err")"
}
# figure NAME FILE SUBJECT COLUMN of one of a run's CSV files
figure() { awk -F, -v s="$3" -v c="$4" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == c) at = i; next } $1 == s { print $at; exit }' "$TMP/$1.d/$2.csv"; }

# Two hogs on the guest's pCPU, in turns of 30 ms: a request waits for the rest of one turn and for the
# whole of the other, 45 ms in the mean and never more than 60, and no program answers it.
cat >"$TMP/ping.json" <<'END'
{ "version": 1, "warmup": "300ms", "duration": "30s", "replications": 4, "platform": "one-host-10g.platform.xml",
  "hosts": [ { "name": "xen", "pcpus": 2, "scheduler": { "type": "rr", "slice": "30ms" }, "dom0": { "hard_affinity": "0" },
    "domains": [ { "name": "guest", "hard_affinity": "1", "network": {} },
                 { "name": "hog", "count": 2, "hard_affinity": "1", "programs": [ { "run": "hog" } ] } ] } ],
  "clients": [ { "name": "ping", "on": "client", "to": "guest", "ping": { "interval": "173ms" } },
               { "name": "host", "on": "client", "to": "xen/dom0", "ping": { "interval": "173ms" } } ] }
END
run ping
within "a ping waits for the turns of others" "$(figure ping clients ping latency_mean_ms)" 44 46
within "but no longer" "$(figure ping clients ping latency_max_ms)" 55 61
within "dom0 answers at once" "$(figure ping clients host latency_max_ms)" 0.03 0.15
within "as many as were sent" "$(figure ping clients ping throughput_per_s)" 5.7 5.85
sed 's/, "network": {}//' "$TMP/ping.json" >"$TMP/deaf.json"
if "$HVSIM" run "$TMP/deaf.json" --quiet >/dev/null 2>"$TMP/err"; then fail "no network, no ping" "it runs"; elif grep -q 'has no network' "$TMP/err"; then ok "no network, no ping"; else fail "no network, no ping" "$(head -n 1 "$TMP/err")"; fi

# Three hogs on one pCPU, one of twice the weight: a half and two quarters. rr knows no weights and
# gives a third to each: a third more than entitled to the light ones, a third less to the heavy one.
cat >"$TMP/fair.json" <<'END'
{ "version": 1, "warmup": "300ms", "duration": "15s", "replications": 4, "platform": "one-host.platform.xml",
  "hosts": [ { "name": "xen", "pcpus": 1, "scheduler": "credit",
    "domains": [ { "name": "light", "count": 2, "programs": [ { "run": "hog" } ] },
                 { "name": "heavy", "weight": 512, "programs": [ { "run": "hog" } ] } ] } ] }
END
run fair
within "the heavy one is entitled to a half" "$(figure fair groups xen/heavy entitled_percent)" 49.99 50.01
within "Credit gives it about that" "$(figure fair hosts xen deviation_percent)" 0 4
run fair --set /hosts/0/scheduler=rr
within "rr deviates by a third" "$(figure fair groups xen/heavy deviation_percent)" 33 34
within "Jain's index is of equal shares" "$(figure fair groups xen/light fairness_1)" 0.999 1

# Weights are of each vCPU; who may run where must be clear.
run fair --set /hosts/0/domains/1/weight=256 --set /hosts/0/domains/1/vcpus=2 --set /hosts/0/scheduler=credit
within "two vCPUs are entitled to twice as much" "$(figure fair groups xen/heavy entitled_percent)" 49.99 50.01
run fair --set /hosts/0/pcpus=2 --set /hosts/0/domains/0/hard_affinity=0
if [ -z "$(figure fair hosts xen deviation_percent)" ]; then ok "sets of pCPUs that overlap say nothing"; else fail "sets of pCPUs that overlap say nothing" "$(figure fair hosts xen deviation_percent)"; fi
run fair --set /hosts/0/pcpus=2 --set /hosts/0/domains/0/hard_affinity=0 --set /hosts/0/domains/1/hard_affinity=1
within "apart, each has its own" "$(figure fair groups xen/heavy entitled_percent)" 99.99 100.01

# One request at a time on an idle host: the disk's own time and little more.
cat >"$TMP/disk.json" <<'END'
{ "version": 1, "warmup": "300ms", "duration": "5s", "replications": 3, "platform": "one-host.platform.xml",
  "hosts": [ { "name": "xen", "pcpus": 2, "block": { "disk": { "read": "4ms" } }, "dom0": {},
    "domains": [ { "name": "reader", "disk": {}, "programs": [ { "run": "disk" } ] } ] } ] }
END
run disk
within "a read takes the disk's time" "$(figure disk groups xen/reader disk_latency_p50_ms)" 4.5 4.65
within "and always" "$(figure disk groups xen/reader disk_latency_max_ms)" 4.5 4.7
if grep -q '^Disk requests, ms' "$TMP/disk.txt"; then ok "the table shows it"; else fail "the table shows it" "$(head -n 5 "$TMP/disk.txt")"; fi

# A scheduler's parameters of a domain: vSlicer lets a marked VM run after each turn of another, so it
# waits for one turn of 30 ms, not for two.
for marked in true false; do
    cp experiments/library/published-slice.json "$TMP/vslicer_$marked.json"
    run "vslicer_$marked" --replications 4 --set /duration=5s --set /hosts/0/scheduler=vslicer --set "/hosts/0/domains/0/set={\"scheduler\": \"vslicer\", \"latency_sensitive\": $marked}"
done
within "a marked VM waits for one turn" "$(figure vslicer_true clients ping latency_max_ms)" 25 31
within "others for two" "$(figure vslicer_false clients ping latency_max_ms)" 57 62

# Overload, ten times what the server can do: the run takes no more memory for 40 s than for 1 s, in
# which 60,000 requests were meant to be sent. (The least address space, in KiB, that 1 s needs,
# and 2 MiB: less than a byte for each of the further requests.)
cat >"$TMP/overload.json" <<'END'
{ "version": 1, "replications": 1, "warmup": "1s", "duration": "1s", "platform": "one-host-10g.platform.xml",
  "hosts": [ { "name": "xen", "pcpus": 2, "scheduler": "credit", "dom0": { "hard_affinity": "0" },
    "domains": [ { "name": "server", "hard_affinity": "1", "network": {}, "programs": [ { "run": "rpc" } ] },
                 { "name": "hog", "hard_affinity": "1", "programs": [ { "run": "hog" } ] } ] } ],
  "clients": [ { "name": "client", "to": "server", "load": { "loop": "open", "connections": 64, "depth": 8, "arrivals": "poisson(60000/s)" } } ] }
END
limited() { # KIB DURATION
    (ulimit -c 0 && ulimit -v "$1" && "$HVSIM" run "$TMP/overload.json" --quiet -j1 --set "/duration=$2" --json) >"$TMP/overload.out" 2>&1
}
if [ "${SANITIZED:-}" = 1 ]; then
    echo "skip others: memory in overload: AddressSanitizer's shadow breaks limits on memory"
else
    kib=32768
    while ! limited $kib 1s 2>/dev/null && [ $kib -lt 400000 ]; do kib=$((kib + kib / 32)); done
    if limited $((kib + 2048)) 40s; then ok "memory is flat in overload"; else fail "memory is flat in overload" "$kib KiB and 2 MiB are too little: $(tail -n 1 "$TMP/overload.out")"; fi
    refused=$(sed -n 's/.*"refused": \([0-9]*\).*/\1/p' "$TMP/overload.out")
    if [ "${refused:-0}" -gt 1000000 ]; then ok "what it did not take was refused and counted"; else fail "what it did not take was refused and counted" "${refused:-nothing}"; fi
fi
