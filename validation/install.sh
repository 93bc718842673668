#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What `make install` does:
#
#   validation/install.sh BUILD DESTDIR PREFIX PUBLIC_HEADER
#   validation/install.sh --remove DESTDIR PREFIX
#
#   PREFIX/bin/hvsim
#   PREFIX/share/hvsim/library/      scenarios, platforms, the example of a scheduler plug-in
#   PREFIX/share/hvsim/validation/   reference schedules and figures for hvsim validate
#   PREFIX/share/doc/hvsim/          README, LICENSE, docs
#   PREFIX/share/bash-completion/completions/hvsim
#   PREFIX/share/man/man1/           a page for each command, if scdoc is installed
#   PREFIX/include/hvsim/            scheduler.h and the headers it includes, by their own paths
#   PREFIX/lib/pkgconfig/hvsim.pc    cflags for a scheduler plugin, version, datadir

set -eu
cd "$(dirname "$0")/.."

if [ "$1" = --remove ]; then
    to=$2$3
    rm -f "$to/bin/hvsim" "$to/lib/pkgconfig/hvsim.pc" \
        "$to/share/bash-completion/completions/hvsim" "$to"/share/man/man1/hvsim.1 \
        "$to"/share/man/man1/hvsim-*.1
    rm -rf "$to/share/hvsim" "$to/share/doc/hvsim" "$to/include/hvsim"
    exit 0
fi
build=$1 to=$2$3 prefix=$3 header=$4

put() { install -D -m "$1" "$2" "$3"; }

# put_tree FROM TO: the files below FROM, but no programs.
put_tree() {
    [ -d "$1" ] || return 0
    (cd "$1" && find . -type f ! -name '*.[ch]' ! -name '*.sh') | while read -r f; do
        put 644 "$1/$f" "$2/${f#./}"
    done
}

[ -x "$build/hvsim" ] || { echo "install: $build/hvsim was not built" >&2 && exit 1; }
put 755 "$build/hvsim" "$to/bin/hvsim"
put_tree experiments/library "$to/share/hvsim/library"
for d in xen papers; do
    put_tree "validation/$d" "$to/share/hvsim/validation/$d"
done
put_tree docs "$to/share/doc/hvsim"
for f in README.md LICENSE; do
    [ ! -f "$f" ] || put 644 "$f" "$to/share/doc/hvsim/$f"
done

# What is made of the program's tables.
if "$build/hvsim" doc --write "$build/doc"; then
    put 644 "$build/doc/completion/hvsim" "$to/share/bash-completion/completions/hvsim"
    if command -v scdoc >/dev/null; then
        for f in "$build"/doc/man/*.scd; do
            scdoc <"$f" >"${f%.scd}"
            put 644 "${f%.scd}" "$to/share/man/man1/$(basename "${f%.scd}")"
        done
    else
        echo "install: scdoc is not installed: no man pages" >&2
    fi
fi

# The compiler knows which headers belong to the public one.
"${CC:-cc}" -std=c17 -D_GNU_SOURCE= -I. -I/usr/include/cjson -MM "$header" |
    tr -s ' ' '\n' | grep '\.h$' | while read -r f; do
    put 644 "$f" "$to/include/hvsim/${f#include/hvsim/}"
done
mkdir -p "$to/lib/pkgconfig"
cat >"$to/lib/pkgconfig/hvsim.pc" <<EOF
prefix=$prefix
includedir=\${prefix}/include
datadir=\${prefix}/share/hvsim

Name: hvsim
Description: Simulator of hypervisor CPU scheduling: headers for schedulers of one's own
Version: $(sed -n 's/.*hvsim_version\[\] = "v\{0,1\}\(.*\)";/\1/p' "$build/gen/version.c")
Cflags: -I\${includedir} -I\${includedir}/hvsim -D_GNU_SOURCE=
EOF
