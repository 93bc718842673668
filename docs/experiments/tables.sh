#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Tables of the pages about replicas, made of what `hvsim compare` wrote.
#
#   docs/experiments/tables.sh [--update] [--where AXIS=VALUE] NAME DIR
#
# DIR holds the results of `hvsim compare experiments/library/NAME.sweep.json [--where ...] --out DIR`.
# In docs/experiments/NAME.md each table follows a line
#
#   <!-- rows: AXIS...; deadline: MS; columns: COLUMN... -->    a row for each variant
#   <!-- deadlines: COLUMN -->                                  variants by deadlines
#   <!-- mixed -->                                              replicas-mixed's calculation
#
# and is compared with what DIR gives: all of its rows, or with --where those of DIR. --update puts
# it there instead. A line "ok NAME" or "FAIL NAME: why" for the page.

set -u
export LC_ALL=C
update='' where=''
while [ $# -gt 2 ]; do
    case $1 in
    --update) update=1 ;;
    --where) where=$2 && shift ;;
    *) break ;;
    esac
    shift
done
name=$1 dir=$2 page=docs/experiments/$1.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Every table of the page, computed: $work/table.N
# shellcheck disable=SC2016 # awk's own
program='
function split_csv(line, f,   n, i, c, quoted, cell) {
    n = 0; cell = ""; quoted = 0
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "\"") quoted = !quoted
        else if (c == "," && !quoted) { f[++n] = cell; cell = "" }
        else cell = cell c
    }
    f[++n] = cell
    return n
}
function figure(x) { return x == "" ? "-" : sprintf("%.3g", x) }
function range(x, low, high) {
    return figure(x) (low == "" ? "" : " (" figure(low) " to " figure(high) ")")
}
function trim(s) { gsub(/^ +| +$/, "", s); return s }
# A cell of row r of control.csv, or of a group of the same variant.
function column(r, name) {
    if (name in of_range)
        return range(value[r, of_range[name]], value[r, stem[name] "_low"], value[r, stem[name] "_high"])
    if (name in of_group) {
        return range(group[variant[r], of_group[name], "cpu_share_percent"],
                     group[variant[r], of_group[name], "cpu_share_low_percent"],
                     group[variant[r], of_group[name], "cpu_share_high_percent"])
    }
    if (name in of_loop) return figure(loop[variant[r], of_loop[name]])
    return figure(value[r, plain[name]])
}
BEGIN {
    n = split("unavailable unavailable_percent unavailable all_late all_late_percent all_late lift lift lift second second_late second_late phi phi phi sampled sampled_percent sampled", t, " ")
    for (i = 1; i <= n; i += 3) { of_range[t[i]] = t[i + 1]; stem[t[i]] = t[i + 2] }
    n = split("late late_percent independent independent_percent found smallest_lift mttf mttf_s mttr mttr_s replicas replicas rounds rounds", t, " ")
    for (i = 1; i <= n; i += 2) plain[t[i]] = t[i + 1]
    of_loop["cost"] = "control_cost_per_s"; of_loop["falls"] = "falls_1/h"
    of_group["hogs"] = "xen1/hog"; of_group["sleepers"] = "xen1/sleeper"
    n = split("unavailable|without a setpoint, %|late|one late, %|all_late|all late, %|independent|if independent, %|lift|lift|found|found from|second|P(2nd late) if one is|phi|phi|sampled|by sampling, %|mttf|MTTF, s|mttr|MTTR, s|replicas|replicas|rounds|rounds|cost|cost of the plant|falls|falls per hour|hogs|hogs, % of a CPU|sleepers|sleepers, % of a CPU", t, "|")
    for (i = 1; i <= n; i += 2) title[t[i]] = t[i + 1]
    while ((getline line < control) > 0) {
        k = split_csv(line, f)
        if (!heads) { heads = k; for (i = 1; i <= k; i++) head[i] = f[i]; continue }
        rows++
        variant[rows] = f[1]
        for (i = 2; i <= k; i++) value[rows, head[i]] = f[i]
    }
    while ((getline line < loops) > 0) {
        k = split_csv(line, f)
        if (!loop_heads) { loop_heads = k; for (i = 1; i <= k; i++) lhead[i] = f[i]; continue }
        for (i = 3; i <= k; i++) loop[f[1], lhead[i]] = f[i]
    }
    while ((getline line < groups) > 0) {
        k = split_csv(line, f)
        if (!group_heads) { group_heads = k; for (i = 1; i <= k; i++) ghead[i] = f[i]; continue }
        for (i = 3; i <= k; i++) group[f[1], f[2], ghead[i]] = f[i]
    }
}
/^<!-- rows:/ {
    spec = $0
    sub(/^<!-- rows: */, "", spec); sub(/ *-->$/, "", spec)
    split(spec, part, ";")
    axes = split(trim(part[1]), axis, " ")
    deadline = part[2]; sub(/.*: */, "", deadline)
    sub(/.*: */, "", part[3])
    columns = split(trim(part[3]), name, " ")
    out = work "/table." ++tables
    printf "|" > out
    for (i = 1; i <= axes; i++) printf " %s |", axis[i] > out
    for (i = 1; i <= columns; i++) printf " %s |", title[name[i]] > out
    printf "\n|" > out
    for (i = 1; i <= axes + columns; i++) printf "---|" > out
    printf "\n" > out
    for (r = 1; r <= rows; r++) {
        if (value[r, "deadline_ms"] + 0 != deadline + 0) continue
        k = split(variant[r], label, "; ")
        printf "|" > out
        for (i = 1; i <= axes; i++) printf " %s |", label[i] > out
        for (i = 1; i <= columns; i++) printf " %s |", column(r, name[i]) > out
        printf "\n" > out
    }
    close(out)
}
/^<!-- deadlines:/ {
    spec = $0
    sub(/^<!-- deadlines: */, "", spec); sub(/ *-->$/, "", spec)
    out = work "/table." ++tables
    printf "| %% of rounds late after |" > out
    count = 0
    for (r = 1; r <= rows && variant[r] == variant[1]; r++) { printf " %g ms |", value[r, "deadline_ms"] > out; count++ }
    printf "\n|" > out
    for (i = 0; i <= count; i++) printf "---|" > out
    printf "\n" > out
    for (r = 1; r <= rows; r++) {
        if (r == 1 || variant[r] != variant[r - 1]) printf "| %s |", variant[r] > out
        printf " %s |", figure(value[r, spec == "late" ? "late_percent" : "all_late_percent"]) > out
        if (r == rows || variant[r + 1] != variant[r]) printf "\n" > out
    }
    close(out)
}
# Availability with hosts that fail independently: every set of hosts that is up leaves another
# placement, whose unavailability without failures is known.
function up(u, what) {
    return what == "" ? 1 : known[what]
}
function mix(p, both, only_first, only_second) {
    return (1 - p) ^ 2 * up(0, both) + (1 - p) * p * (up(0, only_first) + up(0, only_second)) + p * p
}
function one(p, what) { return (1 - p) * up(0, what) + p }
function total(p, what) {
    if (what == "1 physical" || what == "1 virtual" || what ~ /virtual, one host$/) return one(p, what)
    if (what == "2 physical") return mix(p, what, "1 physical", "1 physical")
    if (what == "3 physical")
        return (1 - p) ^ 3 * known[what] + 3 * (1 - p) ^ 2 * p * known["2 physical"] + 3 * (1 - p) * p ^ 2 * known["1 physical"] + p ^ 3
    if (what == "2 virtual, two hosts") return mix(p, what, "1 virtual", "1 virtual")
    if (what == "2 virtual on one host, 1 on another") return mix(p, what, "2 virtual, one host", "1 virtual")
    if (what == "1 virtual, 1 physical") return mix(p, what, "1 virtual", "1 physical")
    if (what == "2 virtual on one host, 1 physical") return mix(p, what, "2 virtual, one host", "1 physical")
    return -1
}
/^<!-- mixed/ && where { tables++; next } # it takes all rows
/^<!-- mixed/ {
    out = work "/table." ++tables
    for (r = 1; r <= rows; r++) known[variant[r]] = value[r, "unavailable_percent"] / 100
    printf "| replicas | hosts up, %% | hosts fail, %% | calculated, %% | with real failures, %% |\n|---|---|---|---|---|\n" > out
    for (r = 1; r <= rows; r++) {
        if (variant[r] ~ /, hosts fail$/) continue
        for (k = 1; k <= rows; k++) if (variant[k] == variant[r] ", hosts fail") break
        printf "| %s | %s | %s | %s | %s |\n", variant[r], column(r, "unavailable"), k <= rows ? column(k, "unavailable") : "-",
            figure(100 * total(0.02, variant[r])), figure(100 * total(real, variant[r])) > out
    }
    close(out)
}
'
awk -v control="$dir/control.csv" -v groups="$dir/groups.csv" -v loops="$dir/loops.csv" -v work="$work" -v real=0.000114 -v where="$where" "$program" "$page" || exit 1

