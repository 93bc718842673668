#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# timeout: 120
#
# hvsim report and --timeline without a browser: what they take, what they refuse, same bytes.
# (validation/e2e/slow/report.sh looks at the page in Chromium.)

set -u
export LC_ALL=C

. validation/checks.sh

cat >"$TMP/host.json" <<'EOF2'
{ "version": 1, "title": "A <b>title</b> & </script>", "warmup": "100ms", "duration": "400ms", "replications": 2,
  "hosts": [ { "name": "xen", "pcpus": 2,
      "domains": [ { "name": "waker", "count": 2, "programs": [ { "run": { "type": "burst_sleep", "compute": "1ms", "sleep": "1ms" } } ] },
                   { "name": "hog", "count": 2, "programs": [ { "run": "hog" } ] } ] } ] }
EOF2
# shellcheck disable=SC2317
run() { "$HVSIM" run "$TMP/host.json" -q "$@"; }

check "a run with --timeline" status 0 run --out "$TMP/a" --timeline 100ms..200ms
check "it begins with its name" says '^hvsimTL1' "$TMP/a/timeline-1-xen.hvt"
check "the same bytes with other workers" status 0 run --out "$TMP/b" --timeline 100ms..200ms --jobs 1
check "timelines are the same" cmp "$TMP/a/timeline-1-xen.hvt" "$TMP/b/timeline-1-xen.hvt"
check "recording changes no results" status 0 run --out "$TMP/c"
check "results are the same" cmp "$TMP/a/results.json" "$TMP/c/results.json"
for span in 5 5ms..2ms ..5ms 1..2 -1ms..2ms; do
    check "--timeline $span is refused" status 2 run --out "$TMP/x" "--timeline=$span"
    check "--timeline $span: why" says "--timeline $span" "$TMP/err"
done
check "--timeline needs --out" status 2 run --timeline 1ms..2ms
check "a timeline after the end is empty, not wrong" status 0 run --out "$TMP/d" --timeline 10s..20s

check "a page" status 0 "$HVSIM" report "$TMP/a" -o "$TMP/a.html"
check "its title is text" says '<title>A &lt;b>title&lt;/b> &amp; &lt;/script></title>' "$TMP/a.html"
if [ "$(grep -o '<script' "$TMP/a.html" | wc -l)" = "$(grep -o '</script>' "$TMP/a.html" | wc -l)" ]; then
    ok "scripts end where they should"
else
    fail "scripts end where they should" "numbers of <script and </script> differ"
fi
check "another title" status 0 "$HVSIM" report "$TMP/a" "$TMP/d" -o "$TMP/two.html" --title "Two runs"
check "two runs" says '<title>Two runs</title>' "$TMP/two.html"
check "no directory" status 2 "$HVSIM" report
check "a directory that is not there" status 2 "$HVSIM" report "$TMP/nowhere" -o "$TMP/x.html"
check "a file" status 2 "$HVSIM" report "$TMP/a/results.json" -o "$TMP/x.html"
check "says what it expects" says 'results.json: .*; give a directory that run, compare or sweep' "$TMP/err"
mkdir "$TMP/empty"
check "a directory without results" status 2 "$HVSIM" report "$TMP/empty" -o "$TMP/x.html"
check "says what it wants" says 'no results.json' "$TMP/err"
mkdir "$TMP/other" && echo '{"a": 1}' >"$TMP/other/results.json"
check "results of something else" status 2 "$HVSIM" report "$TMP/other" -o "$TMP/x.html"
check "nothing was written" test ! -e "$TMP/x.html"
exit 0
