#!/bin/sh
# "exact": a scenario of hogs, sleepers, programs and wake lists gives Xen's own schedule, row for
# row of the reference: same date, pCPU, vCPU, priority and credit.
set -u
schedules=$PWD/validation/xen/schedules
cd "$TMP" || exit 1

# same NAME REFERENCE MILLISECONDS HOST DOMAINS [ID-OF-THE-REFERENCE OUR-ID]
same() {
    name=$1 reference=$2 ms=$3 from=${6:-x} to=${7:-x}
    printf '{ "version": 1, "exact": true, "replications": 1, "warmup": "20ms", "duration": "%dms",
  "hosts": [ { "name": "xen", %s, "domains": [ %s ] } ] }\n' $((ms - 20)) "$4" "$5" >"$name.json"
    if ! timeout 60 "$HVSIM" run --quiet --trace "$name.csv" "$name.json" >/dev/null 2>err; then
        echo "FAIL exact/$name: $(head -2 err)"
        return
    fi
    gzip -dc "$schedules/$reference.csv.gz" | awk -F, -v OFS=, -v end=$((ms * 1000000)) -v from="$from" -v to="$to" '
        NR > 1 && ($1 >= end || $2 == "placed" || $2 == "final" || $2 == "end") { next }
        $4 == from { $4 = to } { print }' >reference
    awk -F, -v end=$((ms * 1000000)) 'NR > 1 && ($1 >= end || $2 == "placed" || $2 == "final" || $2 == "end") { next } { print }' \
        "$name.csv" >simulated
    if [ "$(wc -l <reference)" -lt 500 ]; then
        echo "FAIL exact/$name: only $(wc -l <reference) rows in the reference"
    elif cmp reference simulated >where 2>&1; then
        echo "ok exact/$name"
    else
        echo "FAIL exact/$name: $(cat where): $(diff reference simulated | sed -n 2,3p | tr '\n' ' ')"
    fi
}

hog() { # NAME START [MORE]
    printf '{ "name": "%s", "start": "%dns", "programs": [ { "run": "hog" } ]%s }' "$1" "$2" "${3:-}"
}

same weights c03_weights_256_512 10000 '"pcpus": 1' \
    "$(hog a 2003711), $(hog b 2103864 ', "weight": 512')"
same cap c05_cap50_alone 5000 '"pcpus": 1' "$(hog a 2003711 ', "cap": 50')"
same slice c07_tslice5 3000 '"pcpus": 1, "scheduler": { "type": "credit", "tslice": "5ms" }' \
    "$(hog a 2003711), $(hog b 2103864), $(hog c 2204017)"
hogs="$(hog a 2003711), $(hog b 2103864), $(hog c 2204017)"
events='"events": [ { "first": "300013210ns", "period": "10313370ns" } ]'
same wakes c09_waker10ms_rl1000 4000 '"pcpus": 1' "$hogs, { \"name\": \"d\", \"start\": \"2304170ns\",
    \"programs\": [ { \"run\": { \"type\": \"server\", \"compute\": \"100us\" }, $events } ] }" 9 4
same wakes_script c09_waker10ms_rl1000 4000 '"pcpus": 1' "$hogs, { \"name\": \"d\", \"start\": \"2304170ns\",
    \"programs\": [ { \"run\": { \"type\": \"script\", \"ops\": [[\"wait\"], [\"compute\", \"100us\"]] }, $events } ] }" 9 4
same wakes_credit2 c2_04_waker 4000 '"pcpus": 1, "scheduler": "credit2"' "$hogs, { \"name\": \"d\", \"start\": \"2304170ns\",
    \"programs\": [ { \"run\": { \"type\": \"server\", \"compute\": \"100us\" }, $events } ] }" 9 4
same sleeper c15_burst12_sleep5_vs_hog 5000 '"pcpus": 1' "$(hog a 2003711), { \"name\": \"b\", \"start\": \"2103864ns\",
    \"programs\": [ { \"run\": { \"type\": \"burst_sleep\", \"compute\": \"12003100ns\", \"sleep\": \"5007300ns\" } } ] }"
same sleeper_script c15_burst12_sleep5_vs_hog 5000 '"pcpus": 1' "$(hog a 2003711), { \"name\": \"b\", \"start\": \"2103864ns\",
    \"programs\": [ { \"run\": { \"type\": \"script\", \"ops\": [[\"compute\", \"12003100ns\"], [\"sleep\", \"5007300ns\"]] } } ] }"
same dodger_script c26_tick_dodger 3000 '"pcpus": 1' "$(hog a 12003711), { \"name\": \"b\", \"start\": \"10401100ns\",
    \"programs\": [ { \"run\": { \"type\": \"script\", \"start\": \"10401100ns\", \"ops\": [[\"compute\", \"8400300ns\"], [\"period\", \"10ms\"]] } } ] }"
same yielder c22_yielder 3000 '"pcpus": 1' "$(hog a 2003711), $(hog b 2103864), { \"name\": \"c\", \"start\": \"2204017ns\",
    \"programs\": [ { \"run\": { \"type\": \"yielder\", \"compute\": \"300700ns\" } } ] }"
same pinned c17_2p_pinned 4000 '"pcpus": 2' "$(hog a 2003711 ', "hard_affinity": "0"'), $(hog b 2103864 ', "hard_affinity": "0"'),
    $(hog c 2204017 ', "hard_affinity": "1"'), { \"name\": \"d\", \"start\": \"2304170ns\", \"hard_affinity\": \"0\",
    \"programs\": [ { \"run\": { \"type\": \"server\", \"compute\": \"150us\" },
                    \"events\": [ { \"first\": \"100013200ns\", \"period\": \"9713370ns\" } ] } ] }" 9 4
same stealing c18_2p_imbalance_steal 4000 '"pcpus": 2' "$(hog a 2003711), $(hog b 2103864),
    { \"name\": \"c\", \"start\": \"2204017ns\", \"programs\": [ { \"run\": { \"type\": \"burst_sleep\", \"compute\": \"21011300ns\", \"sleep\": \"19013700ns\" } } ] },
    { \"name\": \"d\", \"start\": \"2304170ns\", \"programs\": [ { \"run\": { \"type\": \"burst_sleep\", \"compute\": \"7003900ns\", \"sleep\": \"31017100ns\" } } ] },
    $(hog e 2404323)"
