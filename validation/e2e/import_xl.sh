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

# ---- xl list -l -----------------------------------------------------------------------------------

cat >list.json <<'X'
[
    {
        "domid": 0,
        "config": {
            "c_info": { "type": "pv", "name": "Domain-0", "uuid": "00000000-0000-0000-0000-000000000000" },
            "b_info": {
                "max_vcpus": 4, "avail_vcpus": [ 0, 1 ], "max_memkb": 17179869180,
                "target_memkb": 2097152, "sched_params": { "sched": "credit2", "weight": 512, "cap": 0 },
                "claim_mode": "False", "type.pv": {}
            }
        }
    },
    {
        "domid": 7,
        "config": {
            "c_info": {
                "type": "pvh", "hap": "True", "name": "web server", "run_hotplug_scripts": "True",
                "uuid": "5f7e3c9a-13a0-4c0a-9d2e-6d3c2b1a0f4e", "pool_name": "Pool-0", "passthrough": "disabled"
            },
            "b_info": {
                "max_vcpus": 4, "avail_vcpus": [ 0, 2, 3 ],
                "vcpu_hard_affinity": [ [ 0, 1 ], [ 3 ], [ 0, 1, 2, 3 ], [ 0, 2, 3 ] ],
                "vcpu_soft_affinity": [ [ 1 ], [ 3 ], [ 2 ], [ 2 ] ],
                "numa_placement": "False", "max_memkb": 4194304, "target_memkb": 4194304,
                "shadow_memkb": 34816, "sched_params": { "sched": "credit2", "weight": 256, "cap": 150 },
                "kernel": "/boot/guest/vmlinuz", "cmdline": "root=/dev/xvda1 ro", "event_channels": 1023,
                "type.pvh": { "pvshim": "False" }, "arch_arm": {}, "arch_x86": {}
            },
            "disks": [
                { "pdev_path": "/dev/vg0/web", "vdev": "xvda", "backend": "phy", "format": "raw", "readwrite": 1 },
                { "vdev": "xvdc", "backend": "qdisk", "format": "empty", "is_cdrom": 1 }
            ],
            "nics": [ { "devid": 0, "mac": "00:16:3e:5e:6c:00", "bridge": "xenbr0", "script": "/etc/xen/scripts/vif-bridge", "nictype": "vif" } ],
            "on_reboot": "restart", "on_soft_reset": "soft_reset"
        }
    },
    {
        "domid": 9,
        "config": {
            "c_info": { "type": "pv", "name": "control", "pool_name": "rt" },
            "b_info": {
                "max_vcpus": 2, "avail_vcpus": [ 0, 1 ], "target_memkb": 524288,
                "sched_params": { "sched": "rtds", "period": 20000, "budget": 5000, "extratime": 0 }
            }
        }
    }
]
X
cat >pools3 <<'X'
Name               CPU list
Pool-0             0,1,2
rt                 3
X
if "$HVSIM" import xl info list.json pools3 >listed.json 2>err; then
    ok list_writes
else
    fail list_writes "$(head -3 err)"
fi
# has NAME PATTERN: on one line of the scenario
has() {
    if grep -q "$2" listed.json; then ok "$1"; else fail "$1" "no $2 in the scenario"; fi
}
has list_name '"name": "web_server"'
has list_vcpus_online '"vcpus": 3'
has list_cap '"cap": 150'
has list_dom0_weight '"weight": 512'
has list_affinity '"vcpus": "0", "hard_affinity": "0-1", "soft_affinity": "1"'
has list_all_is_none '"vcpus": "1", "hard_affinity": "all", "soft_affinity": "2"'
has list_ranges '"vcpus": "2", "hard_affinity": "0,2-3", "soft_affinity": "2"'
has list_network '"network": {}'
has list_disk '"disk": {}'
has list_memory '4096 MiB, 1 more vCPUs are offline, NIC on xenbr0, /dev/vg0/web'
has list_pool '"pool": "rt"'
has list_sched '"type": "credit2"'
has list_reservation \
    '"set": {"scheduler": "rtds", "period": "20000us", "budget": "5000us", "extratime": false}'
[ "$(grep -c '"disk": {}' listed.json)" = 1 ] && ok list_no_cdrom || fail list_no_cdrom "two disks"
if "$HVSIM" run --quiet --replications 2 --set /duration=2s --set /warmup=1s listed.json >out 2>&1 &&
    grep -q 'xen/web_server' out; then
    ok list_runs
else
    fail list_runs "$(tail -3 out)"
fi

# What xl vcpu-list tells is the live state: it wins, whatever comes first.
cat >live <<'X'
Name                                ID  VCPU   CPU State   Time(s) Affinity (Hard / Soft)
web-server                           7     0    2   -b-      12.0  2 / all
X
"$HVSIM" import xl info list.json live pools3 >one.json 2>err
"$HVSIM" import xl live pools3 info list.json >other.json 2>>err
if grep -q '"vcpus": "0", "hard_affinity": "2", "soft_affinity": "all"' one.json; then ok list_live
else fail list_live "$(cat err)"; fi
grep -q '"vcpus": "0", "hard_affinity": "2", "soft_affinity": "all"' other.json &&
    ok list_live_first || fail list_live_first "the order of files matters"

# wrong NAME SED PATTERN: a spoilt list; the place must be told
wrong() {
    sed "$2" list.json >spoilt.json
    "$HVSIM" import xl info spoilt.json pools3 >out 2>err
    code=$?
    if [ $code -eq 2 ] && [ ! -s out ] && grep -q "$3" err; then ok "$1"
    else fail "$1" "exit $code: $(head -2 err)"; fi
}
wrong list_torn '30,$d' 'spoilt.json:.*'
wrong list_weight 's/"weight": 512/"weight": 0/' \
    'spoilt.json:8:80: /0/config/b_info/sched_params/weight: .*from 1 to 65535'
wrong list_kind 's/"nics": \[ \(.*\) \],/"nics": \1,/' '/1/config/nics: found an object.*has an array here'
wrong list_order 's/\[ 0, 1 \], \[ 3 \]/[ 1, 0 ], [ 3 ]/' '/1/config/b_info/vcpu_hard_affinity/0/1'
wrong list_name_missing 's/"name": "control", //' '/2: the domain.s "config" / "c_info" / "name"'
wrong list_not_domains 's/"config"/"conf"/' '/0: found an object.*has a domain, an object with'
echo '[ 1, { "domid": "x", "config": { "c_info": { "name": 5 } } } ]' >list.json
wrong list_number 's/a/a/' '/0: found 1: xl list -l has a domain'
wrong list_name_number 's/a/a/' '/1/config/c_info/name: found 5: xl list -l has a string here'
