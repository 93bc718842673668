#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Builds hvsim and runs its tests: what `make check`, `make check-all` and `make asan` do.
#
#   validation/run-tests.sh [--only GLOB] check | check-all | asan
#
# check:     unit and theory tests, end-to-end scripts, without what is slow.
# asan:      the same suites, and a short run like the demo's, under AddressSanitizer with leak
#            detection and UBSan.
# check-all: all tests, lint, the fast suites as gcc and clang build them at -O0 and -O3 (and that
#            all builds give the same results), asan, valgrind, each fuzz target for FUZZ_TIME s.
#
# A test is a job: a command with a time limit, whose output goes to $BUILD/check/NAME.log. As many
# jobs run at once as there are processors (JOBS=N to change). Jobs are
#
#   unit NAME   one suite of $BUILD/unit (validation/unit and validation/theory), which ends with
#               "suite NAME: N passed, N failed". A suite without that line died: one failure more.
#   e2e NAME    an executable script validation/e2e/NAME.sh (slow/NAME.sh in check-all), run from
#               the project's root with HVSIM=the binary and TMP=an empty directory (and, when
#               slow, HVSIM_BUILDS=the binaries of other compilers and levels; under
#               AddressSanitizer, whose shadow breaks limits on memory, SANITIZED=1). It prints
#               "ok NAME" or "FAIL NAME: why" for each check, "skip NAME: why" for one it cannot
#               do here. A line "# timeout: SECONDS" in the script sets its limit.
#   build DIR   building everything into DIR; counts only if it fails.
#   step NAME   anything else: lint, fuzzing, valgrind. Counts such lines if it prints any,
#               otherwise itself as one check by its exit status.
#
# A job that exits with an error or is killed without having said FAIL counts as one failure, and
# so does one that says nothing. What was not run is listed by name and counts as nothing.
# The last line is "N passed, N failed"; exit 1 if any failed.

set -u
export LC_ALL=C.UTF-8
cd "$(dirname "$0")/.." || exit 1

MAKE=${MAKE:-make}
BUILD=${BUILD:-build}
JOBS=${JOBS:-$(nproc)}
only='*'
if [ "${1:-}" = --only ]; then
    only=$2
    shift 2
fi
what=${1:-check}
case $what in
check | check-all | asan) ;;
*) sed -n 's/^# \{0,1\}//; 3,34p' "$0" >&2 && exit 2 ;;
esac
out=$PWD/$BUILD/check
mkdir -p "$BUILD"
exec 8>"$BUILD/check.lock"
if ! flock -n 8; then
    echo "another run of the tests uses $BUILD; wait for it or give BUILD=another" >&2
    echo "0 passed, 1 failed"
    exit 1
fi
rm -rf "$out"
mkdir -p "$out"
: >"$out/notrun"
: >"$out/failed"
exec 9>"$out/lock"

# ---- Jobs ---------------------------------------------------------------------------------------

queue=() # NAME<tab>KIND<tab>LIMIT<tab>COMMAND
queued=0

# job KIND NAME LIMIT_S COMMAND: KIND is unit, e2e, step or build; COMMAND is for the shell.
job() {
    # shellcheck disable=SC2053 # a pattern on purpose
    [[ "$1 $2" == $only || "$2" == $only ]] || return 0
    queue+=("$1"$'\t'"$2"$'\t'"$3"$'\t'"${4//$'\n'/ }")
}

not_run() { # NAME WHY
    # shellcheck disable=SC2053
    [[ "$1" == $only ]] && echo "$1: $2" >>"$out/notrun"
    return 0
}

