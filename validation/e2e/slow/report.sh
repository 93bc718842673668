#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# timeout: 400
#
# hvsim report in a real browser: Debian's Chromium, without window, steered by its WebDriver with
# real pointer, wheel and key events. The page must load without console errors and without network,
# zoom, pan, select, filter, explain, and show two schedulers side by side; recordings of a million
# segments must work. Pictures of what was seen are kept in out/report/.

set -u
export LC_ALL=C.UTF-8

ok() { echo "ok $1"; }
fail() { echo "FAIL $1: $2"; }

for need in chromium chromedriver curl jq; do
    if ! command -v $need >/dev/null; then
        echo "skip report in a browser: $need is not installed"
        exit 0
    fi
done
shots=$PWD/out/report
mkdir -p "$shots"

# ---- Results to make pages of ---------------------------------------------------------------------

cp experiments/library/*.platform.xml "$TMP"
cat >"$TMP/host.json" <<'EOF2'
{ "version": 1, "title": "A server beside hogs", "question": "Which scheduler gives the shorter tail?",
  "warmup": "100ms", "duration": "2s", "replications": 3, "platform": "one-host-10g.platform.xml",
  "hosts": [ { "name": "xen", "pcpus": 2, "scheduler": "credit", "dom0": {},
      "domains": [ { "name": "web", "network": {}, "programs": [ { "run": "rpc" } ] },
                   { "name": "hog", "count": 3, "programs": [ { "run": { "type": "lookbusy", "busy": "50%" } } ] } ] } ],
  "clients": [ { "name": "client", "to": "web" } ] }
EOF2
cat >"$TMP/host.sweep.json" <<'EOF2'
{ "version": 1, "title": "Slice and hogs", "scenario": "host.json", "replications": 2,
  "set": [ "/duration=300ms" ],
  "axes": [ { "name": "slice", "at": "/hosts/0/scheduler/tslice", "values": ["1ms", "5ms", "30ms"] },
            { "name": "hogs", "at": "/hosts/0/domains/1/count", "values": [1, 3] } ] }
EOF2
cat >"$TMP/loop.json" <<'EOF2'
{ "version": 1, "title": "Two replicas on a host", "warmup": "500ms", "duration": "5s", "replications": 2,
  "platform": "one-host-10g.platform.xml",
  "hosts": [ { "name": "xen", "pcpus": 2, "scheduler": "credit", "dom0": {},
      "domains": [ { "name": "f", "count": 2, "network": {}, "programs": [ { "run": "controller" } ] },
                   { "name": "hog", "count": 2, "programs": [ { "run": { "type": "lookbusy", "busy": "60%" } } ] } ] } ],
  "control": [ { "name": "volt", "on": "client", "replicas": [ { "type": "domain", "domain": "f" } ] } ] }
EOF2
cat >"$TMP/wakers.json" <<'EOF2'
{ "version": 1, "title": "A million segments", "warmup": "100ms", "duration": "14s", "replications": 1,
  "hosts": [ { "name": "xen", "pcpus": 8, "domains": [
      { "name": "waker", "count": 24, "programs": [ { "run": { "type": "burst_sleep", "compute": "200us", "sleep": "300us" } } ] },
      { "name": "batch", "count": 8, "programs": [ { "run": "hog" } ] } ] } ] }
EOF2
cd "$TMP" || exit 1
{
    "$HVSIM" compare host.json --vary /hosts/0/scheduler=credit,terriertail -q --out pair --timeline 1s..1.5s &&
        "$HVSIM" sweep run host.sweep.json --out sweep --quiet && "$HVSIM" sweep gather sweep &&
        "$HVSIM" run loop.json -q --out loop &&
        "$HVSIM" run wakers.json -q --out wakers --timeline 100ms..14s &&
        "$HVSIM" report pair sweep loop -o report.html && "$HVSIM" report wakers -o wakers.html
} >make.out 2>&1 || { fail "pages are made" "$(tail -n 2 make.out)" && exit 1; }
ok "pages are made"

"$HVSIM" report pair sweep loop -o again.html >/dev/null
if cmp -s report.html again.html; then ok "the same page again"; else fail "the same page again" "bytes differ"; fi
if grep -oE '(src|href)="?(https?:)?//[^ ]*|@import|url\(' report.html >net.out; then
    fail "nothing is loaded from elsewhere" "$(head -n 1 net.out)"
else
    ok "nothing is loaded from elsewhere"
fi

# ---- The browser ----------------------------------------------------------------------------------

chromedriver --port=0 >driver.log 2>&1 &
driver=$!
trap 'kill "$driver" 2>/dev/null; wait "$driver" 2>/dev/null' EXIT
for _ in $(seq 100); do
    port=$(sed -n 's/.*started successfully on port \([0-9]*\).*/\1/p' driver.log)
    [ -n "$port" ] && break
    sleep 0.1
