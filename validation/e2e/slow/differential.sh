#!/bin/sh
# Random scenarios through hvsim and through Xen's own scheduler sources, where there are some:
# XEN_SOURCE is a source tree, or REPOSITORY@TAG (see validation/xen/differential/README.md).
# timeout: 600
set -u
if [ -z "${XEN_SOURCE:-}" ]; then
    echo "skip differential: XEN_SOURCE does not say where Xen's sources are"
    exit 0
fi
if validation/xen/differential/run.sh -n 60 -h "$HVSIM" "$XEN_SOURCE" >"$TMP/out" 2>&1; then
    echo "ok differential"
else
    echo "FAIL differential: $(head -2 "$TMP/out" | tr '\n' ' ')"
fi
