#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Make sure that what hvsim needs is installed:
#
#   validation/setup.sh [--missing] SET...       SET: build demo check check-all
#
# Each row of the table below is one need: how to see that it is met, and the Debian package that
# meets it. When all are met (the usual case) this takes some milliseconds and calls no package
# manager. Otherwise, on Debian and its relatives, apt installs exactly the missing packages
# (through sudo when not root); elsewhere, or with HVSIM_NO_INSTALL=1, their names are printed and
# the script fails. --missing only prints the packages that are missing, one a line.
#
# A need of "check-all" that cannot be met is a warning: the checks that use it are then listed as
# not run.
#
# Exit: 0 all met (or only check-all's missing), 1 not met, 2 usage.

set -u

# set        met when           package
needs() {
    cat <<'EOF'
build        cc                 gcc
build        libc               libc6-dev
build        cmd:ar             binutils
build        cmd:pkg-config     pkg-config
build        pc:simgrid>=3.32   libsimgrid-dev
build        pc:gsl             libgsl-dev
build        pc:libcjson        libcjson-dev
build        pc:zlib            zlib1g-dev
build        pc:sqlite3         libsqlite3-dev
build        pc:ncursesw        libncurses-dev
demo         cmd:gnuplot        gnuplot-nox
check        pc:check           check
check-all    cmd:clang          clang
check-all    clang-rt           libclang-rt-dev
check-all    cmd:clang-format   clang-format
check-all    cmd:clang-tidy     clang-tidy
check-all    cmd:cppcheck       cppcheck
check-all    cmd:shellcheck     shellcheck
check-all    cmd:valgrind       valgrind
check-all    cmd:gnuplot        gnuplot-nox
check-all    cmd:xenalyze       xen-utils-common
check-all    cmd:slurmctld      slurmctld
check-all    cmd:slurmd         slurmd
check-all    cmd:sbatch         slurm-client
check-all    cmd:munged         munge
check-all    cmd:chromium       chromium
check-all    cmd:chromedriver   chromium-driver
check-all    cmd:curl           curl
check-all    cmd:jq             jq
check-all    cmd:scdoc          scdoc
check-all    cmd:dh             debhelper
check-all    cmd:dpkg-buildpackage dpkg-dev
EOF
}

met() {
    case $1 in
    cc) command -v "${CC:-gcc}" >/dev/null || command -v gcc >/dev/null || command -v clang >/dev/null ;;
    libc) test -e /usr/include/stdlib.h ;;
    clang-rt) command -v clang >/dev/null &&
        test -e "$(clang -print-file-name=libclang_rt.fuzzer-x86_64.a)" ;;
    cmd:*) PATH=$PATH:/usr/sbin:/sbin command -v "${1#cmd:}" >/dev/null ;;
    pc:*) pkg-config --exists "$(echo "${1#pc:}" | sed 's/>=/ >= /')" 2>/dev/null ;;
    esac
}

# The packages that are missing for the sets $@; sets `missing`.
look() {
    missing=
    while read -r set how package; do
        case " $* " in *" $set "*) ;; *) continue ;; esac
        met "$how" || missing="$missing $package"
    done <<EOF
$(needs)
EOF
    missing=${missing# }
}

usage() {
    sed -n 's/^# \{0,1\}//; 3,20p' "$0" >&2
    exit 2
}

# Install $missing; quiet unless it fails. The package lists are fetched only if what is there does
# not do (a fresh system has none, an old one points to versions that are gone).
apt_install() {
    as_root=
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || return 1
        as_root=sudo
        [ -t 0 ] || as_root="sudo -n"
    fi
    log=$(mktemp) || return 1
    apt="$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300"
    echo "setup: installing $missing"
    # shellcheck disable=SC2086 # words on purpose
    if $apt install --no-install-recommends $missing >"$log" 2>&1 ||
        { $apt update >"$log" 2>&1 && $apt install --no-install-recommends $missing >>"$log" 2>&1; }
    then
        rm -f "$log"
        return 0
    fi
    sed 's/^/    /' "$log" | tail -n 30 >&2
    rm -f "$log"
    return 1
}

only_missing=
[ "${1:-}" = --missing ] && only_missing=1 && shift
[ $# -gt 0 ] || usage
for set in "$@"; do
    case $set in build | demo | check | check-all) ;; *) usage ;; esac
done

look "$@"
if [ -n "$only_missing" ]; then
    [ -z "$missing" ] || echo "$missing" | tr ' ' '\n'
    exit 0
fi
[ -n "$missing" ] || exit 0

if [ -z "${HVSIM_NO_INSTALL:-}" ] && command -v apt-get >/dev/null && command -v dpkg >/dev/null; then
    # One at a time if not all can be had together, so that one missing tool costs only itself.
    all=$missing
    if ! apt_install && [ "$all" != "${all#* }" ]; then
        for missing in $all; do
            apt_install || true
        done
    fi
    look "$@"
    [ -n "$missing" ] || exit 0
fi

required=
for set in "$@"; do
    [ "$set" = check-all ] || required="$required $set"
done
all_missing=$missing
# shellcheck disable=SC2086 # words on purpose
look $required
if [ -n "$missing" ]; then
    cat >&2 <<EOF
hvsim needs these packages, by their Debian names, and could not install them here:

    $missing

Install them with your system's package manager (as root), then run make again.
SimGrid must be 3.32 or later with its headers; elsewhere than on Debian and Ubuntu it may have to
be built from source (https://simgrid.org).
EOF
    exit 1
fi
echo "setup: not installed, so some checks will not run: $all_missing" >&2
exit 0
