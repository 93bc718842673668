#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# timeout: 120
#
# hvsim import on stored traces: every figure that Xen's own xenalyze reports, too, must be the same;
# all ways to feed it give the same; damage is survived and told.

set -u
export LC_ALL=C
traces=validation/xen/traces

. validation/checks.sh

# ---- Agreement with xenalyze ----------------------------------------------------------------------
# Both outputs become lines "total SECONDS", "bytes PCPU CLASS N", "v DOMAIN VCPU STATE COUNT MEAN
# SECONDS" and, for stays on one pCPU, "v DOMAIN VCPU affinity COUNT MEAN".

figures_of_xenalyze() {
    awk '
    /^Total time:/ { print "total", $3; next }
    /^ - cpu/ { pcpu = $3; next }
    /^ [a-z0-9]+ *: +[0-9]+$/ { sub(/:/, " "); print "bytes", pcpu, $1, $2; next }
    /^\|-- Domain/ { dom = $3; vcpu = ""; next }
    /^-- v[0-9]+ --/ { vcpu = substr($2, 2); next }
    /^Emulate/ { vcpu = ""; next }
    vcpu == "" { next }
    /cpu affinity:/ { sub(/.*affinity:/, ""); print "v", dom, vcpu, "affinity", $1, $2; next }
    /^ +(running|runnable|wake|preempt|other|blocked|offline|lost):/ {
        name = $1; sub(/:/, "", name); sub(/s$/, "", $3)
        print "v", dom, vcpu, name, $2, $4, $3
    }' | sort
}

figures_of_import() { # FILE HZ
    {
        "$HVSIM" import "$1" --cpu-hz "$2"
        "$HVSIM" import "$1" --cpu-hz "$2" --json | awk -v hz="$2" '
            /^  "cycles":/ { sub(/,/, "", $2); printf "TOTAL %.2f\n", $2 / hz }'
    } | awk '
    $1 == "TOTAL" { print "total", $2; next }
    /^pCPU/ { section = "pcpu"; next }
    /^$/ { section = ""; next }
    section == "pcpu" { for (i = 8; i < NF; i += 2) print "bytes", $1, $i, $(i + 1); next }
    /^Runstates as xenalyze/ { section = "states"; getline; next }
    section == "states" {
        if ($1 == "idle") { dom = 32767; vcpu = substr($2, 2); k = 3 }
        else { split(substr($1, 2), at, "v"); dom = at[1]; vcpu = at[2]; k = 2 }
        if ($k == "on") print "v", dom, vcpu, "affinity", $(k + 3), $(k + 5)
        else print "v", dom, vcpu, $k, $(k + 1), $(k + 3), $(k + 2)
    }' | sort
}

agree() { # WANTED GOT: files of figures
    [ "$(wc -l <"$1")" -ge 10 ] || { echo "only $(wc -l <"$1") figures"; return 1; }
    diff "$1" "$2" | grep '^[<>]' | head -n 1
    cmp -s "$1" "$2"
}

