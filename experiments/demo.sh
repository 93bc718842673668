#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# make demo: the published TerrierTail experiment (library/rpc-12vm.json) under Credit and under
# TerrierTail with the same random numbers, in one table beside the published figures.
#
#   HVSIM=path of the program   OUT=directory for results (out/demo)

set -eu
cd "$(dirname "$0")/.."
hvsim=${HVSIM:-build/hvsim}
out=${OUT:-out/demo}

mkdir -p "$out"
"$hvsim" compare experiments/library/rpc-12vm.json --vary /hosts/0/scheduler=credit,terriertail \
    --out "$out" >"$out/compare.txt"

# Rows of the table: which file, whose row, which column, the metric in changes.csv; then what was
# published (papers: Asyabi et al., TPDS 2018; digitised).
awk -F, -v out="$out" '
function load(file, key,   line, f, n, i, head) {
    while ((getline line <file) > 0) {
        n = split(line, f, ",")
        if (!head) { head = 1; for (i = 1; i <= n; i++) name[i] = f[i]; continue }
        for (i = 3; i <= n; i++) cell[f[1], f[2], name[i]] = f[i]
    }
    close(file)
}
function changes(file,   line, f, n) {
    while ((getline line <file) > 0) {
        n = split(line, f, ",")
        ratio[f[4], f[5]] = f[10]; low[f[4], f[5]] = f[11]; high[f[4], f[5]] = f[12]
    }
    close(file)
}
function parts(file,   line, f, n, i, head) { # of the slowest requests
    while ((getline line <file) > 0) {
        n = split(line, f, ",")
        if (!head) { head = 1; for (i = 1; i <= n; i++) name[i] = f[i]; continue }
        for (i = 5; i <= n && f[3] == "above p99.9"; i++) part[f[1], name[i]] = f[i]
    }
    close(file)
}
function digits(x) { return x >= 10 ? "%.1f" : x >= 1 ? "%.2f" : "%.3f" }
function figure(variant, subject, metric, unit,   x, a, b) {
    x = cell[variant, subject, metric "_" unit]
    a = cell[variant, subject, metric "_low_" unit]; b = cell[variant, subject, metric "_high_" unit]
    if (x == "") return "-"
    if (a == "") return sprintf(digits(x) "       ", x)
    return sprintf(digits(x) " ±%-5s", x, sprintf(digits(x), (b - a) / 2))
}
function change(subject, metric,   r, h) {
    r = ratio[subject, metric]
    if (r == "") return "-"
    if (low[subject, metric] == "") return sprintf("%+.1f %%     ", (r - 1) * 100)
    h = (high[subject, metric] - low[subject, metric]) / 2 * 100
    return sprintf("%+.1f ±%-3.1f %%", (r - 1) * 100, h)
}
function pad(text, width,   n) { # awk counts bytes, or not: count what is not a continuation byte
    n = gsub(/±/, "±", text)
    while (length(text) < width + n * (length("±") - 1)) text = " " text
    return text
}
function row(label, a, b, c,   line) {
    line = sprintf("%-34s %s %s %s", label, pad(a, 15), pad(b, 15), pad(c, 15))
    sub(/ +$/, "", line)
    print line
}
function measured(label, subject, metric, unit) {
    row(label, figure("credit", subject, metric, unit), figure("terriertail", subject, metric, unit),
        change(subject, metric))
}
function published(label, a, b) {
    row(label, sprintf(digits(a) "       ", a), sprintf(digits(b) "       ", b),
        sprintf("%+.1f %%     ", (b / a - 1) * 100))
}
function waits(label, column, more) {
    row(label, sprintf("%.1f       ", part["credit", column] + part["credit", more]),
        sprintf("%.1f       ", part["terriertail", column] + part["terriertail", more]), "")
}
BEGIN {
    parts(out "/breakdown.csv")
    load(out "/clients.csv"); load(out "/groups.csv"); changes(out "/changes.csv")
    printf "12 VMs on one Xen host of 4 pCPUs: an RPC server and 11 lookbusy hogs of 30 %%\n\n"
    row("", "Credit       ", "TerrierTail       ", "change     ")
    measured("Latency p50, ms", "client", "latency_p50", "ms")
    measured("        p90", "client", "latency_p90", "ms")
    measured("        p99", "client", "latency_p99", "ms")
    measured("        p99.9", "client", "latency_p99.9", "ms")
    published("        p99.9 as published", 59.4, 29.5)
    measured("        max", "client", "latency_max", "ms")
    waits("  slowest 0.1 %: wait of its vCPU", "vCPU_wait_ms", "")
    waits("                 wait of dom0", "dom0_wait_ms", "back_dom0_wait_ms")
    measured("Replies per second", "client", "throughput", "per_s")
    measured("CPU of the 11 others, % of a CPU", "xen/hog", "cpu_share", "percent")
    printf "\n± is the half-width of a 95 %% interval; changes are paired, with common random numbers.\n"
}'

echo "
Latency tails: $out/tail.svg and tail.png. All tables: $out/compare.txt; results.json and CSV beside it.
What the published set-up leaves open, and what was chosen: experiments/library/rpc-12vm.json.
\`make demo-map\` shows other choices."
