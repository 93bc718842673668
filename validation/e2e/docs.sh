#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# timeout: 600
#
# Every command line of the documentation is run, and its output is what the documentation shows.
#
#   validation/e2e/docs.sh [--update] [FILE.md...]     (HVSIM and TMP as for all such scripts)
#
# In docs/**/*.md and README.md, blocks ```console hold commands after "$ " (going on after "> ") and
# below each what it prints, stdout and stderr; a line "..." stands for any lines. The commands of a
# page run one after the other in a directory of their own that looks like the project's root
# (build/hvsim, experiments/), in which files from blocks that follow a line "<!-- file: NAME -->" are
# put first. Commands must succeed. --update writes what was printed into the pages, where they show
# output without "...".
#
# Blocks ```console slow are passed over, but by slow/docs.sh, which runs the pages that have any
# (DOCS_SLOW=1). Commands that are only mentioned must name commands and options that exist.

set -u
export LC_ALL=C.UTF-8
root=$PWD
update=
[ "${1:-}" = --update ] && update=1 && shift
mkdir -p "$TMP/bin"
ln -sf "$(realpath "$HVSIM")" "$TMP/bin/hvsim"
export PATH=$TMP/bin:$PATH

slow=${DOCS_SLOW:-}
if [ $# -gt 0 ]; then
    pages=("$@")
elif [ -n "$slow" ]; then
    mapfile -t pages < <(grep -rl --include='*.md' '^```console slow$' README.md docs | sort)
else
    mapfile -t pages < <(find README.md docs -name '*.md' | sort)
fi

# Does ACTUAL fit EXPECTED, in which a line "..." stands for any lines?
fits() { # EXPECTED ACTUAL
    awk '
        NR == FNR { want[++n] = $0; next }
        { got[++m] = $0 }
        function match_at(first, last, at,   i) {
            for (i = first; i <= last; i++)
                if (want[i] != got[at + i - first] || at + i - first > m) return 0
            return 1
        }
        END {
            at = 1; first = 1; open = 0
            for (i = 1; i <= n + 1; i++) {
                if (i <= n && want[i] != "...") continue
                last = i - 1; size = last - first + 1
                if (i == n + 1 && open) { # the last part stands at the end
                    if (m - size + 1 < at) exit 1
                    at = m - size + 1
                    open = 0
                }
                while (open && at + size - 1 <= m && !match_at(first, last, at)) at++
                if (!match_at(first, last, at)) exit 1
                at += size; first = i + 1; open = 1
                if (i == n + 1 && at != m + 1) exit 1
            }
        }' "$1" "$2"
}

# The first line in which they differ, for people.
difference() { diff "$1" "$2" | grep '^[<>]' | head -n 2 | tr '\n' ' '; }

finish_command() { # PAGE
    local code=0
    [ -n "$command" ] || return 0
    if [ -n "$late" ] && [ -z "$slow" ]; then
        printf '%s' "$expected" >>"$TMP/new.md"
        command='' expected=''
        return 0
    fi
    (cd "$dir" && timeout 900 bash -o pipefail -c "$command") >"$TMP/actual" 2>&1 </dev/null || code=$?
    sed 's/[[:space:]]*$//' "$TMP/actual" >"$TMP/actual.trim"
    printf '%s' "$expected" | sed 's/[[:space:]]*$//' >"$TMP/expected"
    commands=$((commands + 1))
    if [ $code != 0 ]; then
        bad="exit $code: $command: $(head -n 1 "$TMP/actual")"
    elif ! fits "$TMP/expected" "$TMP/actual.trim"; then
        if [ -n "$update" ] && ! grep -qx '\.\.\.' "$TMP/expected"; then
            cp "$TMP/actual.trim" "$TMP/expected"
        else
            bad="$command: $(difference "$TMP/expected" "$TMP/actual.trim")"
        fi
    fi
    [ -z "$bad" ] || problems+=("$bad")
    bad=
    cat "$TMP/expected" >>"$TMP/new.md"
    command='' expected=''
}

# shellcheck disable=SC2094 # the page is rewritten after it was read
run_page() { # FILE
    local line state=text name='' late=
    command='' expected='' bad='' commands=0 problems=()
    dir=$TMP/page
    rm -rf "$dir"
    mkdir -p "$dir/build"
    ln -s "$TMP/bin/hvsim" "$dir/build/hvsim"
    ln -s "$root/experiments" "$dir/experiments"
    : >"$TMP/new.md"
    while IFS= read -r line || [ -n "$line" ]; do
        case $state in
        text)
            case $line in
            '<!-- file: '*' -->') name=${line#<!-- file: } name=${name% -->} ;;
            '```console') state=console late= ;;
            '```console slow') state=console late=1 ;;
            '```'*) if [ -n "$name" ]; then state='file' && mkdir -p "$(dirname "$dir/$name")" && : >"$dir/$name"; else state=block; fi ;;
            *) [ -z "$line" ] || name= ;;
            esac
            ;;
        block) [ "$line" = '```' ] && state=text ;;
        file) if [ "$line" = '```' ]; then state=text name=; else printf '%s\n' "$line" >>"$dir/$name"; fi ;;
        console)
            case $line in
            '```')
                finish_command "$1"
                state=text
                ;;
            '$ '*)
                finish_command "$1"
                command=${line#'$ '}
                ;;
            '> '*)
                command+=$'\n'${line#'> '}
                ;;
            *)
                expected+=$line$'\n'
                continue
                ;;
            esac
            ;;
        esac
        printf '%s\n' "$line" >>"$TMP/new.md"
    done <"$1"
    [ $state = text ] || problems+=("a block does not end")
    [ $commands -gt 0 ] || [ ${#problems[@]} -gt 0 ] || return 0
    if [ ${#problems[@]} = 0 ]; then
        echo "ok docs $1: $commands commands"
    else
        for bad in "${problems[@]}"; do echo "FAIL docs $1: ${bad//$'\n'/ }"; done
    fi
    if [ -n "$update" ] && ! cmp -s "$TMP/new.md" "$1"; then
        cp "$TMP/new.md" "$1"
        echo "# updated $1"
    fi
}

# Commands in `code`, in indented lines and in ```sh blocks are mentioned only. PAGE: COMMAND.
mentioned() {
    awk '
        function say(text) { sub(/^build\//, "", text); sub(/ +#.*/, "", text); print FILENAME ": " text }
        FNR == 1 { fence = "" }
        /^```/ { fence = fence == "" ? ($0 == "```" ? "text" : substr($0, 4)) : "" }
        fence ~ /^console/ { next }
        fence == "" || fence == "sh" {
            if ($0 ~ /^( {4,}|\$ )?(build\/)?hvsim [a-z]/ && (fence == "sh" || /^ {4}/)) {
                text = $0
                while (text ~ /\\$/ && (getline rest) > 0) text = substr(text, 1, length(text) - 1) rest
                sub(/^ +/, "", text)
                say(text)
                next
            }
        }
        fence == "" {
            text = $0
            while (match(text, /`(build\/)?hvsim [a-z][^`]*`/)) {
                say(substr(text, RSTART + 1, RLENGTH - 2))
                text = substr(text, RSTART + RLENGTH)
            }
        }' "$@" | sort -u
}

check_mentioned() {
    local line page words name text option wrong=()
    while IFS= read -r line; do
        page=${line%%: *} words=${line#*: hvsim }
        read -r name text <<<"$words"
        case $name in sweep | help) # of two words, or about another
            read -r text _ <<<"$text"
            case $text in [a-z]*) [ "$name" = help ] && name=$text || name="$name $text" ;; esac ;;
        esac
        # shellcheck disable=SC2086 # one or two words
        if ! "$HVSIM" help $name >"$TMP/help" 2>&1; then
            wrong+=("$page: no command $name")
            continue
        fi
        # shellcheck disable=SC2013 # words, not lines
        for option in $(grep -oE -- '(^| )--[a-z][a-z-]*' <<<"$words"); do
            grep -qE -- "(^|[ ,])$option( |=|\$|,)" "$TMP/help" || wrong+=("$page: hvsim $name has no $option")
        done
    done < <(mentioned "$@")
    if [ ${#wrong[@]} = 0 ]; then
        echo "ok docs: commands that are mentioned exist"
    else
        for line in "${wrong[@]}"; do echo "FAIL docs: commands that are mentioned exist: $line"; done
    fi
}

# The matching itself: a test that never fails would show nothing.
printf 'a\n...\nd\n' >"$TMP/e" && printf 'a\nb\nc\nd\n' >"$TMP/a"
printf 'a\n...\nc\n' >"$TMP/e2"
if fits "$TMP/e" "$TMP/a" && ! fits "$TMP/e2" "$TMP/a" && ! fits "$TMP/a" "$TMP/e"; then
    ok="ok"
else
    ok="FAIL"
fi
echo "$ok docs: output is compared$([ $ok = ok ] || echo ": the comparison is broken")"

cd "$root" || exit 1
for page in "${pages[@]}"; do run_page "$page"; done
[ -z "$slow" ] || exit 0
check_mentioned "${pages[@]}"

# ---- What is made of tables -----------------------------------------------------------------------

"$HVSIM" doc --write "$TMP/doc" || echo "FAIL docs: hvsim doc --write: exit $?"
if [ -n "$update" ]; then
    mkdir -p docs/reference && cp "$TMP"/doc/reference/*.md docs/reference/
fi
if diff -rq "$TMP/doc/reference" docs/reference >"$TMP/diff" 2>&1; then
    echo "ok docs: the reference is that of the tables"
else
    echo "FAIL docs: the reference is that of the tables: $(head -n 1 "$TMP/diff"); make docs writes it"
fi
if docs/architecture.sh | cmp -s - docs/architecture.svg; then
    echo "ok docs: the picture of the architecture is that of the includes"
elif [ -n "$update" ]; then
    docs/architecture.sh >docs/architecture.svg
else
    echo "FAIL docs: the picture of the architecture is that of the includes: make docs draws it"
fi
if ! command -v scdoc >/dev/null; then
    echo "skip docs: man pages: scdoc is not installed"
else
    bad=
    for f in "$TMP"/doc/man/*.scd; do scdoc <"$f" >"${f%.scd}" 2>"$TMP/err" || bad+="$(basename "$f"): $(head -n 1 "$TMP/err") "; done
    pages_made=$(find "$TMP/doc/man" -name '*.1' -size +0 | wc -l)
    wanted=$(($("$HVSIM" help | grep -c '^  [a-z]') + 1))
    if [ -z "$bad" ] && [ "$pages_made" = "$wanted" ]; then
        echo "ok docs: a man page for each command"
    else
        echo "FAIL docs: a man page for each command: $pages_made of $wanted: $bad"
    fi
fi

completes() { # NAME WANTED WORD...: the last word, completed
    local name=$1 wanted=$2 got
    shift 2
    # shellcheck disable=SC2016 # for the other shell
    got=$(bash -c 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hvsim; printf "%s\n" "${COMPREPLY[@]}"' _ \
        "$TMP/doc/completion/hvsim" hvsim "$@" | sort | tr '\n' ' ')
    if [ "${got% }" = "$wanted" ]; then echo "ok docs: completion of $name"; else echo "FAIL docs: completion of $name: $got"; fi
}
completes "commands" "schedulers schema" sch
completes "second words" "gather plan run show" sweep ""
completes "options" "--scheduler-plugin --seed --set" run --s
completes "options of a command of two words" "--quiet" sweep run --q
completes "names" "terriertail" schedulers terr
completes "files" "README.md" run READ
completes "directories" "validation" run --out validat

# Links between pages lead somewhere.
broken=$(for page in "${pages[@]}"; do
    grep -oE '\]\([^)# ]+' "$page" | sed 's/^](//' | grep -v '^https\?:' | while read -r link; do
        [ -e "$(dirname "$page")/$link" ] || echo "$page -> $link"
    done
done)
if [ -z "$broken" ]; then echo "ok docs: links lead somewhere"; else echo "FAIL docs: links lead somewhere: ${broken//$'\n'/, }"; fi
exit 0
