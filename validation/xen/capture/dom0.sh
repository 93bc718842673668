#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# /init of dom0 (busybox): starts Xen's daemons, carries out /job (made by scenario.jq from a
# scenario), copies /out to the machine that records, and switches itself off.
#
# Until the copying nothing is asked of the outside, so that the same job gives the same trace.
# shellcheck disable=SC3045 # busybox's shell has what is used

export PATH=/bin:/sbin:/usr/bin:/usr/lib/xen-4.17/bin HOME=/
SCHED_RECORDS=0x0002f000

say() { echo "[$(cut -d' ' -f1 /proc/uptime)] $*"; }
fail() {
    say "FAILED: $*"
    echo "$*" >>/out/failed
    xl dmesg | tail -20
    finish
}

# Load modules whose names contain one of these.
load() {
    for file in /modules/*; do
        case $file in *9p* | *virtio* | *netfs* | *fscache*) kind=share ;; *) kind=xen ;; esac
        [ $kind != "$1" ] || insmod "$file" || say "insmod $file failed"
    done
}

start() {
    mount -t proc proc /proc
    mount -t sysfs sysfs /sys
    mount -t devtmpfs dev /dev
    mkdir -p /dev/pts /run/xen /run/xenstored /out
    ln -sf /run /var/run
    mount -t tmpfs tmp /var/lib/xenstored
    mount -t devpts devpts /dev/pts
    load xen
    mount -t xenfs xenfs /proc/xen
    echo 2 >/proc/sys/kernel/printk
    xenstored --pid-file /run/xenstored.pid || say "xenstored failed"
    xen-init-dom0
    xenconsoled --log=guest --log-dir=/var/log/xen --pid-file=/run/xenconsoled.pid
    ip link set lo up
    brctl addbr br0
    ip link set br0 address 00:16:3e:00:00:01
    ip addr add 10.0.0.1/24 dev br0
    ip link set br0 up
    say "dom0 is up"
}

finish() {
    say "done"
    load share
    mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=none host /host
    cp /out/* /host/
    umount /host
    poweroff -f
    sleep 1000
}

# ---- what a job is made of ----------------------------------------------------------------------

# pool SCHEDULER CPU...: the guests get a cpupool of their own. Credit hands out credit for all
# pCPUs of a pool: guests that are merely pinned to one pCPU of several have too much of it, and
# their weights mean nothing.
pool() {
    scheduler=$1
    shift
    list=
    for cpu; do
        xl cpupool-cpu-remove Pool-0 "$cpu"
        list="$list${list:+,}\"$cpu\""
    done
    printf 'name="P1"\nsched="%s"\ncpus=[%s]\n' "$scheduler" "$list" >/tmp/pool
    xl cpupool-create /tmp/pool || fail "no pool with $scheduler: is it built into this Xen?"
    POOL=P1
}

# guest NAME CPUS WEIGHT VCPUS "ARGUMENTS": boots it, and pauses it when it is ready
guest() {
    number=$((${number:-0} + 1))
    name=$1
    mac=00:16:3e:00:01:$(printf %02x $number)
    cat >"/tmp/$name" <<END
name="$name"
type="pv"
kernel="/guest/vmlinux"
ramdisk="/guest/initrd"
extra="console=hvc0 rdinit=/init quiet mitigations=off nokaslr nowatchdog tsc=reliable $5"
memory=112
vcpus=$4
cpus="$2"
pool="$POOL"
cpu_weight=$3
on_crash="destroy"
on_poweroff="destroy"
END
    case $5 in
    *ip=*)
        ip=${5##*ip=}
        echo "vif=['mac=$mac,bridge=br0,script=/etc/xen/scripts/vif']" >>"/tmp/$name"
        ;;
    *) ip= ;;
    esac
    xl create -q "/tmp/$name" || fail "guest $name cannot be built"
    wait_for=1500
    until grep -q "guest: ready" "/var/log/xen/guest-$name.log" 2>/dev/null; do
        sleep 0.2
        wait_for=$((wait_for - 1))
        [ $wait_for -gt 0 ] || fail "guest $name does not come up"
    done
    [ -z "$ip" ] || arp -s "${ip%% *}" "$mac" # no ARP in a trace
    xl pause "$name"
    GUESTS="$GUESTS $name"
    say "guest $name is ready"
}

# record SECONDS: let the guests go, and record them for so long
go() {
    for name in $GUESTS; do xl unpause "$name"; done
    sleep "$1"
}
record() {
    xentrace -D -e $SCHED_RECORDS -S 1024 -s 100 -T "$1" /out/trace || fail "xentrace"
}

# record_client ARGUMENTS...: record while the client runs
record_client() {
    xentrace -D -e $SCHED_RECORDS -S 1024 -s 200 /out/trace &
    xentrace=$!
    sleep 0.1
    client "$@" || fail "client $*"
    sleep 0.05
    kill -TERM $xentrace
    wait $xentrace
}

POOL=Pool-0
start
# shellcheck source=/dev/null
. /job
xl vcpu-list >/out/vcpus
for name in $GUESTS; do
    grep -q "guest: .*: " "/var/log/xen/guest-$name.log" && cat "/var/log/xen/guest-$name.log"
done
finish
