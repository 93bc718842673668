# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by the kit's scripts: where things are, and a private apt.

# shellcheck disable=SC2034 # for the sourcing scripts
{
    KIT=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
    CACHE=${HVSIM_CAPTURE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/hvsim-capture}
    MIRROR=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
    SECURITY=${DEBIAN_SECURITY_MIRROR:-$MIRROR-security}
    SUITE=bookworm
    XEN=4.17 # the version of that suite; part of its packages' names

    ROOT=$CACHE/root     # packages, unpacked: nothing of them is installed
    BUILD=$CACHE/build   # what QEMU boots
    XEN_RTDS=$CACHE/xen-rtds # Xen with the schedulers that Debian's does not have
}

die() {
    echo "${0##*/}: $*" >&2
    exit 2
}

need() {
    local tool
    for tool; do
        command -v "$tool" >/dev/null || die "$tool is not installed; see README.md, \"What it needs\""
    done
}

# apt with lists of its own: the machine's sources and state are neither needed nor touched, so that
# this works on any machine that has apt and Debian's keys.
private_apt() {
    local tool=$1 apt=$CACHE/apt
    shift
    "$tool" -q -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::State::lists="$apt/lists" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User=root \
        -o Dir::State::status="$apt/status" -o APT::Default-Release="" "$@"
}

apt_update() {
    local apt=$CACHE/apt keys=/usr/share/keyrings/debian-archive-keyring.gpg
    [ -f "$apt/updated" ] && return
    [ -f "$keys" ] || die "$keys is not there; install debian-archive-keyring"
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
    : >"$apt/status"
    {
        for type in deb deb-src; do
            echo "$type [signed-by=$keys] $MIRROR $SUITE main"
            echo "$type [signed-by=$keys] $SECURITY $SUITE-security main"
        done
        echo "deb [signed-by=$keys] $MIRROR $SUITE-backports main"
    } >"$apt/sources.list"
    private_apt apt-get update
    touch "$apt/updated"
}

# download DIR PACKAGE[/SUITE]...: unpack them into DIR
download() {
    local dir=$1 debs
    shift
    debs=$(mktemp -d "$CACHE/debs.XXXXXX")
    (cd "$debs" && private_apt apt-get download "$@")
    mkdir -p "$dir"
    for deb in "$debs"/*.deb; do
        dpkg-deb -x "$deb" "$dir"
    done
    (cd "$debs" && printf '%s\n' *.deb) >>"$CACHE/packages"
    rm -r "$debs"
}