# Count what the job said: sets passed, failed and why from its log and exit status.
judge() { # KIND LOG STATUS LIMIT SECONDS
    local kind=$1 log=$2 status=$3 died=
    if [ "$status" != 0 ]; then
        if [ "$5" -ge "$4" ]; then
            died="killed after $4 s"
        elif [ "$status" -gt 128 ]; then
            died="killed by SIG$(kill -l "$status")"
        else
            died="exit status $status"
        fi
    fi
    if [ "$kind" = unit ]; then
        read -r passed failed < <(awk '
            /^suite [^ ]+: [0-9]+ passed, [0-9]+ failed$/ { p += $3; f += $5; whole++ }
            /:P:/ { seen++ }
            /:[FE]:/ { bad++ }
            END { if (whole) print p + 0, f + 0; else print seen + 0, bad + 0, "died" }' "$log")
        if [[ $failed == *died ]]; then
            failed=$((${failed% died} + 1))
            why="the runner died${died:+ ($died)}"
        elif [ -n "$died" ] && [ "$failed" = 0 ]; then
            failed=1 why=$died
        fi
        return
    fi
    if [ "$kind" = build ]; then
        [ -z "$died" ] || failed=1 why=$died
        return
    fi
    passed=$(grep -c '^ok ' "$log")
    failed=$(grep -c '^FAIL ' "$log")
    if [ -n "$died" ] && [ "$failed" = 0 ]; then
        failed=1 why=$died
    elif [[ $died == killed* ]]; then
        failed=$((failed + 1)) why=$died
    elif [ $((passed + failed)) = 0 ] && ! grep -q '^skip ' "$log"; then
        if [ "$kind" = e2e ]; then
            failed=1 why="it printed no check"
        else
            passed=1
        fi
    fi
}

findings() { # KIND LOG: the lines that tell what failed
    case $1 in
    unit) grep -E ':[FE]:|ERROR: ' "$2" || tail -n 15 "$2" ;;
    build) grep -E 'error:|undefined reference|\*\*\* ' "$2" || tail -n 15 "$2" ;;
    e2e) grep '^FAIL ' "$2" || tail -n 15 "$2" ;;
    *) tail -n 30 "$2" ;;
    esac
}

