#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# timeout: 600
#
# The kit that records real Xen (validation/xen/capture), short of booting: scenarios are checked,
# what a wrong one lacks is said, and everything that QEMU would boot is built.
set -u
kit=validation/xen/capture

ok() { echo "ok capture_kit/$1"; }
fail() { echo "FAIL capture_kit/$1: $2"; }

for need in qemu-system-x86_64 jq gcc cpio lz4 apt-get; do
    if ! command -v "$need" >/dev/null; then
        echo "skip capture_kit: $need is not installed"
        exit 0
    fi
done

# ---- scenarios ------------------------------------------------------------------------------------

bad=
for scenario in "$kit"/scenarios/*.json validation/xen/captures/*/*.json; do
    "$kit/record" --check "$scenario" 2>>"$TMP/err" || bad="$bad $scenario"
done
if [ -z "$bad" ]; then ok scenarios; else fail scenarios "$bad: $(head -1 "$TMP/err")"; fi

# wrong NAME EDIT MESSAGE: the scenario after jq's edit is refused for this reason
wrong() {
    jq "$2" "$kit/scenarios/rtds_replicas.json" >"$TMP/wrong.json"
    "$kit/record" --check "$TMP/wrong.json" 2>"$TMP/err"
    local got=$?
    if [ $got -eq 2 ] && grep -q "$3" "$TMP/err"; then ok "$1"; else fail "$1" "exit $got: $(cat "$TMP/err")"; fi
}
wrong unknown_scheduler '.scheduler = "sedf"' 'scheduler "sedf": expected one of credit'
wrong unknown_role '.guests[0].role = "juggler"' 'role "juggler"'
wrong pcpu_0_taken '.guests_on.pcpus = [0]' 'a pCPU of guests_on is 0'
wrong pcpu_missing '.guests_on.pcpus = [2]' 'a pCPU of guests_on is 2'
wrong same_name '.guests[1].name = "f1"' 'two guests have the same name'
wrong no_server '.guests |= map(select(.role == "hog"))' 'no guest that serves'
wrong no_period 'del(.client.period_us)' 'expected how long to record'

# ---- what is booted -------------------------------------------------------------------------------

export HVSIM_CAPTURE_CACHE=${HVSIM_CAPTURE_CACHE:-$TMP/cache}
if ! timeout 200 "$kit/fetch.sh" >"$TMP/fetch" 2>&1; then
    echo "skip capture_kit/build: packages cannot be fetched: $(tail -1 "$TMP/fetch")"
    exit 0
fi
if timeout 300 "$kit/record" --dry-run "$kit/scenarios/waker.json" >"$TMP/dry" 2>&1; then
    ok dry_run
else
    fail dry_run "$(tail -3 "$TMP/dry")"
fi
if grep -q "^dom0: guest 'w1' 'all' 256 1 'run=waker sleep_us=5000 burst_us=300'$" "$TMP/dry" &&
    grep -q '^dom0: record 10$' "$TMP/dry"; then
    ok job
else
    fail job "$(grep ^dom0: "$TMP/dry" | head -5)"
fi
build=$HVSIM_CAPTURE_CACHE/build
if readelf -h "$build/xen" >/dev/null 2>&1 && readelf -h "$build/dom0" >/dev/null 2>&1; then
    ok kernels
else
    fail kernels "no ELF files in $build"
fi
cpio -t --quiet <"$build/dom0.cpio" >"$TMP/files" 2>/dev/null
missing=
for file in init guest/vmlinux guest/initrd bin/busybox bin/client usr/lib/xen-4.17/bin/xl \
    usr/lib/xen-4.17/bin/xentrace lib/x86_64-linux-gnu/libgcc_s.so.1 lib64/ld-linux-x86-64.so.2; do
    grep -qx "$file" "$TMP/files" || missing="$missing $file"
done
for module in xen-privcmd 9p xen-netback; do
    grep -q "^modules/.*-$module.ko$" "$TMP/files" || missing="$missing $module.ko"
done
if [ -z "$missing" ]; then ok dom0; else fail dom0 "not in it: $missing"; fi
