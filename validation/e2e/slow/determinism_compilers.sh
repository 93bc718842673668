#!/bin/sh
# The same bytes from gcc and clang, at -O0, -O2 and -O3.
set -u
root=$PWD
cat >"$TMP/world.json" <<'END'
{ "version": 1, "seed": 7, "replications": 3, "warmup": "300ms", "duration": "3s",
  "hosts": [
    { "name": "xen", "pcpus": 3, "xen": "4.7.1", "scheduler": "terriertail", "dom0": { "vcpus": 2 },
      "domains": [
        { "name": "server", "vcpus": 2, "network": {}, "programs": [ { "run": "rpc" } ] },
        { "name": "hog", "count": 5, "programs": [ { "run": { "type": "lookbusy", "busy": "50%" } } ] } ] } ],
  "clients": [
    { "name": "front", "on": "client", "to": "server", "load": { "connections": 4 } },
    { "name": "back", "on": "client", "to": "server", "load": { "loop": "open", "arrivals": "poisson(300/s)" } } ] }
END
"$HVSIM" run --quiet --json "$TMP/world.json" >"$TMP/first" 2>"$TMP/err" || {
    echo "FAIL determinism_compilers/base: $(head -3 "$TMP/err")"
    exit 0
}
echo "ok determinism_compilers/base"

# compare NAME HVSIM
compare() {
    HVSIM_DATA=$root/experiments "$2" run --quiet --json "$TMP/world.json" >"$TMP/next" 2>"$TMP/err"
    if cmp "$TMP/first" "$TMP/next" >"$TMP/difference" 2>&1; then
        echo "ok determinism_compilers/$1"
    else
        echo "FAIL determinism_compilers/$1: $(cat "$TMP/difference" "$TMP/err" | head -2)"
    fi
}

# What `make check-all` has built already.
for program in ${HVSIM_BUILDS:-}; do
    compare "$(basename "$(dirname "$program")")" "$program"
done
[ -z "${HVSIM_BUILDS:-}" ] || exit 0

for cc in gcc clang; do
    command -v $cc >/dev/null || continue
    for level in -O0 -O2 -O3; do
        name=$cc$level
        # a copy: several builds of one tree would fight over its generated files
        make -s -C "$root" CC=$cc OPT=$level BUILD="$TMP/build" "$TMP/build/hvsim" >"$TMP/log" 2>&1
        if [ ! -x "$TMP/build/hvsim" ]; then
            echo "FAIL determinism_compilers/$name: does not build: $(grep -m1 error "$TMP/log")"
            continue
        fi
        compare "$name" "$TMP/build/hvsim"
    done
done
