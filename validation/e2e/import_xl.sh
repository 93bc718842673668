#!/bin/sh
# A scenario from what an operator can print on a Xen host: it must run.
set -u
cd "$TMP" || exit 1
ok() { echo "ok import_xl/$1"; }
fail() { echo "FAIL import_xl/$1: $2"; }

cat >info <<'X'
host                   : dom0.example
release                : 6.1.0-18-amd64
machine                : x86_64
nr_cpus                : 4
max_cpu_id             : 3
nr_nodes               : 1
cores_per_socket       : 2
threads_per_core       : 2
cpu_mhz                : 2294.608
xen_version            : 4.17.3
X
cat >vcpus <<'X'
Name                                ID  VCPU   CPU State   Time(s) Affinity (Hard / Soft)
Domain-0                             0     0    0   r--     102.3  0 / all
Domain-0                             0     1    1   -b-      90.1  0-1 / all
web server                           1     0    2   -b-      12.0  all / all
db                                   2     0    3   r--      55.5  2-3 / 3
X
sed -i 's/web server/web-server/' vcpus
cat >credit <<'X'
Cpupool Pool-0: tslice=5ms ratelimit=1000us migration-delay=0us
Name                                ID Weight  Cap
Domain-0                             0    512    0
web-server                           1    256   50
db                                   2   1024    0
X
if "$HVSIM" import xl info vcpus credit >host.json 2>err; then
    ok writes
else
    fail writes "$(head -3 err)"
fi
for want in '"pcpus": 4' '"tslice": "5ms"' '"weight": 1024' '"cap": 50' '"hard_affinity": "2-3"' \
    '"threads_per_core": 2'; do
    grep -q "$want" host.json || fail holds "no $want in the scenario"
done
if "$HVSIM" run --quiet --replications 2 --set /duration=2s --set /warmup=1s host.json >out 2>&1 &&
    grep -q 'xen/db' out; then
    ok runs
else
    fail runs "$(tail -3 out)"
fi
"$HVSIM" import xl vcpus credit >out 2>&1
[ $? -eq 2 ] && grep -q 'xl info' out && ok missing_info || fail missing_info "$(head -2 out)"
echo 'what is this' >odd
"$HVSIM" import xl info odd vcpus >out 2>&1
[ $? -eq 2 ] && grep -q 'odd:1: not understood' out && ok odd || fail odd "$(head -2 out)"
cat >pools <<'X'
Name               CPU list
Pool-0             0-1
fast               2,3
X
cat >credit2 <<'X'
Cpupool Pool-0: tslice=30ms ratelimit=1000us migration-delay=0us
Name                                ID Weight  Cap
Domain-0                             0    256    0
Cpupool fast: ratelimit=1000us
Name                                ID Weight  Cap
web-server                           1    256    0
db                                   2    512    0
X
sed 's/2-3 \/ 3/all \/ all/; s/0-1 \/ all/all \/ all/; s/0 \/ all/all \/ all/' vcpus >vcpus2
if "$HVSIM" import xl info vcpus2 pools credit2 >two.json 2>err &&
    "$HVSIM" run --quiet --replications 2 --set /duration=2s --set /warmup=1s two.json >out 2>&1; then
    ok pools
else
    fail pools "$(tail -3 err out)"
fi
