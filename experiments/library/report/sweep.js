/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sweeps: a metric over two axes as a heat map (a table whose cells are coloured), or over one axis
 * as a curve; further axes are held at a value. */
"use strict";

hvsim.sweep = (set) => {
    const { el } = hvsim;
    const head = JSON.parse(hvsim.read(set, "sweep.jsonl").split("\n")[0]);
    const results = hvsim.csv(hvsim.read(set, "results.csv") || ""), points = hvsim.csv(hvsim.read(set, "points.csv") || "");
    const first = results.head.indexOf("point"), last = results.head.indexOf("replications");
    const axes = results.head.slice(first + 1, last).map((name) => ({ name, values: [...new Set(results.map((r) => r[name]))] }));
    for (const a of axes) if (a.values.every((v) => v !== "" && !isNaN(v))) a.values.sort((x, y) => x - y);
    const columns = results.head.slice(results.head.indexOf("subject") + 1).filter((c) => !/_(low|high)(_|$)/.test(c));
    const subjects = [...new Set(results.map((r) => `${r.kind} ${r.subject}`))];
    const liked = ["latency_p99_ms", "latency_p99.9_ms", "latency_mean_ms"].find((c) => columns.includes(c)) || columns[0];
    const varied = axes.filter((a) => a.values.length > 1);
    const state = { subject: subjects[0], metric: liked, rows: (varied[0] || axes[0] || {}).name, columns: (varied[1] || {}).name || "", held: {} };
    const box = el("div");

    const lowName = (metric, what) => {
        const name = Object.keys(hvsim.metric).filter((m) => metric.startsWith(m)).sort((a, b) => b.length - a.length)[0] || metric;
        return `${name}_${what}${metric.slice(name.length)}`;
    };
    const available = () => columns.filter((c) => results.some((r) => `${r.kind} ${r.subject}` === state.subject && r[c] !== ""));
    const at = (row, column) => results.find((r) => `${r.kind} ${r.subject}` === state.subject && r[state.rows] === row &&
        (!state.columns || r[state.columns] === column) && axes.every((a) => a.name === state.rows || a.name === state.columns || r[a.name] === held(a)));
    const held = (a) => state.held[a.name] ?? a.values[0];
    const figure = (r) => {
        const number = (c) => (r[c] === undefined || r[c] === "" ? undefined : +r[c]);
        return { value: number(state.metric) ?? null, low: number(lowName(state.metric, "low")), high: number(lowName(state.metric, "high")) };
    };

    const heat = () => {
        const rows = axes.find((a) => a.name === state.rows).values, across = state.columns ? axes.find((a) => a.name === state.columns).values : [""];
        const cells = rows.map((r) => across.map((c) => at(r, c))), values = cells.flat().filter(Boolean).map((r) => figure(r).value).filter((v) => v !== null);
        const least = Math.min(...values), most = Math.max(...values), log = least > 0 && most / least > 20;
        const part = (v) => (most === least ? 0 : log ? Math.log(v / least) / Math.log(most / least) : (v - least) / (most - least));
        const cell = (r) => {
            if (!r) return "";
            const f = figure(r);
            if (f.value === null) return "–";
            return el("a", { href: `#p-${set}-${r.point}`, class: "heat", style: `--part:${part(f.value).toFixed(3)}` }, hvsim.figure(f));
        };
        return hvsim.table(`${state.metric} of ${state.subject}${state.columns ? `: ${state.rows} down, ${state.columns} across` : ` by ${state.rows}`}; ` +
            `darker is more${log ? ", on a logarithmic scale" : ""}`, [state.rows, ...across.map((c) => (c === "" ? state.metric : c))], rows.map((r, i) => [r, ...cells[i].map(cell)]), { class: "heatmap" });
    };

    const curve = () => {
        const axis = axes.find((a) => a.name === state.rows);
        if (!axis || axis.values.length < 2 || axis.values.some((v) => isNaN(v))) return null;
        const across = state.columns ? axes.find((a) => a.name === state.columns).values.slice(0, 8) : [""];
        const x = axis.values.map(Number), curves = across.map((c) => ({ label: c === "" ? state.metric : `${state.columns} ${c}`, values: axis.values.map((r) => (at(r, c) ? figure(at(r, c)).value : null)) }));
        const all = curves.flatMap((c) => c.values).filter((v) => v > 0);
        return hvsim.xyChart(`${state.metric} over ${state.rows}`, x, state.rows, state.metric, curves, { x: x[0] > 0 && x[x.length - 1] / x[0] > 20, y: all.length && Math.max(...all) / Math.min(...all) > 20 });
    };

    const draw = () => {
        if (!available().includes(state.metric)) state.metric = available()[0];
        const names = axes.map((a) => [a.name, a.name]);
        const change = (what) => (v) => ((state[what] = v), draw());
        box.replaceChildren(
            el("div", { class: "tools" },
                hvsim.select("of:", subjects.map((s) => [s, s]), state.subject, change("subject")),
                hvsim.select("metric:", available().map((c) => [c, c]), state.metric, change("metric")),
                hvsim.select("down:", names, state.rows, change("rows")),
                hvsim.select("across:", [["", "nothing"], ...names.filter((n) => n[0] !== state.rows)], state.columns, change("columns")),
                axes.filter((a) => a.name !== state.rows && a.name !== state.columns && a.values.length > 1)
                    .map((a) => hvsim.select(`${a.name} =`, a.values.map((v) => [v, v]), held(a), (v) => ((state.held[a.name] = v), draw())))),
            results.length ? heat() : el("p", null, "There are no results yet: run hvsim sweep gather on the directory."), curve() || "");
    };
    draw();

    const failed = points.filter((p) => p.status === "failed");
    const names = points.head.filter((h) => h !== "alone" && h !== "point");
    const pointTable = () => hvsim.table(`Points of the sweep, and the commands that run them alone`, ["point", ...names, "alone"],
        points.map((p) => [el("span", { id: `p-${set}-${p.point}` }, p.point), ...names.map((h) => p[h]), el("code", null, p.alone)]));
    return {
        head, points,
        elements: [
            el("p", null, `${points.length} points over ${axes.map((a) => `${a.name} (${a.values.length})`).join(", ")}; ${points.filter((p) => p.status === "done").length} done` +
                (failed.length ? `, ${failed.length} failed` : "") + `. Intervals are at ${hvsim.number(100 * head.level, 3)} %.`),
            box,
            hvsim.details(`All ${points.length} points`, pointTable, { class: "data" }),
        ],
    };
};
