#!/bin/sh
# Schedulers of one's own: the skeleton builds and runs; broken ones are caught with the rule they
# broke, the time and the vCPU.
set -u
cd "$TMP" || exit 1
ok() { echo "ok plugin/$1"; }
fail() { echo "FAIL plugin/$1: $2"; }

# build NAME SED-SCRIPT: the skeleton with a change
build() {
    "$HVSIM" new scheduler "$1" >/dev/null && sed -i "$2" "$1/$1.c" &&
        sed -i 's/"replications": 4/"replications": 1/; s/"duration": "5s"/"duration": "30s"/; s/"pcpus": 1/"pcpus": '"${PCPUS:-1}/" \
            "$1/scenario.json" && make -s -C "$1" "$1.so" 2>"$1/log"
}

# broken NAME SED-SCRIPT EXIT PATTERN...: must end with that code and say all of the patterns
broken() {
    name=$1 script=$2 code=$3
    shift 3
    if ! build "$name" "$script"; then
        fail "$name" "does not build: $(head -3 "$name/log")"
        return
    fi
    timeout 60 "$HVSIM" run --quiet --scheduler-plugin "$name/$name.so" "$name/scenario.json" \
        >"$name/out" 2>&1
    got=$?
    [ $got -eq "$code" ] || {
        fail "$name" "exit $got, not $code: $(tail -2 "$name/out")"
        return
    }
    for pattern in "$@"; do
        grep -q "$pattern" "$name/out" || {
            fail "$name" "does not say \"$pattern\": $(tail -2 "$name/out")"
            return
        }
    done
    ok "$name"
}

if build whole '' && "$HVSIM" run --quiet --scheduler-plugin whole/whole.so whole/scenario.json \
    >whole/out 2>&1 && grep -q 'xen/task' whole/out; then
    ok skeleton
else
    fail skeleton "$(tail -3 whole/out whole/log 2>/dev/null)"
fi

broken not_runnable 's/^        list_remove(&my_vcpu(v)->queue);/        (void)0;/
    s/!p->current->idle && vcpu_runnable(p->current)/!p->current->idle/' 1 \
    'it is not runnable' ' ns' 'task'
broken negative 's/->vcpu, params->slice}/->vcpu, -5}/' 1 'a slice is a time' ' ns'
broken forgets 's/^    list_insert_tail(&my_pcpu(p)->queue, &my_vcpu(v)->queue);/    if (v->domain->id < 3 || now_and_then++ % 9) list_insert_tail(\&my_pcpu(p)->queue, \&my_vcpu(v)->queue);/
    s/^static void wake(/static int now_and_then;\nstatic void wake(/' 1 \
    'has been runnable since\|runnable since' 'found again' 'task'
broken nothing 's/return (struct decision){container_of.*/return (struct decision){NULL, -1};/' 1 \
    'must return a vCPU'
broken zero 's/->vcpu, params->slice}/->vcpu, 0}/' 1 'again and again'
broken no_wake 's/^    .wake = wake,/    .adjust = NULL,/; s/^static void wake/__attribute__((unused)) static void wake/' \
    2 'operation "wake" is NULL'
broken version 's/SCHEDULER_ABI/SCHEDULER_ABI + 7/' 2 'version 8' 'build it again'
broken no_entry 's/hvsim_scheduler(void)/other_name(void)/' 2 'no function hvsim_scheduler'
broken taken 's/.name = "taken"/.name = "credit"/' 2 'there is a scheduler "credit" already'
timeout 20 "$HVSIM" new scheduler credit >out 2>&1
[ $? -eq 2 ] && [ ! -e credit ] && grep -q 'a scheduler "credit" already.*choose another name' out &&
    ok new_taken || fail new_taken "$(cat out)"
PCPUS=2
broken elsewhere 's/^    return (struct decision){container_of/    if (s->host->queue->now > 1000000000 \&\& p->id == 0)\n        return (struct decision){s->host->pcpu[1].current, -1};\n&/
    s/^    first = queue->next;/    (void)first;\n&/' 1 'is running on another\|assigned to another pCPU\|idle vCPU'

timeout 20 "$HVSIM" run --quiet --scheduler-plugin ./none.so whole/scenario.json >out 2>&1
[ $? -eq 2 ] && grep -q 'none.so' out && ok missing_file || fail missing_file "$(cat out)"
