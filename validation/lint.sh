#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What can be said about the sources without running them:
#
#   validation/lint.sh [CHECK...]      all checks, or the named ones
#   validation/lint.sh --files         the C files that are checked
#   validation/lint.sh --list          the names of the checks
#
# Prints "ok lint-CHECK", "FAIL lint-CHECK: how many" after the findings, or "skip lint-CHECK: why"
# when a tool is missing. Exit 1 if any failed.

# shellcheck disable=SC2317 # the checks are called by name
# shellcheck disable=SC2046 # file names have no spaces
# shellcheck disable=SC2016 # awk programs
true

set -u
export LC_ALL=C.UTF-8
cd "$(dirname "$0")/.." || exit 1

checks=(includes libm headers format shellcheck cppcheck tidy)
status=0

# In a clone: what git knows and what is new but not ignored. In a release: all there is.
all_files() {
    { git ls-files --cached --others --exclude-standard 2>/dev/null || find . -type f -printf '%P\n'; } |
        grep -v '^build' | while read -r f; do [ ! -f "$f" ] || echo "$f"; done
}
c_files() { all_files | grep '\.[ch]$'; }

# verdict CHECK FINDINGS: print them and what they mean.
verdict() {
    if [ -z "$2" ]; then
        echo "ok lint-$1"
    else
        echo "$2"
        echo "FAIL lint-$1: $(wc -l <<<"$2") lines of findings"
        status=1
    fi
}

skip() { echo "skip lint-$1: $2"; }
have() { command -v "$1" >/dev/null || { skip "$2" "no $1" && return 1; }; }

# Who may include whom: floors downwards only; inside models the arrows of the design, and
# inside experiments rooms of this order.
# <simgrid/...> belongs to sim/simgrid.c, and to the plain-SimGrid twin among the benchmarks.
lint_includes() {
    verdict includes "$(awk '
        BEGIN {
            floor["sim"] = 1; floor["models"] = 2; floor["workloads"] = 3; floor["experiments"] = 4
            floor["validation"] = 5; floor["include"] = 2 # what a plug-in sees: models
            may["hypervisor"] = "hypervisor"
            may["schedulers"] = "hypervisor schedulers"
            may["guest"] = "hypervisor guest"
            may["net"] = "hypervisor guest net"
            may["block"] = "hypervisor guest block"
            may["control"] = "hypervisor guest net block control"
            rooms = split("scenario traces study results sweep compare search validate commands", room)
            for (i = 1; i <= rooms; i++) above[room[i]] = i
        }
        /^[ \t]*#[ \t]*include[ \t]*</ && /<simgrid\// {
            if (FILENAME != "sim/simgrid.c" && FILENAME !~ /^validation\/bench\//)
                print FILENAME ":" FNR ": SimGrid is called in sim/simgrid.c only"
        }
        /^[ \t]*#[ \t]*include[ \t]*"/ {
            split($0, quoted, "\"")
            target = quoted[2]
            if (target == "suites.h") next # generated
            n = split(FILENAME, from, "/"); split(target, to, "/")
            if (!(to[1] in floor)) {
                print FILENAME ":" FNR ": \"" target "\" is not a path from the root"
                next
            }
            if (floor[to[1]] > floor[from[1]])
                print FILENAME ":" FNR ": " from[1] " includes " to[1] ", a floor above it"
            if (from[1] == "models" && to[1] == "models" &&
                index(" " may[from[2]] " ", " " to[2] " ") == 0)
                print FILENAME ":" FNR ": models/" from[2] " may not include models/" to[2]
            if (from[1] == "experiments" && to[1] == "experiments" && n > 2 &&
                !(above[to[2]] && above[to[2]] <= above[from[2]]))
                print FILENAME ":" FNR ": experiments/" from[2] " may not include experiments/" to[2]
        }' $(c_files))"
}

