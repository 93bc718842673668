#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# build-xen.sh: Debian's Xen, from Debian's source with Debian's configuration, and RTDS and null
# besides: the package is built without them. Some five minutes, once.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
need apt-get gcc make bison flex python3

[ -f "$XEN_RTDS/xen" ] && exit
apt_update
mkdir -p "$XEN_RTDS"
cd "$XEN_RTDS"
[ -d source ] || {
    # The release's own: mirrors of the security archive may lack sources.
    private_apt apt-get source --download-only "xen/$SUITE"
    mkdir source.part
    tar -xf xen_*.orig.tar.* -C source.part --strip-components=1
    tar -xf xen_*.debian.tar.* -C source.part
    while read -r patch; do
        case $patch in '' | '#'*) continue ;; esac
        patch -d source.part -p1 -s <"source.part/debian/patches/$patch"
    done <source.part/debian/patches/series
    mv source.part source
}
cd source/xen
make -s XEN_TARGET_ARCH=x86_64 defconfig
cat >>.config <<'END'
CONFIG_EXPERT=y
CONFIG_UNSUPPORTED=y
CONFIG_SCHED_CREDIT=y
CONFIG_SCHED_CREDIT2=y
CONFIG_SCHED_RTDS=y
CONFIG_SCHED_NULL=y
CONFIG_SCHED_CREDIT2_DEFAULT=y
END
make -s XEN_TARGET_ARCH=x86_64 olddefconfig
grep -q '^CONFIG_SCHED_RTDS=y' .config || die "this Xen cannot be configured with RTDS"
nice make -s -j"$(nproc)" XEN_TARGET_ARCH=x86_64
sed -n '1s/.*(\(.*\)).*/\1/p' ../debian/changelog >"$XEN_RTDS/version"
cp xen "$XEN_RTDS/xen"
