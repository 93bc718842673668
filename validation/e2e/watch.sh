#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# timeout: 120
#
# hvsim watch: frames as text, and the view on a terminal (one that `script` makes) with its keys.

set -u
cd "$TMP" || exit 1
cat >s.json <<'END'
{
  "version": 1, "replications": 1, "warmup": "20ms", "duration": "2s",
  "platform": "one-host.platform.xml",
  "hosts": [{"name": "xen", "pcpus": 2, "scheduler": "credit", "dom0": {},
             "domains": [{"name": "web", "network": {}, "programs": [{"run": "rpc"}]},
                         {"name": "hog", "count": 2, "programs": [{"run": "hog"}]}]}],
  "clients": [{"name": "client", "to": "web", "load": {"think": "exponential(10ms)"}}]
}
END

check() { # NAME FILE STATUS: of a condition, and what to show if it does not hold
    if [ "$3" = 0 ]; then
        echo "ok watch/$1"
    else
        echo "FAIL watch/$1: $(tail -n 3 "$2" | cat -v | cut -c 1-300 | tr '\n' '|')"
    fi
}
watch() { timeout 60 "$HVSIM" watch "$@" </dev/null >out 2>err; }

watch s.json --frames 3 --at 100ms --speed 2s && [ ! -s err ] &&
    [ "$(grep -c '^xen at ' out)" = 3 ] && grep -q '^xen at 0.200000000 s' out &&
    grep -q '^   1  credit ' out
check frames out $?
# Two hogs that never block share two pCPUs with a server that hardly runs.
awk '/^xen at 0.300/ { f = 1 }
     f && /^hog[12]\/v0/ { n++; if ($6 < 90 || $6 > 100) bad = 1 }
     END { exit bad || n != 2 }' out
check shares out $?
watch s.json
[ $? = 2 ] && grep -q 'needs a terminal' err
check no_terminal err $?
watch s.json --frames 1 --at 1h
[ $? = 2 ] && grep -q -- '--at' err
check late err $?
watch s.json --frames 1 --host nowhere
[ $? = 2 ] && grep -q 'no host "nowhere"' err
check host err $?

# keys NAME KEYS SPEED PATTERN: keys, a while apart, end the view by themselves, and it had shown
# PATTERN. (Only what changes is drawn anew.)
keys() {
    local i
    for ((i = 0; i < ${#2}; i++)); do sleep 0.7 && printf '%s' "${2:i:1}"; done |
        TERM=xterm LINES=40 COLUMNS=120 timeout 20 \
            script -qec "'$HVSIM' watch s.json --speed $3" /dev/null >"out.$1" 2>&1 &&
        grep -q -- "$4" "out.$1"
    check "$1" "out.$1" $?
}
if ! script -qec true /dev/null >/dev/null 2>&1; then
    echo "skip watch/keys: no script, or no pseudo-terminals here"
else
    keys quit 'q' 10ms 'step to next decision'
    keys pause '  q' 10ms 'paused'
    # at this speed the first decision is hours away
    keys step 'ssq' 1us 'because:'
    keys faster '++q' 500ms '1000 ms per second'
    keys interrupt $'\003' 10ms 'running'
fi
