#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# timeout: 300
#
# hvsim lab: answers that can be derived by hand are those the simulator computes (so the labs ask
# what they mean to ask), right and wrong ones are told apart, and schedulers are graded: the
# solution passes, schedulers that lack a part of it do not.

set -u
export LC_ALL=C

ok() { echo "ok lab $1"; }
fail() { echo "FAIL lab $1: $2"; }
grade() { # NAME EXIT LAB ANSWER...
    local name=$1 want=$2 lab=$3 got=0 answer options=()
    shift 3
    for answer in "$@"; do options+=(--check "$answer"); done
    "$HVSIM" lab "$lab" "${options[@]}" >"$TMP/out" 2>&1 || got=$?
    if [ "$got" = "$want" ]; then ok "$name"; else fail "$name" "exit $got, wanted $want: $(tail -n 3 "$TMP/out" | tr '\n' ' ')"; fi
}

# Derivations are in docs/labs/N/notes.md.
grade "1: round robin by hand" 0 1 1=90ms 2=113ms 3=18 4=53 6=0
grade "2: credits by hand" 0 2 1=-80 2=-180 3=0 4=0 5=over 6=33.3 7=20 8=80
grade "3: boosts by hand" 0 3 2=0 4=0 5=90ms
grade "4: shares by hand" 0 4 1=66.7 3=100 4=50 5=66.7 6=100 7=100
grade "7: the 99th percentile by hand" 0 7 3=160ms
grade "8: no replicas apart are late as often as together" 1 8 5=3.5
grade "units are understood" 0 1 1=0.09s "2=113000us"
grade "a wrong number" 1 1 1=30ms
grade "the usual mistake: 200 credits for one that never ran" 1 2 3=200
grade "the wrong priority" 1 2 5=UNDER
grade "one right and one wrong" 1 1 1=90 2=90
grade "no number" 2 1 1=many
grade "a question that is not there" 2 1 12=5
grade "a lab that is not there" 2 12 1=5

# ---- The scheduler of lab 5 ---------------------------------------------------------------------

cd "$TMP" || exit 1
notes=$("$HVSIM" lab 5 | sed -n 's/^Text: *\(.*\)README.md/\1/p')
if ! command -v make >/dev/null || ! command -v cc >/dev/null; then
    echo "skip lab 5: a compiler and make are wanted"
    exit 0
fi
build() { # NAME SED-SCRIPT: the solution, changed
    # shellcheck disable=SC2015 # any of them may fail
    "$HVSIM" new scheduler "$1" >/dev/null && sed "s/mine/$1/g; $2" "${notes}solution.c.txt" >"$1/$1.c" &&
        make -s -C "$1" >"$1/log" 2>&1 || fail "5: $1 builds" "$(head -n 2 "$1/log")"
}
build whole ''
grade "5: the solution passes" 0 5 whole/whole.so
build tail 's/list_insert_head(s->data, \&my(v)->queue);/list_insert_tail(s->data, \&my(v)->queue);/; s/    if (p)$/    if (p \&\& p->current->idle)/'
grade "5: wakers at the end do not" 1 5 tail/tail.so
build idle 's/!cpumask_test(&v->hard, p->id) ||/p->id == 2 ||/'
grade "5: an idle pCPU does not" 1 5 idle/idle.so
build unfair 's/my(v)->vcpu = v;/my(v)->vcpu = v; s->off = 0;/; s/if (!cpumask_test(&v->hard, p->id)/if ((v->domain->id == 4 \&\& now % 5) || !cpumask_test(\&v->hard, p->id)/'
grade "5: an unfair one does not" 1 5 unfair/unfair.so
"$HVSIM" new scheduler skeleton >/dev/null && make -s -C skeleton >/dev/null 2>&1
grade "5: the skeleton does not" 1 5 skeleton/skeleton.so
build long 's|^static void create|static int filler;\nint a(void); int b(void);\n&|'
for i in $(seq 10); do printf 'int f%d(void);\nint f%d(void)\n{\n    return %d;\n}\n' "$i" "$i" "$i"; done >>long/long.c
make -s -C long >/dev/null 2>&1
grade "5: a long one does not" 1 5 long/long.so
grade "5: a file that is no scheduler" 2 5 "$TMP/out.so"
exit 0
