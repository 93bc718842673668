#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Draws docs/architecture.svg from what the files really include: a box for each directory on its
# floor, an arrow where files of one include headers of another (left out where a longer way along
# arrows leads there, too). Arrows that go up a floor are red; there should be none.
#
#   docs/architecture.sh >docs/architecture.svg

set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."

# FROM TO for each pair of directories, once.
find sim models workloads experiments -name '*.[ch]' | sort | xargs grep -H '^#include "' |
    sed 's|^\([^:]*\)/[^/]*:#include "\(.*\)/[^/]*"|\1 \2|; s|models/||g; s|experiments/||g' |
    awk '$1 != $2' | sort -u |
    awk '
function box(name, x, y, w, text, what) {
    X[name] = x; Y[name] = y; W[name] = w
    boxes = boxes sprintf("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"46\" rx=\"5\" class=\"box\"/>" \
        "<text x=\"%d\" y=\"%d\" class=\"name\">%s</text><text x=\"%d\" y=\"%d\" class=\"what\">%s</text>\n",
        x, y, w, x + w / 2, y + 19, text, x + w / 2, y + 36, what)
}
function level(y, h, text) {
    floors = floors sprintf("<rect x=\"10\" y=\"%d\" width=\"1000\" height=\"%d\" class=\"floor\"/><text x=\"1000\" y=\"%d\" class=\"level\">%s</text>\n",
        y, h, y + 20, text)
}
BEGIN {
    level(10, 478, "4 experiments"); level(518, 90, "3 workloads")
    level(638, 250, "2 models"); level(918, 90, "1 sim")
    box("experiments", 30, 34, 150, "main.c", "experiments/")
    box("commands", 330, 34, 320, "commands/", "what hvsim understands; labs")
    box("validate", 330, 112, 270, "validate/", "schedules, captures, testbeds")
    box("compare", 60, 112, 220, "compare/", "variants, paired")
    box("search", 640, 112, 290, "search/", "tune, calibrate, sensitivity")
    box("sweep", 560, 190, 300, "sweep/", "points, store, shards, Slurm")
    box("results", 420, 268, 300, "results/", "tables, files, pictures, report")
    box("study", 300, 346, 320, "study/", "replications, metrics, timelines")
    box("scenario", 330, 424, 610, "scenario/", "files, checks, worlds, actions")
    box("traces", 30, 424, 230, "traces/", "xentrace, Perfetto, CSV")
    box("workloads", 330, 542, 320, "workloads/", "programs in guests, clients, arrivals")
    box("control", 90, 662, 190, "control/", "replicas, maskers, plants")
    box("net", 330, 662, 200, "net/", "NIC, bridge, netback")
    box("block", 590, 662, 200, "block/", "disk, blkback, blkfront")
    box("guest", 330, 742, 320, "guest/", "interrupts, softirqs, threads")
    box("schedulers", 700, 822, 260, "schedulers/", "Credit, Credit2, RTDS, TerrierTail, ...")
    box("hypervisor", 30, 822, 540, "hypervisor/", "pCPUs, vCPUs, runstates, event channels, observers")
    straight["traces", "hypervisor"] = 60; straight["scenario", "workloads"] = 490; straight["scenario", "schedulers"] = 880
    box("sim", 230, 942, 560, "sim/", "events, time, random streams, statistics, parameters; SimGrid behind one file")
}
{
    if (!($1 in X) || !($2 in X)) { print "architecture.sh: no place for " $1 " or " $2 > "/dev/stderr"; bad = 1; next }
    edge[$1, $2] = 1
    list[++n] = $0
}
# Is there a way from a to b by at least so many edges?
function way(a, b, least,   i, part) {
    if (least <= 1 && (a, b) in edge) return 1
    for (i = 1; i <= n; i++) {
        split(list[i], part)
        if (part[1] == a && part[2] != b && way(part[2], b, least - 1)) return 1
    }
    return 0
}
function draw(from, to,   x1, x2, y1, y2, class) {
    x1 = X[from] + W[from] / 2; x2 = X[to] + W[to] / 2
    y1 = Y[from] + 46; y2 = Y[to]
    class = "down"
    if (Y[to] < Y[from]) { class = "up"; y1 = Y[from]; y2 = Y[to] + 46 }
    if (Y[to] == Y[from]) { # beside each other
        y1 = Y[from] + 23; y2 = y1
        if (x2 > x1) { x1 = X[from] + W[from]; x2 = X[to] } else { x1 = X[from]; x2 = X[to] + W[to] }
    } else { # spread the ends, so that lines do not lie on each other
        x1 += (x2 - x1) * W[from] / 2600; x2 -= (x2 - x1) * W[to] / 2600
        if ((from, to) in straight) x1 = x2 = straight[from, to]
    }
    lines = lines sprintf("<path d=\"M%d %d L%d %d\" class=\"%s\" marker-end=\"url(#%s)\"><title>%s includes %s</title></path>\n", x1, y1, x2, y2, class, class, from, to)
}
END {
    if (bad) exit 1
    for (i = 1; i <= n; i++) {
        split(list[i], part)
        if (Y[part[2]] < Y[part[1]] || !way(part[1], part[2], 2)) draw(part[1], part[2])
    }
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1020 1028\" role=\"img\" aria-label=\"Directories of hvsim on their floors, and what includes what\">"
    print "<!-- Written by docs/architecture.sh. Do not edit. -->"
    print "<style>text{font-family:sans-serif;text-anchor:middle;fill:#1b1f24}.name{font-size:15px;font-weight:bold}.what{font-size:11.5px}.level{font-size:13px;text-anchor:end;fill:#56606b}"
    print ".floor{fill:#f1f4f7;stroke:#c8d0d8}.box{fill:#fff;stroke:#0b5fa5;stroke-width:1.5}.down{stroke:#7c8a98;stroke-width:1.2;fill:none}.up{stroke:#c02020;stroke-width:2;fill:none}</style>"
    print "<defs><marker id=\"down\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" fill=\"#7c8a98\"/></marker>"
    print "<marker id=\"up\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" fill=\"#c02020\"/></marker></defs>"
    print "<rect width=\"1020\" height=\"1028\" fill=\"#fff\"/>"
    printf "%s%s%s", floors, lines, boxes
    print "</svg>"
}'
