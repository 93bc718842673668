#!/bin/sh
# Ctrl-C: what was complete is shown and written, marked as partial; no process is left.
set -u
cd "$TMP" || exit 1
ok() { echo "ok interrupt/$1"; }
fail() { echo "FAIL interrupt/$1: $2"; }

cat >long.json <<'END'
{ "version": 1, "replications": 100000, "warmup": "50ms", "duration": "20s",
  "hosts": [ { "name": "xen", "pcpus": 2,
    "domains": [ { "name": "hog", "count": 3, "programs": [ { "run": "hog" } ] } ] } ] }
END
cat >endless.json <<'END'
{ "version": 1, "replications": 1, "warmup": "50ms", "duration": "900d",
  "hosts": [ { "name": "xen", "pcpus": 2,
    "domains": [ { "name": "hog", "count": 3, "programs": [ { "run": "hog" } ] } ] } ] }
END

# interrupted NAME SIGNAL COMMAND...: start it, wait until it works, send the signal to it alone
interrupted() {
    signal=$1
    shift
    "$@" >stdout 2>stderr &
    pid=$!
    tries=0
    until pgrep -P $pid >/dev/null || [ $tries -ge 100 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    sleep 1
    kill -"$signal" $pid
    wait $pid
    code=$?
}

interrupted INT "$HVSIM" run --quiet --out out long.json
if [ $code -eq 130 ]; then ok exit; else fail exit "$code: $(head -2 stderr)"; fi
if grep -q PARTIAL stdout; then ok told; else fail told "$(tail -3 stdout)"; fi
if grep -q '"partial": true' out/results.json; then ok marked; else fail marked "$(head -9 out/results.json)"; fi
done=$(sed -n 's/^  "replications": \([0-9]*\),/\1/p' out/results.json)
if [ "${done:-0}" -gt 0 ] && [ "$done" -lt 100000 ]; then ok some; else fail some "${done:-none} replications"; fi
# Every replication that counts has all its rows: as many of the host's as any other.
each=$(grep ',host,' out/replications.csv | cut -d, -f1 | sort | uniq -c | awk '{ print $1 }' | sort -u)
counted=$(grep -c ',host,' out/replications.csv)
if [ "$(echo "$each" | wc -w)" = 1 ] && [ "$counted" -eq $((done * each)) ]; then
    ok rows
else
    fail rows "$counted rows for $done replications"
fi

interrupted TERM "$HVSIM" run --quiet --out none endless.json
if [ $code -eq 130 ]; then ok none_exit; else fail none_exit "$code: $(head -2 stderr)"; fi
if [ ! -e none ] && [ ! -s stdout ]; then ok none_written; else fail none_written "output without a replication"; fi
if grep -q 'before the first replication' stderr; then ok none_told; else fail none_told "$(cat stderr)"; fi

interrupted INT "$HVSIM" compare --quiet --vary /hosts/0/scheduler=credit,credit2 --out cmp long.json
if [ $code -eq 130 ] && grep -q '"partial": true' cmp/results.json; then ok compare; else fail compare "$code"; fi

sleep 0.3
if pgrep -f "$HVSIM run --quiet --out none" >/dev/null; then fail processes "some are left"; else ok processes; fi
