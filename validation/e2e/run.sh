#!/bin/sh
# hvsim run: figures that must come out, the files it writes, running its own resolved scenario.
set -u
cd "$TMP" || exit 1
ok() { echo "ok run/$1"; }
fail() { echo "FAIL run/$1: $2"; }

# holds NAME TEST...: a check by test(1)
holds() {
    name=$1
    shift
    if [ "$@" ]; then ok "$name"; else fail "$name" "not $*"; fi
}

cat >hogs.json <<'END'
{ "version": 1, "title": "two hogs and a sleeper", "replications": 3, "duration": "5s",
  "hosts": [ { "name": "xen", "pcpus": 1,
    "domains": [
      { "name": "hog", "count": 2, "programs": [ { "run": "hog" } ] },
      { "name": "heavy", "weight": 512, "programs": [ { "run": "hog" } ] } ] } ] }
END
cat >rpc.json <<'END'
{ "version": 1, "replications": 3, "warmup": "200ms", "duration": "2s",
  "hosts": [ { "name": "xen", "dom0": {},
    "domains": [ { "name": "server", "network": {}, "programs": [ { "run": "rpc" } ] } ] } ],
  "clients": [ { "name": "client", "to": "server" } ] }
END

# ---- figures --------------------------------------------------------------------------------------

"$HVSIM" run --quiet --out hogs hogs.json >hogs.txt 2>hogs.err
holds exit $? -eq 0
holds silent ! -s hogs.err
holds title "$(head -1 hogs.txt)" = 'two hogs and a sleeper'

# column FILE SUBJECT COLUMN: a cell of a CSV
column() {
    awk -F, -v subject="$2" -v column="$3" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) c = i; next }
        $1 == subject { print $c }' "$1"
}
# near NAME VALUE LOW HIGH
near() {
    if awk -v x="$2" -v a="$3" -v b="$4" 'BEGIN { exit !(x != "" && x >= a && x <= b) }'; then
        ok "$1"
    else
        fail "$1" "$2 is not between $3 and $4"
    fi
}
near busy "$(column hogs/hosts.csv xen utilisation_percent)" 99.9 100.0001
near share_of_256 "$(column hogs/groups.csv xen/hog cpu_share_percent)" 48 52
near share_of_512 "$(column hogs/groups.csv xen/heavy cpu_share_percent)" 48 52
near each_hog "$(column hogs/domains.csv xen/hog1 cpu_share_percent)" 23 27
near fairness "$(column hogs/groups.csv xen/hog fairness_1)" 0.99 1

"$HVSIM" run --quiet --out rpc rpc.json >rpc.txt 2>&1
holds rpc_exit $? -eq 0
near rpc_p50 "$(column rpc/clients.csv client latency_p50_ms)" 0.1 0.5
near rpc_throughput "$(column rpc/clients.csv client throughput_per_s)" 200 250
near rpc_failed "$(column rpc/clients.csv client failed_per_s)" 0 0
low=$(column rpc/clients.csv client latency_p50_low_ms)
near rpc_interval "$(column rpc/clients.csv client latency_p50_ms)" "$low" "$(column rpc/clients.csv client latency_p50_high_ms)"
holds no_interval "$(column rpc/clients.csv client latency_p99.9_low_ms)" = ''
holds max_without "$(column rpc/clients.csv client latency_max_low_ms)" = ''
if grep -q '"duration": ".*s" would give one' rpc.txt; then ok duration_told; else fail duration_told "$(tail -4 rpc.txt)"; fi
if grep -q '"metric": "latency_p99.9".*"no_interval": "fewer than 10.*"duration_needed"' rpc/results.json; then
    ok duration_in_results
else
    fail duration_in_results "$(grep 'latency_p99.9' rpc/results.json)"
fi
# what was told is enough
needed=$(sed -n 's/.*"duration": "\(.*s\)" would give one.*/\1/p' rpc.txt)
"$HVSIM" run --quiet --set "/duration=$needed" --out longer rpc.json >longer.txt 2>&1
near duration_suffices "$(column longer/clients.csv client latency_p99.9_low_ms)" 0.1 10

# ---- files ----------------------------------------------------------------------------------------

for f in results.json scenario.json clients.csv hosts.csv groups.csv replications.csv breakdown.csv \
    distributions.csv latency.hgrm intended.hgrm; do
    holds "file_$f" -s "rpc/$f"
done
pictures=0
command -v gnuplot >/dev/null && pictures=2
holds nothing_else "$(ls -A rpc | wc -l)" -eq $((12 + pictures))
# Of each range of latencies the parts are all of it.
if awk '/where latency comes from/ { on = 1; next } on && NF < 4 { on = 0 }
    on { sum = 0; for (i = NF; i > 3 && sum < 99.6; i--) sum += $i; rows++; if (sum > 100.4) bad = 1 }
    END { exit !(rows >= 3 && !bad) }' rpc.txt; then ok parts_are_told; else fail parts_are_told "$(grep -A 2 'where latency' rpc.txt)"; fi
if grep -q '"status": "assumed"' rpc/results.json && grep -q '"status": "exact"' rpc/results.json &&
    grep -q '"status": "cited"' rpc/results.json && grep -q '"status": "given"' rpc/results.json; then
    ok statuses