# Functions of the C library whose last bits depend on processor or version: results would differ
# between machines. sim/detmath.h has the ones to use. Reports for people may use them.
libm_allowed='^(validation/|experiments/results/report)'
lint_libm() {
    verdict libm "$(c_files | grep '\.c$' | grep -Ev "$libm_allowed" | xargs -r awk '
        /^[ \t]*\*/ { next } # inside a comment
        { line = $0; gsub(/"([^"\\]|\\.)*"/, "", line); sub(/\/\*.*/, "", line) }
        match(line, /(^|[^A-Za-z0-9_.>"])(log|log2|log10|log1p|exp|exp2|expm1|pow|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|cbrt|hypot|lgamma|tgamma|erf|erfc|fma)[fl]?[ ]?\(/) {
            print FILENAME ":" FNR ": " substr(line, RSTART, RLENGTH) "...) differs between machines"
        }')"
}

# Each C file starts with its licence, and stays readable in one sitting.
lint_headers() {
    verdict headers "$(for f in $(c_files); do
        head -n 1 "$f" | grep -q 'SPDX-License-Identifier: GPL-3.0-or-later' ||
            echo "$f:1: no SPDX line"
        lines=$(wc -l <"$f")
        [ "$lines" -le 1000 ] || echo "$f: $lines lines, more than 1000"
    done)"
}

lint_format() {
    have clang-format format || return 0
    case $(clang-format --version) in
    *' 14.'*) ;;
    *) skip format "clang-format 14 decides, this is another" && return ;;
    esac
    verdict format "$(clang-format --dry-run --ferror-limit=1 $(c_files) 2>&1 |
        sed -n 's/: error: code should be clang.*/: make format/p; s/: warning: code should be clang.*/: make format/p')"
}

lint_shellcheck() {
    have shellcheck shellcheck || return 0
    verdict shellcheck "$(
        shellcheck -S warning -e SC2238 -f gcc .ci/run $(all_files | grep '\.sh$') 2>&1
        # scripts that lie together and source each other
        shellcheck -x -P SCRIPTDIR -S warning -f gcc $(all_files | grep '^validation/xen/capture/record') 2>&1
    )"
}

lint_cppcheck() {
    have cppcheck cppcheck || return 0
    verdict cppcheck "$(cppcheck -q -j "$(nproc)" --std=c11 -I. -D_GNU_SOURCE= --inline-suppr \
        --enable=warning,performance,portability --suppress=missingIncludeSystem \
        --suppress=unknownMacro --suppress=duplicateAssignExpression \
        --suppress=uninitvar --suppress=legacyUninitvar --suppress=nullPointer --suppress=nullPointerRedundantCheck --template='{file}:{line}: {id}: {message}' \
        $(c_files | grep '\.c$' | grep -v '^validation/') 2>&1)"
}

# One file. What passed is noted in build/tidy under a digest of the file, of the headers it
# includes and of the settings, since this is by far the slowest check.
tidy_file() { # FILE
    local flags=(-std=c17 -I. -D_GNU_SOURCE= -I/usr/include/cjson) key found
    key=$(clang "${flags[@]}" -MM "$1" 2>/dev/null | tr -d '\\\n' | cut -d: -f2- |
        xargs -r cat .clang-tidy | sha256sum | cut -c1-32)
    [ ! -e "build/tidy/$key" ] || return 0
    found=$(clang-tidy --quiet "$1" -- "${flags[@]}" 2>/dev/null |
        sed -n "s|^$PWD/||; s|^\./||; / \(warning\|error\): /p")
    if [ -n "$found" ]; then echo "$found"; else : >"build/tidy/$key"; fi
}

lint_tidy() {
    have clang-tidy tidy || return 0
    mkdir -p build/tidy
    export -f tidy_file
    verdict tidy "$(c_files | grep '\.c$' | grep -v '^validation/' |
        xargs -r -P "$(nproc)" -I {} bash -c 'tidy_file {}' | sort -u)"
}

case ${1:-} in
--files) c_files && exit ;;
--list) printf '%s\n' "${checks[@]}" && exit ;;
esac
for check in "${@:-${checks[@]}}"; do
    "lint_$check"
done
exit $status
