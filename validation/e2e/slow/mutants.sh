#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A sample of the rule mutants, every 12th (all of them: make mutants).
# timeout: 900

log=$TMP/mutants.log
TMPDIR=$TMP validation/mutants/run.sh --every 12 >"$log" 2>&1
status=$?
if ! grep -q '^mutants: ' "$log"; then
    echo "FAIL mutants: did not run: $(tail -n 1 "$log")"
    exit 1
fi
grep '^caught' "$log" | sed 's/^caught *\([0-9]*\): \(.*\): by .*/ok mutant \1 is caught: \2/'
grep -E '^(SURVIVED|BROKEN)' "$log" | sed 's/^\([A-Z]*\) *\([0-9]*\): /FAIL mutant \2: \L\1\E: /'
[ $status = 0 ] && echo "ok mutants: none of the sample survives without a reason" ||
    echo "FAIL mutants: $(tail -n 1 "$log")"
