#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# timeout: 1800
#
# The pages about replicas: each command is run in full, and its tables must be those shown.

set -u
export LC_ALL=C HVSIM_DATA=$PWD/experiments

for name in where correlation causes schedulers mixed deadline modes; do
    if "$HVSIM" compare "experiments/library/replicas-$name.sweep.json" -q --out "$TMP/$name" >"$TMP/out" 2>&1; then
        docs/experiments/tables.sh "replicas-$name" "$TMP/$name" | sed 's/^\(ok\|FAIL\) /&experiments: all of /'
    else
        echo "FAIL experiments: replicas-$name: $(tail -n 1 "$TMP/out")"
    fi
done
