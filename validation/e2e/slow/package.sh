#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# timeout: 900
#
# make dist, the Debian package built from it, and what it installs: a program that finds its files
# wherever it is put, man pages, completion, headers for schedulers. All in temporary directories.

set -u
export LC_ALL=C

ok() { echo "ok package: $1"; }
fail() { echo "FAIL package: $1: $2"; }

if ! git rev-parse --git-dir >/dev/null 2>&1; then
    echo "skip package: not a git repository, so there is no make dist"
    exit 0
fi
git clone -q . "$TMP/src" || { fail "a clone" "git clone failed" && exit 1; }
cd "$TMP/src" || exit 1
if make dist >"$TMP/dist.log" 2>&1 && ls hvsim-*.tar.gz >/dev/null 2>&1; then
    ok "make dist"
else
    fail "make dist" "$(tail -n 1 "$TMP/dist.log")"
    exit 1
fi
mkdir "$TMP/build"
tar -xzf hvsim-*.tar.gz -C "$TMP/build" && cd "$TMP"/build/hvsim-* || exit 1
if [ -s VERSION ] && [ ! -e .git ]; then ok "it knows its version"; else fail "it knows its version" "no VERSION"; fi

if ! command -v dpkg-buildpackage >/dev/null || ! command -v dh >/dev/null || ! command -v scdoc >/dev/null; then
    echo "skip package: dpkg-buildpackage, debhelper and scdoc are wanted"
    exit 0
fi
if DEB_BUILD_OPTIONS="nocheck parallel=2" dpkg-buildpackage -us -uc -b >"$TMP/package.log" 2>&1; then
    ok "dpkg-buildpackage"
else
    fail "dpkg-buildpackage" "$(grep -m 1 -i 'error' "$TMP/package.log" || tail -n 1 "$TMP/package.log")"
    exit 1
fi
dpkg-deb -x "$TMP"/build/hvsim_*.deb "$TMP/root" || exit 1
root=$TMP/root/usr
for f in bin/hvsim share/hvsim/library/rpc-12vm.json share/hvsim/library/report/page.js share/doc/hvsim/limits.md \
    share/doc/hvsim/labs/1/lab.json share/man/man1/hvsim.1.gz share/man/man1/hvsim-sweep-run.1.gz \
    share/bash-completion/completions/hvsim include/hvsim/scheduler.h lib/pkgconfig/hvsim.pc share/doc/hvsim/copyright; do
    [ -s "$root/$f" ] || fail "$f" "it is not in the package"
done
ok "files are where they belong"
cd "$TMP" || exit 1
hvsim=$root/bin/hvsim
unset HVSIM_DATA
try() { # NAME COMMAND...
    local name=$1
    shift
    if "$@" >"$TMP/try.out" 2>&1; then ok "$name"; else fail "$name" "$(tail -n 1 "$TMP/try.out")"; fi
}
try "it runs from anywhere" "$hvsim" run "$root/share/hvsim/library/rpc-12vm.json" --set /duration=1s --replications 2 -q --out "$TMP/r"
try "it finds what reports are made of" "$hvsim" report "$TMP/r" -o "$TMP/r.html"
try "it finds its manual" "$hvsim" doc models/credit
try "it finds its labs" "$hvsim" lab 1 --check 1=90ms
exit 0