# The tables as they stand in the page.
awk -v work="$work" '
    /^<!-- (rows|deadlines|mixed)/ { out = work "/page." ++n; printf "" > out; next }
    out && /^\|/ { print > out; next }
    out && !/^$/ { close(out); out = "" }' "$page"

if [ -n "$update" ]; then
    awk -v work="$work" '
        /^<!-- (rows|deadlines|mixed)/ {
            print
            print ""
            file = work "/table." ++n
            while ((getline line < file) > 0) print line
            skip = 1
            next
        }
        skip && (/^\|/ || /^$/) { next }
        skip { print ""; skip = 0 }
        { print }' "$page" >"$work/new" && cat "$work/new" >"$page"
    echo "# updated $page"
    exit 0
fi
tables=0
for table in "$work"/table.*; do
    [ -e "$table" ] || break
    shown=$work/page.${table##*.}
    tables=$((tables + 1))
    if [ -n "$where" ]; then # what DIR has must stand there; its third line is its first row
        if ! [ "$(wc -l <"$table")" -gt 2 ] || grep -Fxvf "$shown" "$table" >"$work/missing"; then
            echo "FAIL $name: table $tables lacks: $(head -n 1 "$work/missing")"
            exit 1
        fi
    elif ! cmp -s "$table" "$shown"; then
        echo "FAIL $name: table $tables: $(diff "$shown" "$table" | grep '^[<>]' | head -n 2 | tr '\n' ' ')"
        exit 1
    fi
done
if [ $tables = 0 ]; then echo "FAIL $name: no table in $page"; else echo "ok $name: $tables tables"; fi
