#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Would the tests notice if a rule were wrong? Applies the mutants of mutants.txt one at a time to a
# copy of the sources, builds what changed, and runs the fast checks until one fails:
#
#   rules        validation/unit/test_rules*.c, test_operate.c: rules in small, without a reference
#   schedules    the reference schedules of Xen 4.17
#   invariants   validation/unit/test_invariants.c: random scenarios
#   terriertail  the reference schedules of TerrierTail and Xen 4.7.1
#
#   validation/mutants/run.sh [--list] [--every N [--from K]] [PATTERN]
#
# PATTERN: only mutants whose rule or file matches (a case pattern: '*2.7*', '*rtds*'). --every N:
# each N-th only, from the K-th on (for a sample). It prints a line for each mutant and a summary;
# "survived" with a reason is expected. Exit 1 if a mutant without a reason survived, if fewer than
# 95 % of the whole list were caught, or if a mutant does not apply or compile.

set -u
export LC_ALL=C
cd "$(dirname "$0")/../.." || exit 2

list='' every=1 from=1
while [ $# -gt 0 ]; do
    case $1 in
    --list) list=1 ;;
    --every) every=$2 && shift ;;
    --from) from=$2 && shift ;;
    --*) sed -n '3,/^$/s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
    *) break ;;
    esac
    shift
done
pattern=${1:-*}

CC=${CC:-gcc}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/mutants.XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
flags=(-std=c17 -O1 -w -ffp-contract=off -I. "-D_GNU_SOURCE=")
suites='SUITE(rules) SUITE(rules_credit2) SUITE(rules_small) SUITE(operate) SUITE(invariants)'

# ---- The list: one file per mutant, rule.N file.N old.N new.N equal.N ----------------------------

mkdir "$scratch/list"
awk -v dir="$scratch/list" '
    /^#/ || /^$/ { next }
    /^rule: /  { n++; print substr($0, 7) >(dir "/rule." n); next }
    /^file: /  { print substr($0, 7) >(dir "/file." n); next }
    /^nth: /   { print substr($0, 6) >(dir "/nth." n); next }
    /^equal: / { print substr($0, 8) >(dir "/equal." n); next }
    /^- /      { print substr($0, 3) >(dir "/old." n); next }
    /^\+/      { print substr($0, 3) >(dir "/new." n); next }
    { print "mutants.txt: " FNR ": cannot read this line: " $0 >"/dev/stderr"; exit 1 }
    END { print n >(dir "/count") }' validation/mutants/mutants.txt || exit 2
count=$(cat "$scratch/list/count")

# ---- The build: all objects once, then those that a mutant concerns -------------------------------

mkdir "$scratch/src" "$scratch/obj"
cp -r sim models workloads experiments "$scratch/src/"
mkdir -p "$scratch/src/validation"
cp -r validation/unit validation/mutants "$scratch/src/validation/"
xen=$PWD/validation/xen
cd "$scratch/src" || exit 2

