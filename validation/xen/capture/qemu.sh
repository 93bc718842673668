# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by `record`: which QEMU, and its command line. Sets `emulator`, and `qemu` by
# qemu_arguments.
#
# Under -icount every instruction takes 2 ns of virtual time, whatever the host does. QEMU then runs
# the emulated CPUs in turn: before 8.1 each until the next deadline of a timer, so that one may
# starve others; since 8.1 the turns are even. Where several are busy, a newer one than Debian 12's
# is taken from backports, unpacked into the cache.

qemu_program=${QEMU:-qemu-system-x86_64} qemu_data=()

# "8.2.1"; nothing if it is not there, which `need` tells of
qemu_version() { # PROGRAM
    { "$1" --version 2>/dev/null || true; } | sed -n 's/.*version \([0-9.]*\).*/\1/p'
}

even_turns() { # PROGRAM
    local version
    version=$(qemu_version "$1")
    [ -n "$version" ] && [ "$(printf '%s\n' 8.1 "$version" | sort -V | head -1)" = 8.1 ]
}

if [ "${interleave:?}" = 1 ] && ! even_turns "$qemu_program"; then
    backport=$CACHE/qemu
    if [ ! -x "$backport/usr/bin/qemu-system-x86_64" ] && ! ${dry:?}; then
        apt_update
        download "$backport" "qemu-system-x86/$SUITE-backports" "qemu-system-common/$SUITE-backports" \
            "qemu-system-data/$SUITE-backports" seabios
    fi
    qemu_program=$backport/usr/bin/qemu-system-x86_64
    qemu_data=(-L "$backport/usr/share/qemu" -L "$backport/usr/share/seabios")
fi
${dry:?} || need "$qemu_program"
version=$(qemu_version "$qemu_program")
# shellcheck disable=SC2034 # for NAME.json
emulator="QEMU $version TCG, icount shift=1 (500 MIPS, 1 instruction = 2 ns)"
[ "$interleave" = 0 ] || emulator="$emulator, pCPUs interleaved by a 1024 Hz timer"

qemu_arguments() {
    local dom0="console=hvc0 earlyprintk=xen rdinit=/init nokaslr mitigations=off"
    # or dom0's clock driver would take the interleaving timer's interrupts
    [ "$interleave" = 0 ] || dom0="initcall_blacklist=cmos_init $dom0"
    # -x2apic: with it QEMU 10 dies of "Bad icount read" as Xen starts its timer
    # shellcheck disable=SC2034,SC2054 # for the sourcing script; QEMU's options have commas
    qemu=("$qemu_program" "${qemu_data[@]}" -accel tcg,thread=single -icount shift=1,sleep=off
        -nodefaults -no-user-config -M pc -smp "${pcpus:?}" -m "${memory:?}"
        -cpu "qemu64,+rdtscp,+ssse3,+sse4.1,+sse4.2,+popcnt,-x2apic,-svm"
        -rtc base=2026-01-01T00:00:00,clock=vm -display none -vga none -no-reboot
        -serial "file:${work:?}/console" -kernel "${hypervisor:?}"
        -append "console=com1 com1=115200,8n1 loglvl=all guest_loglvl=warning noreboot=0 dom0_mem=640M,max:640M dom0_max_vcpus=1 dom0_vcpus_pin spec-ctrl=no xpti=no sched=${boot:?}"
        -initrd "$BUILD/dom0 $dom0,$work/dom0.cpio"
        -fsdev "local,id=host,path=$work/share,security_model=none"
        -device virtio-9p-pci,fsdev=host,mount_tag=host)
}
