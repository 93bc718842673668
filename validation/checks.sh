# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What end-to-end scripts share: `. validation/checks.sh`, from the project's root, with TMP set.

ok() { echo "ok $1"; }
fail() { echo "FAIL $1: $2"; }

# The check NAME holds if the command succeeds; what it printed first is shown if it does not.
check() { # NAME COMMAND...
    local name=$1
    shift
    if "$@" >"$TMP/check.out" 2>&1; then ok "$name"; else fail "$name" "$* ($(head -n 1 "$TMP/check.out"))"; fi
}

# The command ends with this exit status; what it prints is in $TMP/out and $TMP/err.
status() { # WANTED COMMAND...
    local want=$1 got=0
    shift
    "$@" >"$TMP/out" 2>"$TMP/err" || got=$?
    [ "$got" = "$want" ] || { echo "exit $got, wanted $want: $(head -n 1 "$TMP/err")"; return 1; }
}

# The file, or what the last command of `status` printed, has a line with PATTERN.
says() { # PATTERN [FILE]
    grep -q -- "$1" "${2:-$TMP/out}" || { echo "no \"$1\" in: $(head -n 3 "${2:-$TMP/out}")"; return 1; }
}