else
    fail statuses "not all of assumed, exact, cited, given are there"
fi
if grep -q "$(hostname)\|$(date +%Y-%m)\|/tmp/" rpc/results.json; then
    fail nothing_local "host name, date or path in results.json"
else
    ok nothing_local
fi

# ---- the same again -------------------------------------------------------------------------------

"$HVSIM" run --quiet --out again rpc/scenario.json >/dev/null 2>&1
if cmp -s rpc/results.json again/results.json; then ok resolved; else fail resolved "other bytes from the resolved scenario"; fi
if cmp -s rpc/scenario.json again/scenario.json; then ok resolved_twice; else fail resolved_twice "resolving is not idempotent"; fi
"$HVSIM" run --quiet --json rpc.json >json 2>/dev/null
if cmp -s rpc/results.json json; then ok json; else fail json "--json prints something else than results.json"; fi
"$HVSIM" run --quiet --json - <rpc.json >json 2>/dev/null
if cmp -s rpc/results.json json; then ok stdin; else fail stdin "other results from standard input"; fi
"$HVSIM" run --quiet --json --seed 2 rpc.json >seed 2>/dev/null
if cmp -s json seed; then fail seed "another seed, the same results"; else ok seed; fi
"$HVSIM" run --quiet --json --set /seed=2 rpc.json >set 2>/dev/null
if cmp -s seed set; then ok set; else fail set "--seed 2 and --set /seed=2 differ"; fi

# ---- traces, actions ------------------------------------------------------------------------------

"$HVSIM" run --quiet --trace t.csv --replications 1 rpc.json >/dev/null 2>&1
holds trace -s t.csv
cat >cap.json <<'END'
{ "version": 1, "replications": 1, "warmup": "1s", "duration": "4s",
  "hosts": [ { "name": "xen", "pcpus": 1,
    "domains": [ { "name": "hog", "programs": [ { "run": "hog" } ] } ] } ],
  "actions": [ { "at": "3s", "do": { "action": "set-cap", "cap": 20 }, "target": "hog" },
               { "at": "500ms", "do": "pause", "target": "hog" },
               { "at": "2s", "do": "unpause", "target": "hog" } ] }
END
"$HVSIM" run --quiet --out cap cap.json >/dev/null 2>&1
# 1 s paused, 1 s free, 2 s at 20 %: 1.4 of 4 s
near actions "$(column cap/groups.csv xen/hog cpu_share_percent)" 33 38

# Two domains come at run time, into pools of two schedulers; one of them goes again.
cat >create.json <<'END'
{ "version": 1, "replications": 1, "warmup": "1s", "duration": "4s",
  "hosts": [ { "name": "xen", "pcpus": 3, "dom0": {},
    "pools": [ { "name": "one", "cpus": "0-1" },
               { "name": "two", "cpus": "2", "scheduler": { "type": "credit2" } } ],
    "domains": [
      { "name": "late", "network": {}, "pool": "two", "programs": [ { "run": "rpc" } ] },
      { "name": "brief", "hard_affinity": "1", "programs": [ { "run": "hog" } ] },
      { "name": "hog", "pool": "two", "programs": [ { "run": "hog" } ] } ] } ],
  "clients": [ { "name": "client", "to": "late", "start": "3500ms", "load": { "loop": "open", "arrivals": "poisson(200/s)" } } ],
  "actions": [ { "at": "3s", "do": "create", "target": "late" },
               { "at": "2s", "do": "create", "target": "brief" },
               { "at": "4s", "do": "destroy", "target": "brief" } ] }
END
"$HVSIM" run --quiet --out create --trace create.csv create.json >create.txt 2>&1
holds create $? -eq 0
near created_and_destroyed "$(column create/groups.csv xen/brief cpu_share_percent)" 46 50.0001
near created_serves "$(column create/clients.csv client throughput_per_s)" 50 80
holds created_runs_where_it_may \
    "$(awk -F, '$2 == "switch_in" && $4 == 2 { print $3 }' create.csv | sort -u)" = 1
holds nothing_before_creation \
    "$(awk -F, '($4 == 1 || $4 == 2) && $1 < 2000000000' create.csv | wc -l)" -eq 0

# After a reboot of the host who was created is there again, who was not yet is not.
sed 's/"duration": "4s"/"duration": "6s", "platform": "one-host.platform.xml"/
     s/"to": "late"/"on": "client", &/; s/"at": "4s"/"at": "6s"/; s/"at": "3s"/"at": "5s"/
     s/"actions": \[/&{ "at": "3500ms", "do": { "action": "host-outage", "duration": "500ms" }, "target": "xen" },/' \
    create.json >outage.json
"$HVSIM" run --quiet --out outage --trace outage.csv outage.json >outage.txt 2>&1
holds outage_of_created $? -eq 0
# brief: from 2 to 3.5 and from 4 to 6 of 6 s, less up to 0.1 s at each start
near created_comes_back "$(column outage/groups.csv xen/brief cpu_share_percent)" 54 58.4
near created_later "$(column outage/clients.csv client throughput_per_s)" 20 50