run_job() { # NUMBER KIND NAME LIMIT COMMAND
    local number=$1 kind=$2 name=$3 limit=$4 command=$5 passed=0 failed=0 why='' log tmp start seconds status
    local file=${kind}-${name//[^A-Za-z0-9_.=-]/_} text
    log=$out/$file.log
    tmp=$out/tmp/$file
    mkdir -p "$tmp"
    start=$EPOCHREALTIME
    trap 'kill "$!" 2>/dev/null; exit' INT TERM
    TMP=$tmp timeout -k 10 "$limit" bash -c "$command" >"$log" 2>&1 </dev/null 8>&- &
    wait $! 2>/dev/null
    status=$?
    seconds=$(((${EPOCHREALTIME/./} - ${start/./}) / 1000000))
    judge "$kind" "$log" "$status" "$limit" "$seconds"
    text=$(awk -v a="$start" -v b="$EPOCHREALTIME" -v what="$kind $name" -v p="$passed" \
        -v f="$failed" 'BEGIN {
            said = (p || f) ? p " passed" (f ? ", " f " failed" : "") : ""
            printf "%-4s  %-44s %6.1f s  %s", f ? "FAIL" : "ok", what, b - a, said }')
    if [ "$failed" != 0 ]; then
        text+=${why:+$'\n'"        $why"}
        text+=$'\n'$(findings "$kind" "$log" | head -n 30 | sed '/^$/d; s/^/        /')
        text+=$'\n'"        whole output: ${log#"$PWD"/}"
        echo "$kind $name" >>"$out/failed"
    else
        rm -rf "$tmp"
    fi
    # Slow cases left out here are run once in check-all, in the plain build.
    sed -n "s|^skip |$kind $name: |p" "$log" |
        if [ "$what" = check-all ]; then grep -v 'runs in make check-all$'; else cat; fi >>"$out/notrun"
    flock 9
    echo "$text"
    echo "$passed $failed" >"$out/result.$number"
    flock -u 9
}

running() { jobs -rp | wc -l; }

# Run what is queued, the longest limits first, and empty the queue.
run_queue() {
    local row kind name limit command
    while IFS= read -r row; do
        IFS=$'\t' read -r kind name limit command <<<"$row"
        while [ "$(running)" -ge "$JOBS" ]; do wait -n; done
        queued=$((queued + 1))
        run_job "$queued" "$kind" "$name" "$limit" "$command" &
    done < <([ ${#queue[@]} -eq 0 ] || printf '%s\n' "${queue[@]}" | sort -s -t $'\t' -k 3,3nr)
    wait
    queue=()
}

# On Ctrl-C: each run_job passes the signal to its timeout, and that to the job.
# shellcheck disable=SC2317 # called by the trap
stop() {
    trap '' INT TERM
    # shellcheck disable=SC2046 # several numbers
    kill $(jobs -p) 2>/dev/null
    wait
    echo "interrupted"
    finish
}
trap stop INT TERM

finish() {
    local i passed=0 failed=0 p f
    for ((i = 1; i <= queued; i++)); do
        if read -r p f 2>/dev/null <"$out/result.$i"; then
            passed=$((passed + p)) failed=$((failed + f))
        else
            failed=$((failed + 1)) # its own watcher was killed
        fi
    done
    if [ -s "$out/notrun" ]; then
        echo
        echo "Not run:"
        sort -u "$out/notrun" | sed 's/^/    /'
    fi
    if [ -s "$out/failed" ]; then
        echo
        echo "Failed:"
        sort "$out/failed" | sed 's/^/    /'
    fi
    [ "$queued" -gt 0 ] || echo "nothing matches \"$only\""
    echo
    echo "$passed passed, $failed failed" | tee "$out/summary"
    [ "$failed" = 0 ] && [ "$queued" -gt 0 ]
    exit
}

# ---- What to run --------------------------------------------------------------------------------

# build DIR TARGETS [VARIABLE=VALUE...]: build into DIR, at once. False if it failed.
build() {
    local dir=$1 targets=$2 parallel=-j$JOBS saved=$only
    shift 2
    case ${MAKEFLAGS:-} in *jobserver*) parallel= ;; esac
    only='*'
    job build "$dir" 1800 "$MAKE --no-print-directory -k $parallel BUILD=$dir $* $targets"
    run_queue
    only=$saved
    grep -qx "build $dir" "$out/failed" || return 0
    # What could not be built now must not be tested as it was before.
    $MAKE -k BUILD="$dir" "$@" >/dev/null 2>&1 all || rm -f "$dir/hvsim"
    $MAKE -k BUILD="$dir" "$@" >/dev/null 2>&1 unit-binary || rm -f "$dir/unit"
    return 1
}

# Limits only tell a hang from work; they must hold on a machine that does other things too.
export CK_TIMEOUT_MULTIPLIER=${CK_TIMEOUT_MULTIPLIER:-4}

units() { # DIR OPTIONS LABEL LIMIT; with a label, theory is left to the plain build
    local suite
    [ -x "$1/unit" ] || { not_run "unit tests${3:+ $3}" "$1/unit could not be built" && return; }
    for suite in $("$1/unit" --list); do
        if [ -n "$3" ] && [ -e "validation/theory/test_$suite.c" ]; then
            not_run "unit $suite $3" "theory is tested in the plain build"
            continue
        fi
        job unit "$suite${3:+ $3}" "$4" "$1/unit $2 $suite"
    done
}

scripts() { # BUILD DIR LIMIT [LABEL [TIMES_LIMIT [SANITIZED]]]
    local script limit name
    for script in "$2"/*.sh; do
        [ -e "$script" ] || continue
        name=${script#validation/e2e/}
        name=${name%.sh}${4:+ $4}
        limit=$(sed -n 's/^# timeout: *\([0-9]\+\).*/\1/p' "$script" | head -n 1)
        if [ ! -x "$1/hvsim" ]; then
            not_run "e2e $name" "no $1/hvsim"
        else
            # Not exec: a script without the x bit is a failure, not a missing test.
            job e2e "$name" $((${limit:-$3} * ${5:-1})) \
                "HVSIM=$PWD/$1/hvsim SANITIZED=${6:-} $script"
        fi
    done
}

# What `make check` leaves out.
name_slow() {
    local script
    for script in validation/e2e/slow/*.sh; do
        [ ! -e "$script" ] || not_run "e2e slow/$(basename "$script" .sh)" "slow: make check-all"
    done
    not_run "lint, fuzzing, sanitizers, valgrind, other compilers" "make check-all"
}

lint() {
    local check
    for check in $(validation/lint.sh --list); do
        job step "lint $check" 2700 "validation/lint.sh $check"
    done
}

# A short run of the demo's experiment by the given hvsim; its results go to DIR.
sample() { # HVSIM DIR
    echo "$1 run experiments/library/rpc-12vm.json --quiet --jobs 2 --replications 2" \
        "--set /warmup=500ms --set /duration=2s --out $2"
}
have_sample() { [ -x "$1/hvsim" ] && [ -f experiments/library/rpc-12vm.json ]; }

# Every compiler and level, in a directory of its own. Their programs, for scripts that compare
# what they compute, are in HVSIM_BUILDS.
export HVSIM_BUILDS=
matrix() {
    local cc opt dir
    for cc in gcc clang; do
        command -v $cc >/dev/null || { not_run "build with $cc" "not installed" && continue; }
        for opt in O0 O3; do
            dir=build-$cc-$opt
            build "$dir" "all unit-binary" CC=$cc OPT=-$opt
            units "$dir" '' "[$cc -$opt]" 600
            [ ! -x "$dir/hvsim" ] || HVSIM_BUILDS+="${HVSIM_BUILDS:+ }$PWD/$dir/hvsim"
        done
    done
}

# Sanitizers: the first finding ends the program with an error.
export ASAN_OPTIONS=allocator_may_return_null=1:detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS=print_stacktrace=1
[ ! -f validation/lsan.supp ] ||
    export LSAN_OPTIONS=suppressions=$PWD/validation/lsan.supp:print_suppressions=0

asan() { # DIR
    build "$1" "all unit-binary" SANITIZE=address,undefined OPT=-O1
    units "$1" '' '[asan]' 900
    scripts "$1" validation/e2e 120 '[asan]' 5 1
    if have_sample "$1"; then
        job step "sample run [asan]" 600 "$(sample "$1/hvsim" "\$TMP/out")"
    else
        not_run "sample run [asan]" "no sample run yet"
    fi
    run_queue
}

memcheck() {
    if ! command -v valgrind >/dev/null; then
        not_run valgrind "not installed"
    elif ! have_sample "$BUILD"; then
        not_run "sample run [valgrind]" "no sample run yet"
    else
        job step "sample run [valgrind]" 900 "valgrind -q --error-exitcode=99 --leak-check=full \
            --errors-for-leak-kinds=definite --num-callers=30 $(sample "$BUILD/hvsim" "\$TMP/out")"
    fi
}

fuzz() {
    local target
    if ! command -v clang >/dev/null; then
        not_run fuzzing "no clang"
        return
    fi
    build build-fuzz fuzz-binaries CC=clang OPT=-O1 SANITIZE=fuzzer-no-link,address,undefined
    for target in validation/fuzz/fuzz_*.c; do
        target=$(basename "$target" .c)
        target=${target#fuzz_}
        [ -x "build-fuzz/fuzz/$target" ] ||
            { not_run "fuzz $target" "it could not be built" && continue; }
        job step "fuzz $target" $((${FUZZ_TIME:-20} + 120)) \
            "validation/fuzz.sh build-fuzz $target ${FUZZ_TIME:-20}"
    done
}

case $what in
check)
    build "$BUILD" "all unit-binary"
    units "$BUILD" '' '' 300
    scripts "$BUILD" validation/e2e 120
    run_queue
    name_slow
    ;;
check-all)
    build "$BUILD" "all unit-binary"
    units "$BUILD" --all '' 900
    scripts "$BUILD" validation/e2e 120
    lint
    run_queue
    matrix
    run_queue
    scripts "$BUILD" validation/e2e/slow 900
    run_queue
    asan build-asan
    memcheck
    fuzz
    run_queue
    not_run "clean room" "make clean-room: needs root and a Debian mirror"
    ;;
asan)
    asan "$BUILD"
    ;;
esac
finish
