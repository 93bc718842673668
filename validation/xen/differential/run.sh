#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later OR GPL-2.0-only
#
# Compares hvsim with Xen's own scheduler sources on random scenarios.
#
#   run.sh [OPTION...] XEN [SCHEDULER...]
#
# XEN: Xen's source tree (a directory with xen/common/sched in it), or REPOSITORY@TAG: a git
# repository (a directory or an address) and a tag of it, such as
# https://xenbits.xen.org/git-http/xen.git@RELEASE-4.17.7. Schedulers: credit credit2 rtds null
# arinc653, all of them when none is named.
#
#   -n COUNT     scenarios per scheduler (100)
#   -s NUMBER    the first one's number (1)
#   -k DIR       keep scenarios, schedules and binary traces there
#   -r DIR       instead of random scenarios, those in DIR (NAME.json)
#   -h HVSIM     the binary (build/hvsim)
#
# Prints what hvsim validate schedules prints of what differs. Exit 1 if anything does.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)

usage() {
    sed -n 's/^# \{0,1\}//; 4,21p' "$0"
    exit 2
}

count=100 first=1 keep="" given="" hvsim=$root/build/hvsim
while getopts n:s:k:r:h: option; do
    case $option in
    n) count=$OPTARG ;;
    s) first=$OPTARG ;;
    k) keep=$OPTARG ;;
    r) given=$OPTARG ;;
    h) hvsim=$OPTARG ;;
    *) usage ;;
    esac
done
shift $((OPTIND - 1))
[ $# -ge 1 ] || usage
xen=$1
shift
schedulers=("$@")
[ $# -gt 0 ] || schedulers=(credit credit2 rtds null arinc653)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ---- the sources ---------------------------------------------------------------------------------

sources=(common/sched/{core,credit,credit2,rt,null,arinc653}.c common/sched/private.h
    include/xen/list.h include/public/{xen,xen-compat,trace,sysctl,domctl,sched}.h
    include/public/{event_channel,vcpu,grant_table,memory,physdev,errno,tmem}.h
    include/public/arch-x86/{xen,xen-x86_64,cpuid}.h)

tree=$work/xen
repository=${xen%@*} tag=${xen##*@}
if [ ! -d "$xen" ] && [ -d "$repository" ]; then # also one without a work tree
    git=$(git -C "$repository" rev-parse --absolute-git-dir)
    for file in "${sources[@]}"; do
        mkdir -p "$tree/xen/$(dirname "$file")"
        git --git-dir="$git" show "$tag:xen/$file" >"$tree/xen/$file"
    done
elif [ ! -d "$xen" ]; then
    git clone --quiet --depth 1 --branch "$tag" "$repository" "$tree"
else
    tree=$(cd "$xen" && pwd)
fi
if [ ! -f "$tree/xen/common/sched/credit2.c" ]; then
    echo "run.sh: $xen has no xen/common/sched/credit2.c" >&2
    exit 2
fi

# ---- building ------------------------------------------------------------------------------------

# Functions of core.c that need more of a hypervisor than there is here.
cut="do_poll vcpu_block_enable_events domain_watchdog_timeout domain_watchdog watchdog_domain_init
    watchdog_domain_destroy vcpu_temporary_affinity vcpuaffinity_params_invalid vcpu_affinity_domctl
    domain_update_node_aff do_sched_op do_set_timer_op sched_id sched_adjust sched_adjust_global
    alloc_cpu_rm_data free_cpu_rm_data schedule_cpu_rm schedule_dump
    sched_setup_dom0_vcpus vcpu_sleep_sync wait"

mkdir -p "$work/gen" "$work/inc/public/hvm" "$work/inc/public/arch-x86/hvm"
cp "$tree"/xen/common/sched/*.[ch] "$work/gen"
# A definition begins with a line (or two) in the first column that has its name and ends at the
# first "}" there. Its lines are left empty, so that others keep their numbers.
awk -v list="$cut" '
    BEGIN { n = split(list, name); for (i = 1; i <= n; i++) unwanted[name[i]] = 1 }
    function begins(text,   before) {
        if (text !~ /^[A-Za-z].*\(/ || text ~ /;[ \t]*$/) return 0
        before = text; sub(/\(.*/, "", before); sub(/.*[ *]/, "", before)
        return before in unwanted
    }
    { line[NR] = $0 }
    END {
        for (i = 1; i <= NR; i++) {
            if (!begins(line[i])) { out[i] = line[i]; continue }
            for (k = i; line[k] !~ /^{/ && line[k] !~ /;[ \t]*$/; k++) ;
            if (line[k] !~ /^{/) { out[i] = line[i]; continue } # a declaration
            if (line[i - 1] ~ /^static( inline)?$/) out[i - 1] = ""
            while (line[i] !~ /^}/) out[i++] = ""
            out[i] = ""
        }
        for (i = 1; i <= NR; i++) print out[i]
    }' "$tree/xen/common/sched/core.c" >"$work/gen/core.c"
# Whatever header they include is shim.h, except the list and the public ones.
grep -ho '#include <[a-z/0-9_]*\.h>' "$work"/gen/*.[ch] "$tree/xen/include/xen/list.h" | sort -u |
    sed 's/.*<\(.*\)>/\1/' | grep -v '^public/' | grep -v '^xen/list.h$' | while read -r header; do
    mkdir -p "$work/inc/$(dirname "$header")"
    echo '#include "validation/xen/differential/shim.h"' >"$work/inc/$header"
done
mkdir -p "$work/inc/xen"
cp "$tree/xen/include/xen/list.h" "$work/inc/xen"
cp -r "$tree/xen/include/public" "$work/inc"
echo 'struct hvm_vmce_vcpu { uint64_t unused[3]; };' >"$work/inc/public/hvm/save.h"

flags=(-std=gnu17 -O1 -w -I"$root" -I"$work/gen" -I"$work/inc" -I/usr/include/cjson)
# Bits of records that Xen does not set would differ by chance.
gcc -ftrivial-auto-var-init=zero -E - </dev/null >/dev/null 2>&1 &&
    flags+=(-ftrivial-auto-var-init=zero)
(cd "$work" && gcc "${flags[@]}" -o harness "$here"/{machine,guest,rows,scenario}.c \
    "$here"/wrap_*.c gen/null.c gen/arinc653.c -lcjson -lm)
gcc -std=c17 -O1 -o "$work/generate" "$here/generate.c" -lcjson

# ---- comparing -----------------------------------------------------------------------------------

cases=${keep:-$work/cases}
mkdir -p "$cases"
if [ -n "$given" ]; then
    cp "$given"/*.json "$cases"
else
    for scheduler in "${schedulers[@]}"; do
        for ((i = first; i < first + count; i++)); do
            "$work/generate" "$scheduler" "$i" >"$cases/${scheduler}_$(printf %05d "$i").json"
        done
    done
fi
for json in "$cases"/*.json; do
    name=${json%.json}
    if ! timeout 20 "$work/harness" "$json" "$name.csv" "$name.xentrace" 2>"$work/errors"; then
        echo "$(basename "$name"): Xen's code does not get to the end: $(head -1 "$work/errors")"
        rm -f "$name.csv" "$name.xentrace"
    fi
done
"$hvsim" validate schedules "$cases" | grep -v ': identical ('
exit "${PIPESTATUS[0]}"
