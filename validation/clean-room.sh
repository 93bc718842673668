#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The newcomer's first minutes, in a new minimal Debian 12 that has a compiler and make and nothing
# else: make without rights says which packages it needs; make check and make demo as root install
# them and work; the second time installs nothing.
#
#   validation/clean-room.sh [--keep] [TARGET...]       default: check demo
#
# Needs root, debootstrap and a Debian mirror; the mirror and proxy are those this system's apt
# uses. Takes what is committed. --keep leaves the room in place and prints where.
# Prints ok, FAIL or skip lines; exit 1 on any FAIL.

set -u
cd "$(dirname "$0")/.." || exit 1
keep=
[ "${1:-}" != --keep ] || { keep=1 && shift; }
targets=("${@:-check}")
[ $# -gt 0 ] || targets=(check demo)
status=0
ok() { echo "ok clean-room-$1"; }
fail() { echo "FAIL clean-room-$1: $2" && status=1; }
skip() { echo "skip clean-room: $1" && exit 0; }

[ "$(id -u)" = 0 ] || skip "not root"
command -v debootstrap >/dev/null || skip "no debootstrap"

# shellcheck disable=SC2016 # apt's own variables
# What apt here knows of bookworm: "URI suite component" of the main archive and its updates.
archives=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT) $(CREATED_BY) $(ORIGIN)' |
    awk '$4 == "Packages" && $5 == "Debian" && $2 ~ /^bookworm/ && $3 == "main" { print $1, $2, $3 }' |
    sort -u)
mirror=$(awk '$2 == "bookworm" { print $1; exit }' <<<"$archives")
[ -n "$mirror" ] || skip "apt knows no mirror of Debian 12"

room=$(mktemp -d "${TMPDIR:-/tmp}/hvsim-clean-room.XXXXXX")
chmod 755 "$room" # it becomes a / for everyone
# shellcheck disable=SC2317 # called by the trap
leave() {
    umount "$room/proc" "$room/dev/shm" "$room/dev/pts" 2>/dev/null
    if [ -n "$keep" ]; then echo "kept: $room"; else rm -rf --one-file-system "$room"; fi
}
trap leave EXIT
trap 'exit 130' INT TERM

echo "debootstrap into $room"
if ! debootstrap --variant=minbase --include=make,gcc,libc6-dev bookworm "$room" "$mirror" \
    >"$room.log" 2>&1; then
    tail -n 20 "$room.log"
    rm -f "$room.log"
    fail debootstrap "see above"
    exit 1
fi
rm -f "$room.log"
while read -r line; do echo "deb $line"; done <<<"$archives" >"$room/etc/apt/sources.list"
apt-config dump | grep -E '^Acquire::(http|https)::' >"$room/etc/apt/apt.conf.d/90clean-room"
cp /etc/resolv.conf /etc/hosts "$room/etc/" 2>/dev/null
mount -t proc proc "$room/proc" 2>/dev/null || mount --bind /proc "$room/proc" 2>/dev/null ||
    echo "(no /proc inside)"
mount --bind /dev/pts "$room/dev/pts" 2>/dev/null || echo "(no pseudo-terminals inside)"
git clone -q . "$room/srv/hvsim" || exit 1

inside() { chroot "$room" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    JOBS="${JOBS:-$(nproc)}" sh -c "cd /srv/hvsim && $1" </dev/null; }

# Without rights: a clear message that names the packages, and no attempt at anything else.
chroot "$room" useradd -m student 2>/dev/null
chown -R 1000:1000 "$room/srv/hvsim"
said=$(chroot "$room" setpriv --reuid 1000 --regid 1000 --clear-groups env -i HOME=/home/student \
    PATH=/usr/bin:/bin sh -c 'cd /srv/hvsim && make' 2>&1 </dev/null)
code=$?
if [ $code != 0 ] && grep -q 'libsimgrid-dev.*libgsl-dev' <<<"$said"; then
    ok no-rights
else
    fail no-rights "exit $code: $said"
fi
chown -R 0:0 "$room/srv/hvsim"

before=$(inside 'dpkg-query -W' | wc -l)
for target in "${targets[@]}"; do
    start=$SECONDS
    inside "make $target" >"$room/srv/$target.log" 2>&1
    code=$?
    echo "--- make $target: exit $code after $((SECONDS - start)) s, the end of what it printed:"
    tail -n 25 "$room/srv/$target.log"
    if [ $code = 0 ]; then ok "$target"; else fail "$target" "exit $code"; fi
    if [ "$target" = check ] && ! tail -n 1 "$room/srv/check.log" | grep -qE '^[0-9]+ passed, 0 failed$'; then
        fail check-last-line "$(tail -n 1 "$room/srv/check.log")"
    fi
done
echo "--- $(($(inside 'dpkg-query -W' | wc -l) - before)) packages were installed beside the base"

# Second time: without a network nothing is missed.
echo 'Acquire::http::Proxy "http://127.0.0.1:9/"; Acquire::https::Proxy "http://127.0.0.1:9/";' \
    >"$room/etc/apt/apt.conf.d/99no-network"
if inside "make && validation/setup.sh --missing build ${targets[*]} | grep . && exit 1 || exit 0" \
    >/dev/null 2>&1; then
    ok second-time
else
    fail second-time "make wants to install something again"
fi
exit $status