done
[ -n "${port:-}" ] || { fail "chromedriver starts" "$(tail -n 1 driver.log)" && exit 1; }

call() { # PATH JSON: what a command of WebDriver answers
    curl -s -m 60 -H 'Content-Type: application/json' --data-binary "$2" "http://127.0.0.1:$port/session$1"
}
session=$(call "" "$(jq -n --arg dir "$TMP/profile" '{capabilities: {alwaysMatch: {browserName: "chrome",
    "goog:loggingPrefs": {browser: "ALL"}, "goog:chromeOptions": {binary: "/usr/bin/chromium",
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
           "--disable-component-update", "--disable-sync", "--force-prefers-reduced-motion", "--window-size=1360,1000", "--user-data-dir=\($dir)"]}}}}')" |
    jq -r '.value.sessionId // empty')
[ -n "$session" ] || { fail "Chromium starts" "$(tail -n 1 driver.log)" && exit 1; }
# shellcheck disable=SC2317 # called by the trap
stop() {
    curl -s -m 20 -X DELETE "http://127.0.0.1:$port/session/$session" >/dev/null
    kill "$driver" 2>/dev/null
    wait "$driver" 2>/dev/null
}
trap stop EXIT

js() { # SCRIPT: its value (a promise is waited for), strings as they are
    call "/$session/execute/sync" "$(jq -n --arg s "$1" '{script: $s, args: []}')" | jq -r '.value | if type == "object" and .error then "error: \(.message)" else . end'
}
open() { # PAGE
    call "/$session/url" "$(jq -n --arg u "file://$TMP/$1" '{url: $u}')" >/dev/null
    for _ in $(seq 150); do
        [ "$(js 'return document.documentElement.dataset.ready === "yes" && hvsim.timelines.every((t) => t.panes.length && t.frames.length)')" = true ] && return 0
        sleep 0.1
    done
    return 1
}
act() { call "/$session/actions" "{\"actions\": [$1]}" >/dev/null; }
pointer() { # X Y [DOWN/UP ...]: move there, then press and release, or drag to X2 Y2
    local more=''
    [ "${3:-}" = click ] && more=', {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}'
    [ "${3:-}" = drag ] && more=", {\"type\": \"pointerDown\", \"button\": 0}, {\"type\": \"pointerMove\", \"duration\": 100, \"x\": $4, \"y\": $5}, {\"type\": \"pointerUp\", \"button\": 0}"
    act "{\"type\": \"pointer\", \"id\": \"mouse\", \"actions\": [{\"type\": \"pointerMove\", \"duration\": 0, \"x\": $1, \"y\": $2}$more]}"
}
wheel() { # X Y DELTA, with Ctrl
    act "{\"type\": \"key\", \"id\": \"keys\", \"actions\": [{\"type\": \"keyDown\", \"value\": \"\\uE009\"}, {\"type\": \"pause\"}, {\"type\": \"keyUp\", \"value\": \"\\uE009\"}]},
         {\"type\": \"wheel\", \"id\": \"wheel\", \"actions\": [{\"type\": \"pause\"}, {\"type\": \"scroll\", \"x\": $1, \"y\": $2, \"deltaX\": 0, \"deltaY\": $3, \"duration\": 0}]}"
}
key() { act "{\"type\": \"key\", \"id\": \"keys\", \"actions\": [{\"type\": \"keyDown\", \"value\": \"$1\"}, {\"type\": \"keyUp\", \"value\": \"$1\"}]}"; }
type_text() {
    local i
    for ((i = 0; i < ${#1}; i++)); do key "${1:i:1}"; done
}
shot() { # NAME: of the window
    curl -s -m 60 "http://127.0.0.1:$port/session/$session/screenshot" | jq -r .value | base64 -d >"$shots/$1.png"
    [ -s "$shots/$1.png" ] || fail "picture $1" "none was made"
}
is() { # NAME VALUE WANTED
    if [ "$2" = "$3" ]; then ok "$1"; else fail "$1" "$2, wanted $3"; fi
}
holds() { # NAME SCRIPT: it returns true
    local got
    got=$(js "$2")
    if [ "$got" = true ]; then ok "$1"; else fail "$1" "$got"; fi
}
console() { # NAME: no errors since the last time
    local errors
    errors=$(call "/$session/se/log" '{"type": "browser"}' | jq -r '[.value[] | select(.level == "SEVERE" or .level == "WARNING") | .message] | join("; ")')
    if [ -z "$errors" ]; then ok "$1: no errors in the console"; else fail "$1: no errors in the console" "$errors"; fi
}

# ---- The page -------------------------------------------------------------------------------------

if open report.html; then ok "the page loads"; else fail "the page loads" "it did not get ready: $(js 'return document.body.innerText.slice(0, 200)')"; fi
console "report"
shot top
holds "all sections are there" 'const t = document.body.innerText; return ["Verdict", "The scenario in words", "Figures", "Percentiles", "Where latency comes from", "CPU time and fairness", "Control loops", "Sweep", "Timeline", "Data"].every((s) => [...document.querySelectorAll("h2, h3")].some((h) => h.textContent === s)) || t.slice(0, 100)'
holds "every plot has a table" 'return [...document.querySelectorAll(".chart, .bars")].every((c) => c.closest("section").querySelector("table, details")) && document.querySelectorAll(".chart canvas").length >= 3'
# shellcheck disable=SC2016 # for the browser
holds "every figure leads to its data" 'document.querySelectorAll("details.data").forEach((d) => d.fill());
    const lost = [...document.querySelectorAll("a.figure, a.heat, nav a")].filter((a) => !document.getElementById(decodeURIComponent(a.getAttribute("href").slice(1))));
    return lost.length === 0 && document.querySelectorAll("a.figure").length > 50 || `${lost.length} lost, the first ${lost[0] && lost[0].getAttribute("href")}`'
is "a figure is that of results.json" "$(js 'return document.getElementById("d-0-1-client-client-latency_p90").closest("tr").children[1].textContent')" \
    "$(jq '.variants[1].subjects[0].metrics[] | select(.metric == "latency_p90") | .value' pair/results.json)"
holds "verdicts follow intervals" 'const r = hvsim.read(0, "results.json").variants[1].against_first.filter((c) => c.ratio && c.ratio.low !== undefined);
    const words = [...document.querySelectorAll(".verdicts .verdict b")].map((b) => b.textContent);
    const want = r.filter((c) => c.ratio.low > 1).length;
    const got = words.filter((w) => w === "higher").length;
    return got > 0 ? got <= want : want === 0'
js 'document.querySelector("a.figure").click()' >/dev/null
sleep 0.3
holds "a click on a figure opens its table" 'return document.querySelector("tr.arrived").closest("details").open'
# shellcheck disable=SC2016
holds "a chart walks by keys" 'const c = document.querySelector(".chart"); c.focus(); c.dispatchEvent(new KeyboardEvent("keydown", {key: "Home"})); const a = c.plot.cursor.idx; for (let i = 0; i < 3; i++) c.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight"})); return a === 0 && c.plot.cursor.idx === 3 || `${a} ${c.plot.cursor.idx}`'
holds "the heat map has a cell for each point" 'return document.querySelectorAll(".heatmap a.heat").length === 6'
holds "light and dark" 'const b = () => getComputedStyle(document.body).backgroundColor, a = b(); document.querySelector("button.theme").click(); const d = b(); document.querySelector("button.theme").click(); return a !== d && b() === a'
holds "nothing is wider than the page" 'return document.documentElement.scrollWidth <= innerWidth'
js 'document.querySelector("#s0-curves").scrollIntoView()' >/dev/null
shot curves

# ---- The timeline ---------------------------------------------------------------------------------

place() { # SCRIPT for a point of the first pane's canvas: sets x y in the window
    read -r x y < <(js "document.querySelector('.tl-tools').scrollIntoView(); const p = hvsim.timelines[0].panes[0], c = p.canvas.getBoundingClientRect(); const [x, y] = (() => { $1 })(); return [Math.round(c.left + x), Math.round(c.top + y)].join(' ')")
}
span() { js 'return Math.round(hvsim.timelines[0].span())'; }

is "two schedulers at first" "$(js 'return hvsim.timelines[0].panes.length')" 2
before=$(span)
place 'return [600, 60];'
wheel "$x" "$y" -600
after=$(span)
if [ "$after" -lt "$before" ]; then ok "the wheel zooms"; else fail "the wheel zooms" "$before ns before, $after after"; fi
from=$(js 'return hvsim.timelines[0].view.from')
pointer "$x" "$y" drag "$((x - 200))" "$y"
holds "dragging pans" "return hvsim.timelines[0].view.from > $from"
place 'const r = p.recording, list = [...p.rows[0].list].filter((s) => r.date[s] > 0 && r.end[s] < r.length), length = (s) => r.end[s] - r.date[s], s = list.reduce((a, b) => (length(b) > length(a) ? b : a)); hvsim.timelines[0].look(r.date[s] - 2 * length(s), r.end[s] + 2 * length(s)); return [p.x((r.date[s] + r.end[s]) / 2), p.y(0) + 10];'
pointer "$x" "$y" click
sleep 0.5
shot timeline
holds "a click selects a segment" 'const s = hvsim.timelines[0].selected; return s !== null && s.segment !== undefined && s.row.name === "pCPU 0"'
holds "why it was chosen" 'return /chosen: .*\n +because: /.test(document.querySelector(".tl-detail .why").textContent)'
js 'return document.querySelector(".tl-detail .why").textContent' >why.txt
"$HVSIM" explain host.json --set /hosts/0/scheduler=credit --at "$(sed -n '1s/ s .*/s/p' why.txt)" --for 1ns --pcpu 0 >explain.txt 2>&1
if grep -qxF "$(sed -n '$p' why.txt)" explain.txt && grep -qxF "$(sed -n 1p why.txt)" explain.txt; then
    ok "the words of hvsim explain"
else
    fail "the words of hvsim explain" "$(head -n 1 explain.txt)"
fi
js 'hvsim.timelines[0].panes[0].canvas.focus({preventScroll: true})' >/dev/null
first=$(js 'return hvsim.timelines[0].selected.segment')
key .
holds "a key goes to the next segment" "return hvsim.timelines[0].selected.segment > $first"
before=$(span)
key +
after=$(span)
if [ "$after" -lt "$before" ]; then ok "a key zooms"; else fail "a key zooms" "$before, $after"; fi
rows=$(js 'return hvsim.timelines[0].panes[0].rows.length')
js 'const b = hvsim.timelines[0].filterBox; b.scrollIntoView({block: "center"}); b.focus()' >/dev/null
type_text "web"
holds "a filter leaves pCPUs, the server and its clients" "const r = hvsim.timelines[0].panes[0].rows; return r.length < $rows && r.every((x) => x.kind === 'pcpu' || /web|client/.test(x.name)) || r.map((x) => x.name).join()"
holds "others are pushed back" 'const p = hvsim.timelines[0].panes[0]; return p.isDim(p.recording.ofVcpu[0]) === true'
js 'const t = hvsim.timelines[0]; t.filterBox.value = ""; t.filterWords("")' >/dev/null
for mode in priority runstate; do
    holds "colours by $mode" "const t = hvsim.timelines[0], s = document.querySelector('.tl-tools select option[value=$mode]').parentElement, c = t.panes[0].canvas; t.draw(); const a = c.toDataURL(); s.value = '$mode'; s.dispatchEvent(new Event('change')); t.draw(); return t.mode === '$mode' && c.toDataURL() !== a"
done
js 'hvsim.timelines[0].setMode("domain")' >/dev/null
read -r x y < <(js 'const b = [...document.querySelectorAll(".tl-tools label")].find((l) => /side by side/.test(l.textContent)).querySelector("input"); b.scrollIntoView({block: "center"}); const r = b.getBoundingClientRect(); return [Math.round(r.left + 6), Math.round(r.top + 6)].join(" ")')
pointer "$x" "$y" click
holds "side by side" 'const [a, b] = [...document.querySelectorAll(".tl-pane")].map((p) => p.getBoundingClientRect()); return Math.abs(a.top - b.top) < 2 && b.left >= a.right'
holds "both show the same time" 'const [a, b] = hvsim.timelines[0].panes; return a.t(400) - a.t(300) > 0 && Math.abs(a.t(a.width) - b.t(b.width)) < 1'
holds "a request and its hops" 'const t = hvsim.timelines[0], p = t.panes[0], row = p.rows.find((r) => r.kind === "requests"); t.select({pane: p, row, request: row.requests[3]}, true); t.zoomToSelected(); const q = row.requests[3]; return q.part.reduce((s, x) => s + x, 0) === q.end - q.start && document.querySelectorAll(".tl-detail table").length === 2'
sleep 0.3
shot side-by-side
holds "segments add up" 'const p = hvsim.timelines[0].panes[0].recording; return p.totals().every((t) => Math.abs(t.time.reduce((a, b) => a + b, 0) - p.length) < 1)'
holds "a pCPU runs one vCPU at a time" 'const r = hvsim.timelines[0].panes[0].recording; return r.pcpuList.every((l) => l.every((s, i) => !i || r.date[s] >= r.end[l[i - 1]]))'
js 'document.querySelectorAll(".timeline details").forEach((d) => (d.open = true))' >/dev/null
sleep 0.3
js '[...document.querySelectorAll(".timeline table button")][0].click()' >/dev/null
holds "the longest wait can be gone to" 'const s = hvsim.timelines[0].selected; return (s.pane.recording.state[s.segment] & 3) === 1'
console "timeline"

# ---- A million segments ---------------------------------------------------------------------------

if open wakers.html; then ok "a million segments load"; else fail "a million segments load" "not ready"; fi
is "a million segments" "$(js 'return hvsim.timelines[0].panes[0].recording.n')" 1000000
holds "and may be no more" 'return hvsim.timelines[0].panes[0].recording.head.cut === true'
place 'return [600, 60];'
for delta in 400 400 400 -300; do wheel "$x" "$y" $delta; done
pointer "$x" "$y" drag "$((x - 300))" "$y"
call "/$session/execute/async" "$(jq -n '{args: [], script: "const done = arguments[0], t = hvsim.timelines[0]; t.frames.length = 0; let i = 0; const step = () => { if (++i > 60) return done(true); t.look(i * 1e8, i * 1e8 + t.length / (1 + i % 7)); requestAnimationFrame(step); }; step();"}')" >/dev/null
echo "# drawing a frame of it takes, ms (median, longest of 60): $(js 'const f = hvsim.timelines[0].frames.slice().sort((a, b) => a - b); return [f[f.length >> 1], f[f.length - 1]].map((x) => x.toFixed(1)).join(", ")')"
js 'hvsim.timelines[0].look(0, hvsim.timelines[0].length)' >/dev/null
sleep 0.5
shot million
console "a million segments"
exit 0
