#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# build.sh: from the packages in the cache, what QEMU boots:
#
#     xen            Debian's hypervisor, unpacked
#     dom0           dom0's kernel, unpacked (or Xen would do it under emulation)
#     dom0.cpio      dom0's file system: busybox, Xen's tools, the client, the guests' kernel and theirs
set -euo pipefail
. "$(dirname "$0")/lib.sh"
need gcc cpio objdump strings xz lz4

dom0_kernel=$(cat "$ROOT/dom0-kernel") guest_kernel=$(cat "$ROOT/guest-kernel")
made_from=$(sha256sum "$KIT"/{build.sh,dom0.sh,vif.sh,guest.c,client.c} "$ROOT"/*-kernel | sha256sum)
[ "$(cat "$BUILD/made-from" 2>/dev/null)" = "$made_from" ] && exit
rm -rf "$BUILD"
mkdir -p "$BUILD"

# unpack_kernel VMLINUZ VMLINUX: a bzImage holds the kernel's ELF file, compressed.
unpack_kernel() {
    local packing magic program at
    for packing in '\xfd7zXZ\x00:xz -dc' '\x02\x21\x4c\x18:lz4 -dc' '\x1f\x8b\x08:gzip -dc' \
        '\x28\xb5\x2f\xfd:zstd -dc'; do
        magic=${packing%%:*} program=${packing#*:}
        while IFS=: read -r at _; do
            # what follows the compressed part makes the program complain: look at the result instead
            tail -c+$((at + 1)) "$1" | $program >"$2" 2>/dev/null || true
            readelf -h "$2" >/dev/null 2>&1 && return
        done < <(LC_ALL=C grep -obUaP "$magic" "$1" | cut -c1-20)
    done
    die "$1: no kernel found in it"
}

# pack DIR FILE: a file system for the kernel to unpack, the same bytes whenever it is made
pack() {
    find "$1" -exec touch -h -d 2026-01-01 {} +
    (cd "$1" && find . | LC_ALL=C sort | cpio -o -H newc -R 0:0 --reproducible --quiet) >"$2"
}

# modules KERNEL NAME...: their files, each after those that it depends on
modules() {
    local kernel=$1 name file depends
    shift
    for name; do
        case " ${listed:=} " in *" $name "*) continue ;; esac
        listed="$listed $name"
        file=$(find "$ROOT/lib/modules/$kernel" -name "$name.ko" -o -name "${name//-/_}.ko" \
            -o -name "${name//_/-}.ko" | head -1)
        [ -n "$file" ] || continue # built into the kernel
        depends=$(strings -a "$file" | sed -n 's/^depends=//p' | tr , ' ')
        # shellcheck disable=SC2086
        modules "$kernel" $depends
        echo "$file"
    done
}

# libraries FILE...: the shared libraries that they need, and that those need
libraries() {
    local library file
    for library in $(objdump -p "$@" 2>/dev/null | awk '$1 == "NEEDED" {print $2}' | sort -u); do
        case " ${found:=} " in *" $library "*) continue ;; esac
        found="$found $library"
        file=$(find "$ROOT/lib" "$ROOT/usr/lib" -name "$library" | head -1)
        [ -n "$file" ] || die "no package in the list has $library"
        libraries "$file"
        cp -L "$file" "$d0/lib/x86_64-linux-gnu/$library"
    done
}

zcat "$ROOT/boot/xen-$XEN-amd64.gz" >"$BUILD/xen"
unpack_kernel "$ROOT/boot/vmlinuz-$dom0_kernel" "$BUILD/dom0"
for program in guest client; do
    gcc -std=c17 -D_GNU_SOURCE -O2 -static -s -o "$BUILD/$program" "$KIT/$program.c" -lm
done

guest=$BUILD/guest-root
mkdir -p "$guest"/{dev,proc}
cp "$BUILD/guest" "$guest/init"
cp "$(modules "$guest_kernel" xen-netfront | tail -1)" "$guest/xen-netfront.ko"

d0=$BUILD/dom0-root
tools=usr/lib/xen-$XEN/bin
mkdir -p "$d0"/{bin,sbin,dev,proc,sys,host,modules,etc/xen/scripts,lib/x86_64-linux-gnu,lib64} \
    "$d0"/{usr/bin,"$tools",var/log/xen,var/lib/xen,var/lib/xenstored,var/lock,run/xen,tmp,guest}
cp "$ROOT/bin/busybox" "$d0/bin/"
"$ROOT/bin/busybox" --list | grep -vx busybox | while read -r applet; do
    ln -s busybox "$d0/bin/$applet"
done
for tool in xl xentrace xenstored xenconsoled xen-init-dom0 libxl-save-helper; do
    cp "$ROOT/$tools/$tool" "$d0/$tools/"
done
cp -L "$ROOT/usr/bin/xenstore-write" "$d0/usr/bin/"
libraries "$d0/$tools"/* "$d0/usr/bin/xenstore-write"
# not "needed" but opened when a thread ends: without it xl aborts after it has built a domain
cp -L "$(find "$ROOT" -name libgcc_s.so.1 | head -1)" "$d0/lib/x86_64-linux-gnu/"
cp -L "$(find "$ROOT/lib" -name ld-linux-x86-64.so.2 | head -1)" "$d0/lib64/"
printf 'autoballoon="off"\nclaim_mode=0\n' >"$d0/etc/xen/xl.conf"
cp "$BUILD/client" "$d0/bin/"
cp "$KIT/dom0.sh" "$d0/init"
cp "$KIT/vif.sh" "$d0/etc/xen/scripts/vif"
chmod 755 "$d0/init" "$d0/etc/xen/scripts/vif"
number=100
for file in $(modules "$dom0_kernel" xen-evtchn xen-gntdev xen-gntalloc xen-privcmd xenfs \
    virtio_pci 9pnet_virtio 9p bridge xen-netback); do
    cp "$file" "$d0/modules/$((number++))-${file##*/}"
done
unpack_kernel "$ROOT/boot/vmlinuz-$guest_kernel" "$d0/guest/vmlinux"
pack "$guest" "$d0/guest/initrd"
pack "$d0" "$BUILD/dom0.cpio"
rm -r "$d0" "$guest"
echo "$made_from" >"$BUILD/made-from"
