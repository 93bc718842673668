#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# fetch.sh: Debian's Xen, kernels and tools into the cache. Does nothing that was done before.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
need apt-get dpkg-deb

[ -f "$ROOT/fetched" ] && exit
mkdir -p "$CACHE"
apt_update

# The kernel that "linux-image-amd64" stands for today; dom0 needs CONFIG_XEN_DOM0, which the
# smaller cloud kernel does not have.
kernel() {
    private_apt apt-cache show "$1/$SUITE-security" "$1/$SUITE" 2>/dev/null |
        sed -n 's/^Depends: \(linux-image-[^ ,]*\).*/\1/p' | sort -V | tail -1
}
dom0=$(kernel linux-image-amd64)
guest=$(kernel linux-image-cloud-amd64)
[[ $dom0 && $guest ]] || die "no linux-image-amd64 in $MIRROR $SUITE"

download "$ROOT" "xen-hypervisor-$XEN-amd64" "xen-utils-$XEN" xen-utils-common xenstore-utils \
    libxentoolcore1 libxentoollog1 libxencall1 libxendevicemodel1 libxenevtchn1 \
    libxenforeignmemory1 libxengnttab1 libxenhypfs1 libxenstore4 "libxenmisc$XEN" \
    libyajl2 libuuid1 zlib1g liblzma5 libzstd1 libc6 libgcc-s1 \
    busybox-static "$dom0" "$guest"
echo "${dom0#linux-image-}" >"$ROOT/dom0-kernel"
echo "${guest#linux-image-}" >"$ROOT/guest-kernel"
touch "$ROOT/fetched"