model='sim/error.c sim/queue.c sim/random.c sim/detmath.c sim/json*.c sim/units.c sim/params*.c
       models/hypervisor/*.c models/schedulers/*.c models/guest/*.c workloads/synthetic.c'
traces='experiments/validate/schedule_case.c experiments/validate/schedule_dialect.c
        experiments/validate/schedule_actions.c experiments/validate/schedule_behaviour.c
        experiments/validate/json_fields.c experiments/validate/packed_file.c
        experiments/validate/xen_version.c
        experiments/validate/validate_schedules.c
        experiments/validate/validate_trace.c experiments/traces/csv.c experiments/traces/xentrace_events.c
        experiments/traces/xentrace_input.c experiments/traces/xentrace_read.c
        experiments/traces/xentrace_write.c validation/mutants/validate.c'
tests='validation/unit/main.c validation/unit/test_rules*.c validation/unit/test_operate.c
       validation/unit/test_invariants.c'

object() { echo "../obj/${1//\//_}.o"; }

compile() { # SOURCE OBJECT
    local extra=()
    [ "$1" = validation/unit/main.c ] && extra=("-DSUITES=$suites")
    "$CC" "${flags[@]}" "${extra[@]}" -MMD -MF "${2%.o}.d" -c "$1" -o "$2"
}

read -ra libs <<<"$(pkg-config --libs check libcjson zlib) -lm -ldl"

link() { # DIR PROGRAM: checks or validate, with the objects in DIR that a mutant replaces
    local objects=() sources="$model $traces" s
    [ "$2" = validate ] || sources="$model $tests experiments/traces/csv.c"
    [ ! -x "$1/$2" ] || return 0
    for s in $sources; do
        s=${s//\//_}.o
        if [ -f "$1/$s" ]; then objects+=("$1/$s"); else objects+=("../obj/$s"); fi
    done
    "$CC" -o "$1/$2" "${objects[@]}" -Wl,--wrap=tcase_create "${libs[@]}"
}

if [ -z "$list" ]; then
    # shellcheck disable=SC2086
    for s in $model $traces $tests; do
        compile "$s" "$(object "$s")" || exit 2
    done
    mkdir ../none
fi

# ---- One mutant ----------------------------------------------------------------------------------

apply() { # NUMBER FILE: the mutated text on stdout
    OLD=$(cat "../list/old.$1") NEW=$(cat "../list/new.$1") \
        awk -v nth="$(cat "../list/nth.$1" 2>/dev/null)" '
        { text = $0; sub(/^[ \t]+/, "", text); sub(/[ \t]+$/, "", text); old = ENVIRON["OLD"]
          sub(/[ \t]+$/, "", old); new = ENVIRON["NEW"] }
        text == old { seen++
                      if (nth == "" || seen == nth) { print new == "" ? ";" : new; done++; next } }
        { print }
        END { if (done != 1) exit 3 }' "$2"
}

checks=( # name, program, its arguments
    "rules checks rules rules_credit2 rules_small operate"
    "schedules validate $xen/schedules"
    "invariants checks invariants"
    "terriertail validate $xen/terriertail-schedules"
)

# The first check that fails; "nobody", or "linker" when the mutant does not even link.
caught_by() { # DIR
    local check word
    for check in "${checks[@]}"; do
        read -ra word <<<"$check"
        link "$1" "${word[1]}" 2>"$1/log" || { echo linker && return; }
        if ! timeout 120 "$1/${word[1]}" "${word[@]:2}" >"$1/log" 2>&1; then
            echo "${word[0]}"
            return
        fi
    done
    echo nobody
}

if [ -z "$list" ]; then
    by=$(caught_by ../none)
    if [ "$by" != nobody ]; then
        echo "the $by check fails without any mutant:" >&2
        tail -20 ../none/log >&2
        exit 2
    fi
fi

tried=0 caught=0 expected=0 survived=0 broken=0
for ((i = from; i <= count; i += every)); do
    rule=$(cat "../list/rule.$i") file=$(cat "../list/file.$i")
    # shellcheck disable=SC2053
    [[ $rule == $pattern || $file == $pattern ]] || continue
    if [ -n "$list" ]; then
        echo "$i: $rule ($file)"
        continue
    fi
    tried=$((tried + 1))
    rm -rf ../try && mkdir ../try
    cp "$file" ../original
    if ! apply "$i" "$file" >../mutated; then
        echo "BROKEN   $i: $rule ($file): the line is not there exactly once"
        broken=$((broken + 1))
        continue
    fi
    cp ../mutated "$file"
    ok=1
    # shellcheck disable=SC2086
    for s in $model $traces $tests; do
        d=$(object "$s")
        if [ "$s" = "$file" ] || grep -q "[ /]${file##*/}\b" "${d%.o}.d"; then
            compile "$s" "../try/${s//\//_}.o" 2>../try/errors || { ok='' && break; }
        fi
    done
    cp ../original "$file"
    if [ -z "$ok" ]; then
        echo "BROKEN   $i: $rule ($file): does not compile"
        head -3 ../try/errors
        broken=$((broken + 1))
        continue
    fi
    by=$(caught_by ../try)
    if [ "$by" != nobody ]; then
        echo "caught   $i: $rule: by $by"
        caught=$((caught + 1))
    elif [ -f "../list/equal.$i" ]; then
        echo "survived $i: $rule: as expected: $(cat "../list/equal.$i")"
        expected=$((expected + 1))
    else
        echo "SURVIVED $i: $rule ($file)"
        survived=$((survived + 1))
    fi
done
[ -n "$list" ] && exit 0
echo "mutants: $tried tried, $caught caught, $expected survived as explained," \
    "$survived survived without a reason, $broken broken"
# The share is the whole list's: a sample holds those that are explained by chance.
if [ "$tried" = "$count" ] && [ $((caught * 100)) -lt $((tried * 95)) ]; then exit 1; fi
[ $((survived + broken)) = 0 ]
