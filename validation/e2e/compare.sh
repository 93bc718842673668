#!/bin/sh
# hvsim compare: common random numbers, paired changes, the picture.
set -u
cd "$TMP" || exit 1
ok() { echo "ok compare/$1"; }
fail() { echo "FAIL compare/$1: $2"; }

cat >rpc.json <<'END'
{ "version": 1, "replications": 6, "warmup": "500ms", "duration": "6s",
  "hosts": [ { "name": "xen", "pcpus": 2, "dom0": {},
    "domains": [ { "name": "server", "network": {}, "programs": [ { "run": "rpc" } ] },
                 { "name": "hog", "count": 4, "programs": [ { "run": "hog" } ] } ] } ],
  "clients": [ { "name": "client", "to": "server" } ] }
END

"$HVSIM" compare --quiet --vary /hosts/0/scheduler=credit,credit2 --out out rpc.json >out.txt 2>out.err
code=$?
if [ $code -eq 0 ]; then ok exit; else fail exit "$code: $(head -3 out.err)"; fi
for f in results.json clients.csv hosts.csv groups.csv domains.csv replications.csv tail.dat tail.gp; do
    if [ -s "out/$f" ]; then ok "file_$f"; else fail "file_$f" "not there"; fi
done
if command -v gnuplot >/dev/null; then
    if [ -s out/tail.svg ] && [ -s out/tail.png ]; then ok picture; else fail picture "$(cat out.err)"; fi
    (cd out && rm -f tail.svg && gnuplot tail.gp) >/dev/null 2>&1
    if [ -s out/tail.svg ]; then ok picture_again; else fail picture_again "the script beside the data fails"; fi
fi
for word in 'against credit' 'replies/s' 'Latency from the intended send'; do
    if grep -q "$word" out.txt; then ok "says_$(echo "$word" | tr ' /' __)"; else fail "says" "no \"$word\""; fi
done

# One variant of a comparison is the run by itself.
"$HVSIM" run --quiet --set /hosts/0/scheduler=credit2 --out alone rpc.json >/dev/null 2>&1
grep '^credit2,' out/clients.csv | sed 's/^credit2,//' >a
tail -1 alone/clients.csv >b
if cmp -s a b; then ok as_alone; else fail as_alone "a variant differs from the same run by itself"; fi

# Common random numbers: what is not changed is the same, and its paired change is exactly nothing.
"$HVSIM" compare --quiet --vary '/title=a,b' --out same rpc.json >/dev/null 2>&1
grep '^a,' same/clients.csv | cut -d, -f2- >a
grep '^b,' same/clients.csv | cut -d, -f2- >b
if cmp -s a b; then ok same_numbers; else fail same_numbers "equal variants give different figures"; fi
if grep '"metric": "latency_mean"' same/results.json | grep -q '"ratio": {"value": 1, "low": 1, "high": 1}'; then
    ok no_change
else
    fail no_change "$(grep '"metric": "latency_mean"' same/results.json)"
fi

# A comparison knows the change better than two runs apart would.
awk '/"metric": "latency_mean"/ && /"ratio"/' out/results.json | head -1 >line
if grep -q '"ratio": {"value": [0-9.e-]*, "low": [0-9.e-]*, "high"' line; then ok interval; else fail interval "$(cat line)"; fi

# Every combination, the first --vary slowest.
"$HVSIM" compare --quiet --replications 2 --set /duration=200ms --vary /hosts/0/pcpus=1,2 \
    --vary '/hosts/0/dom0/hard_affinity=0,"0"' --json rpc.json >json 2>/dev/null
grep -o '"label": "[^"]*\(\\"[^"]*\)*"' json >labels
cat >expected <<'END'
"label": "pcpus=1, hard_affinity=0"
"label": "pcpus=1, hard_affinity=\"0\""
"label": "pcpus=2, hard_affinity=0"
"label": "pcpus=2, hard_affinity=\"0\""
END
if cmp -s labels expected; then ok combinations; else fail combinations "$(cat labels)"; fi

# Without gnuplot it says so and goes on.
mkdir -p bin
for tool in sh env; do ln -sf "$(command -v $tool)" bin/; done
PATH=$PWD/bin "$HVSIM" compare --replications 2 --set /duration=300ms \
    --vary /hosts/0/scheduler=credit,credit2 --out bare rpc.json >/dev/null 2>err
code=$?
if [ $code -eq 0 ] && grep -q 'gnuplot' err && [ -s bare/results.json ] && [ ! -e bare/tail.svg ]; then
    ok no_gnuplot
else
    fail no_gnuplot "exit $code: $(cat err)"
fi
