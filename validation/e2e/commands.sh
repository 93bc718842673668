#!/bin/sh
# Commands that only tell, usage errors, exit codes.
set -u
cd "$TMP" || exit 1

# says NAME EXIT STREAM PATTERN ARGUMENT...: the command ends so, and STREAM (out, err) says it
says() {
    name=$1 code=$2 stream=$3 pattern=$4
    shift 4
    timeout 60 "$HVSIM" "$@" >out 2>err </dev/null
    got=$?
    if [ $got -ne "$code" ]; then
        echo "FAIL commands/$name: exit $got, not $code: $(head -2 err)"
    elif ! grep -q -- "$pattern" $stream; then
        echo "FAIL commands/$name: no \"$pattern\" on std$stream: $(head -2 out err)"
    elif [ "$code" -eq 0 ] && [ -s err ]; then
        echo "FAIL commands/$name: on stderr: $(head -2 err)"
    elif [ "$code" -ne 0 ] && [ -s out ]; then
        echo "FAIL commands/$name: on stdout: $(head -2 out)"
    else
        echo "ok commands/$name"
    fi
}

says none 2 err 'Usage: hvsim COMMAND'
says help 0 out '^  run ' help
says help_flag 0 out '^  run ' --help
says help_letter 0 out '^  run ' -h
says version 0 out '^hvsim .*, SimGrid 3' version
says version_flag 0 out '^hvsim .*, SimGrid 3' --version
says unknown 2 err 'did you mean "compare"' compere
says unknown_far 2 err 'hvsim help' frobnicate
says unknown_option 2 err 'did you mean "--replications"' run --replication-s 3 x.json
says unknown_option_far 2 err 'hvsim help run' run --frobnicate x.json
says unknown_letter 2 err '"-Z"' run -Z x.json
says value_missing 2 err '--seed needs a value' run x.json --seed
says value_too_many 2 err 'takes no value' run --json=yes x.json
says value_bad 2 err 'whole number' run --seed x x.json
says operand_missing 2 err 'SCENARIO.json is missing' run
says operand_too_many 2 err '"b.json" is too much' run a.json b.json
says schedulers 0 out '^credit  ' schedulers
says scheduler 0 out 'tslice .*default 30ms' schedulers credit
says scheduler_unknown 2 err 'did you mean "terriertail"' schedulers terriertial
says workloads 0 out '^rpc  ' workloads
says workload 0 out 'busy .*default 30%' workloads lookbusy
says workload_unknown 2 err 'hvsim workloads' workloads xyzzy
says schema 0 out 'https://json-schema.org/draft/2020-12/schema' schema
says validate_unknown 2 err 'did you mean "schedules"' validate schedule
says validate_nowhere 2 err 'nowhere: No such file' validate schedules nowhere
# Commands have one word or two.
"$HVSIM" help | sed -n 's/^  \([a-z]*\( [a-z][a-z]*\)\{0,1\}\) .*/\1/p' | sed 's/ *$//' >names
# shellcheck disable=SC2086 # words of a name are words of the command line
while read -r command; do
    name=$(echo "$command" | tr ' ' _)
    says "help_$name" 0 out "^Usage: hvsim $command" help $command
    says "${name}_help" 0 out "^Usage: hvsim $command" $command --help
done <names
says help_operand 0 out '^Usage: hvsim validate' help validate schedules
says help_group 0 out '^Usage: hvsim sweep show' help sweep
says group_help 0 out '^Usage: hvsim sweep show' sweep --help
says group 2 err 'sweep plan, sweep run' sweep
says help_unknown 2 err 'did you mean "run"' help runn

# Lines of help fit a terminal.
echo >>names # and the list of all
# shellcheck disable=SC2086
while read -r command; do
    name=$(echo "${command:-all}" | tr ' ' _)
    if "$HVSIM" help $command </dev/null | awk 'length($0) > 100 || / $/ { bad = 1 } END { exit bad }'; then
        echo "ok commands/lines_$name"
    else
        echo "FAIL commands/lines_$name: too long, or blanks at the end"
    fi
done <names

# A full disk is an error.
if [ -e /dev/full ]; then
    "$HVSIM" schema >/dev/full 2>err
    code=$?
    if [ $code -eq 3 ]; then echo "ok commands/full"; else echo "FAIL commands/full: exit $code"; fi
fi