hz_of() { # TRACE
    case $1 in
    */reference/*) echo 2400000000 ;;
    *noicount*) echo 2300000000 ;;
    *) echo 1000000000 ;;
    esac
}

n=0
while read -r trace; do
    name=$(basename "$trace" .xentrace.gz)
    set=$(basename "$(dirname "$trace")")
    hz=$(hz_of "$trace")
    figures_of_import "$trace" "$hz" >"$TMP/ours"
    if command -v xenalyze >/dev/null; then
        zcat "$trace" >"$TMP/plain.xentrace"
        xenalyze --cpu-hz "$hz" --summary "$TMP/plain.xentrace" 2>/dev/null | figures_of_xenalyze >"$TMP/theirs"
        check "xenalyze-$set-$name" agree "$TMP/theirs" "$TMP/ours"
        n=$((n + 1))
    fi
    stored=${trace%.xentrace.gz}.xenalyze-summary.txt
    if [ -f "$stored" ]; then
        figures_of_xenalyze <"$stored" >"$TMP/theirs"
        check "stored-$name" agree "$TMP/theirs" "$TMP/ours"
    fi
done < <(find $traces -name '*.xentrace.gz' | sort)
[ "$n" -gt 0 ] || echo "skip xenalyze: it is not installed (Debian: xen-utils-common)"

# Busy, idle and lost time of pCPUs: xenalyze -% against the JSON.
trace=$traces/reference/sample_lost_wrap.xentrace.gz
if command -v xenalyze >/dev/null; then
    zcat $trace >"$TMP/plain.xentrace"
    xenalyze --cpu-hz 2400000000 --report-pcpu "$TMP/plain.xentrace" 2>/dev/null | awk '
        /^pcpu/ { pcpu = $2 }
        /^ +(running|idle|lost):/ { sub(/:/, "", $1); print pcpu, $1, $2, $4 }' |
        sed 's/running/busy/' | sort >"$TMP/theirs"
    "$HVSIM" import $trace --json | awk '
        /"pcpu":/ && !/ns/ { gsub(/,/, ""); pcpu = $2 }
        /"(busy|idle|lost)": *\{"count"/ && !/mean/ {
            gsub(/[{}",:]/, " ")
            if ($3 > 0) print pcpu, $1, $3, int($5 / $3)
        }' | sort >"$TMP/ours"
    check pcpu-times cmp "$TMP/theirs" "$TMP/ours"
fi

# ---- Ways in and out ------------------------------------------------------------------------------

trace=$traces/credit-2pcpu-pool/e3.xentrace.gz
zcat $trace >"$TMP/e3"
body() { tail -n +2; } # without the file's name
"$HVSIM" import $trace | body >"$TMP/gz"
"$HVSIM" import "$TMP/e3" | body >"$TMP/file"
"$HVSIM" import - <"$TMP/e3" | body >"$TMP/stdin"
# shellcheck disable=SC2002 # a pipe on purpose
cat $trace | "$HVSIM" import - | body >"$TMP/pipe"
check ways-in-file cmp "$TMP/gz" "$TMP/file"
check ways-in-stdin cmp "$TMP/gz" "$TMP/stdin"
check ways-in-pipe-of-gzip cmp "$TMP/gz" "$TMP/pipe"
check default-frequency-is-told grep -q "2400000000 Hz (xenalyze's default; give .*--cpu-hz" "$TMP/gz"
check wrong-frequency-is-told grep -q "say 1000.[0-9] MHz: try --cpu-hz\|say 999.[0-9] MHz: try --cpu-hz" "$TMP/gz"
"$HVSIM" import $trace --cpu-hz 1G | body >"$TMP/1G"
"$HVSIM" import $trace --cpu-hz=1000MHz | body >"$TMP/1000M"
check frequency-units cmp "$TMP/1G" "$TMP/1000M"
for bad in 0 -1 1.23456789012G 1T 18G "" G; do
    check "frequency-refused-$bad" status 2 "$HVSIM" import $trace --cpu-hz "$bad"
done

"$HVSIM" import $trace --cpu-hz 1G --dump >"$TMP/dump"
records=$("$HVSIM" import $trace --json | awk '/^  "records":/ { sub(/,/, "", $2); print $2 }')
check dump-has-every-record test "$(wc -l <"$TMP/dump")" = "$records"
check dump-is-in-order sort -c -s -n -k 1,1 "$TMP/dump"

# Every word of the workload counts towards the sums beside it, and with the waits to no more than
# the whole.
"$HVSIM" import $trace --cpu-hz 1G --workload "$TMP/w.json" >"$TMP/out"
check workload-summary-is-the-same test "$(tail -n +2 "$TMP/out" | cksum)" = "$(cksum <"$TMP/1G")"
awk '
    /"duration_ns"/ { match($0, /"duration_ns":[0-9]+/); whole = substr($0, RSTART + 14, RLENGTH - 14) }
    /"(computed|blocked|paused|lost)_ns":/ { gsub(/[",:]/, " "); want[substr($1, 1, 1)] = $2 }
    /"ops_count":/ { gsub(/,/, ""); ops = $2 }
    /^        "/ {
        gsub(/[",]/, " ")
        for (i = 1; i <= NF; i++) {
            ops--
            kind = substr($i, 1, 1)
            if (kind ~ /[cbpg]/) sum[kind == "g" ? "l" : kind] += substr($i, 2) + 0
            else if (kind !~ /[wy]/) bad = "word " $i
        }
    }
    /^      \]/ {
        all = 0
        for (kind in want) {
            # Each word is rounded down to ns.
            if (sum[kind] > want[kind] || sum[kind] < want[kind] - 100000) bad = kind " " sum[kind] " of " want[kind]
            all += sum[kind]
        }
        if (ops != 0) bad = "ops_count"
        if (all > whole) bad = all " ns of " whole
        split("", sum); vcpus++
    }
    END { if (vcpus < 3) bad = vcpus " vCPUs"; if (bad) { print bad; exit 1 } }' "$TMP/w.json" >"$TMP/sums"
check workload-adds-up test ! -s "$TMP/sums"
check workload-unwritable status 2 "$HVSIM" import $trace --workload "$TMP/none/w.json"

# ---- Usage ----------------------------------------------------------------------------------------

check help status 0 "$HVSIM" import --help
check help-says-what grep -q -- --workload "$TMP/out"
check no-trace status 2 "$HVSIM" import
check two-traces status 2 "$HVSIM" import $trace $trace
check unknown-option status 2 "$HVSIM" import $trace --frequency 1G
check json-and-dump status 2 "$HVSIM" import $trace --json --dump
check missing-file status 2 "$HVSIM" import "$TMP/none"
check directory status 2 "$HVSIM" import "$TMP"
: >"$TMP/empty"
check empty-file status 2 "$HVSIM" import "$TMP/empty"
check other-file status 2 "$HVSIM" import $traces/README.md
check other-file-is-told grep -q "no xentrace" "$TMP/err"

# ---- Damage ---------------------------------------------------------------------------------------

size=$(wc -c <"$TMP/e3")
head -c $((size - 7)) "$TMP/e3" >"$TMP/bad"
check truncated status 0 "$HVSIM" import "$TMP/bad"
check truncated-is-told grep -q "a last record that is not whole" "$TMP/out"
head -c $(($(wc -c <$trace) / 2)) $trace >"$TMP/bad"
check truncated-gzip status 0 "$HVSIM" import "$TMP/bad"
check truncated-gzip-is-told grep -q "gzip data ends early" "$TMP/out"
{ head -c 50000 "$TMP/e3"; tail -c +50008 "$TMP/e3"; } >"$TMP/bad"
check bytes-missing status 0 "$HVSIM" import "$TMP/bad"
check bytes-missing-is-told grep -q "bytes skipped" "$TMP/out"
cat "$TMP/e3" "$TMP/e3" >"$TMP/bad"
check time-goes-back status 0 "$HVSIM" import "$TMP/bad"
check time-goes-back-is-told grep -q "1 times the TSC went back" "$TMP/out"

# ---- Memory: a long trace through a pipe under a limit of 100 MB of data ------------------------------

if [ -n "${SANITIZED:-}" ]; then
    echo "skip long-pipe-in-100-MB: the sanitizer's own memory exceeds the limit"
else
    (
        ulimit -d 100000
        for ((i = 0; i < 300; i++)); do cat "$TMP/e3"; done | "$HVSIM" import - --json --workload "$TMP/w.json"
    ) >"$TMP/out" 2>"$TMP/err"
    check long-pipe-in-100-MB test "$(awk '/^  "bytes":/ { sub(/,/, "", $2); print $2 }' "$TMP/out")" = $((300 * size))
fi
