#!/bin/sh
# hvsim validate xentrace: a few captures of real Xen, and that wrong ones are found.
set -u
captures=validation/xen/captures

# The last line, exit status in $got.
run() {
    timeout 120 "$HVSIM" validate xentrace "$@" >"$TMP/out" 2>"$TMP/err" </dev/null
    got=$?
}

check() { # NAME CONDITION...
    name=$1
    shift
    if "$@"; then
        echo "ok validate_xentrace/$name"
    else
        echo "FAIL validate_xentrace/$name: exit $got: $(tail -1 "$TMP/out") $(head -2 "$TMP/err")"
    fi
}

run "$captures/credit2"
check credit2 test $got -eq 0
check last_line grep -q '^xentrace: [1-9][0-9]* within tolerance, 0 outside$' "$TMP/out"
check driven grep -q 'driven, P1: decisions as Xen.s .* holds' "$TMP/out"

# Twice the weight for one of two hogs: neither shares nor decisions can be as captured.
mkdir -p "$TMP/wrong"
sed '0,/"weight": 256/s//"weight": 1024/' "$captures/credit2/a2.json" >"$TMP/wrong/a2.json"
cp "$captures/credit2/a2.xentrace.gz" "$TMP/wrong/"
run "$TMP/wrong"
check wrong_weight test $got -eq 1
check wrong_share grep -q 'h1 (hog): share .* falls short' "$TMP/out"

# Another scheduler than the one that ran.
sed 's/"credit2"/"credit"/' "$captures/credit2/a2.json" >"$TMP/wrong/a2.json"
run "$TMP/wrong"
check wrong_scheduler test $got -eq 1

sed '0,/"role": "hog"/s//"role": "juggler"/' "$captures/credit2/a2.json" >"$TMP/wrong/a2.json"
run "$TMP/wrong"
check unknown_role test $got -eq 2
check unknown_role_named grep -q 'role "juggler" is not understood' "$TMP/err"

# Round trips alone: an RPC server on one pCPU with dom0, by itself and among lookbusy guests.
run "$captures/rpc-shared"
check rpc test $got -eq 0
check rpc_tail grep -q 'client: round trip p99.9 .* holds' "$TMP/out"
mkdir -p "$TMP/rpc"
cp "$captures/rpc-shared/base.csv.gz" "$TMP/rpc/"

# edited NAME SCRIPT WORDS: what is said of the capture so edited
edited() {
    sed "$2" "$captures/rpc-shared/base.json" >"$TMP/rpc/base.json"
    run "$TMP/rpc"
    check "$1" grep -q "$3" "$TMP/out" "$TMP/err"
}
edited slow_server 's/"compute_us": 80/"compute_us": 580/' 'round trip p50 .* falls short'
edited no_such_pcpu 's/"role": "echo"/"role": "echo", "pinned_to": 7/' \
    '/guests/0/pinned_to: expected a pCPU that guests may use'
edited no_slice 's/"tslice_ms": 30/"tslice_ms": 0/' '/tslice_ms: expected 1 to 1000 ms'
edited no_client 's/"client"/"nobody"/' '"client" is needed'
edited unknown_mode 's/"mode": "closed"/"mode": "bursty"/' '/client/mode: expected closed, open'

# refused NAME SCRIPT WORDS: the same, as bad input
refused() {
    edited "$@"
    check "$1_exit" test $got -eq 2
}
refused dom0_no_object 's/"dom0": {/"dom0": 1, "was": {/' '/dom0: expected an object'
refused guests_no_array 's/"guests": \[/"guests": {}, "were": [/' '/guests: expected an array'
refused weight_below_one 's/"weight": 256/"weight": -1/' \
    '/guests/0/weight: found -1: expected a whole number from 1'
refused time_no_number 's/"compute_us": 80/"compute_us": "80us"/' \
    '/guests/0/compute_us: found "80us": expected a number'
refused no_rate 's/"rate": 200.0/"rate": 0/' '/client/rate: a client of this kind needs a rate'
refused client_elsewhere 's/"where": "dom0"/"where": "moon"/' '/client/where: only clients in dom0'
refused no_rounds 's/"mode": "closed"/"mode": "rounds", "period_us": 1000/' \
    '/client/rounds: a client of this kind needs a number'
refused too_many_rounds \
    's/"mode": "closed"/"mode": "rounds", "rounds": 1000000000, "period_us": 1000000/' \
    'so many periods are more than 1000 days'
refused budget_above_period 's/"role": "echo"/"role": "echo", "rtds": {"period_us": 100, "budget_us": 101}/' \
    '/guests/0/rtds/budget_us: expected at least 10, and not more than the period'
refused no_capture '1,$d' 'base.json'
head -c 300 "$captures/rpc-shared/base.csv.gz" >"$TMP/rpc/base.csv.gz"
refused log_cut_short 's/{/{ /' 'base.csv.gz: it is cut short'
echo "round,d1_us,d2_us,d3_us,d4_us,d5_us,d6_us,d7_us,d8_us,d9_us" | gzip >"$TMP/rpc/base.csv.gz"
refused log_of_nine 's/{/{ /' 'base.csv.gz: delays of 9 replicas, expected at most 8'

mkdir -p "$TMP/none"
run "$TMP/none"
check no_captures test $got -eq 2

# What the kit recorded: every decision of RTDS and null is Xen's.
run "$captures/kit"
for scheduler in rtds null; do
    check "$scheduler" grep -q "driven, P1: decisions as Xen's  *100 %  *100 % .* holds  *$scheduler: " "$TMP/out"
done

# A real RTDS schedule's bursts, replayed under Credit.
trace=$captures/kit/rtds_waker.xentrace.gz
if "$HVSIM" import "$trace" --cpu-hz 1G --workload "$TMP/replay.json" >"$TMP/out" 2>"$TMP/err"; then
    echo "ok validate_xentrace/import"
else
    echo "FAIL validate_xentrace/import: $(head -1 "$TMP/err")"
fi
