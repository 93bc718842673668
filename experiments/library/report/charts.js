/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pictures of a report: curves by uPlot, bars by boxes. Each has a table beside it. */
"use strict";

/* ---- curves ---------------------------------------------------------------------------------- */

/*
 * A chart that follows the page's width and colours, and that the keyboard can walk:
 * options(width) gives what uPlot wants. Returns its element.
 */
hvsim.chart = (label, options, data) => {
    const { el } = hvsim;
    const box = el("div", { class: "chart", tabindex: "0", role: "img", "aria-label": `${label}. Left and right arrow keys move along the curve; the table below holds the values.` });
    let plot, width;
    const draw = () => {
        const w = Math.min(box.clientWidth || 600, 1100);
        if (plot) plot.destroy();
        width = w;
        plot = new uPlot({ ...options(w), width: w, height: Math.round(Math.min(420, Math.max(260, w * 0.5))) }, data, box);
        box.plot = plot;
    };
    box.addEventListener("keydown", (e) => {
        const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[e.key];
        if (!step) return;
        const at = plot.cursor.idx ?? (step > 0 ? -1 : data[0].length);
        const idx = Math.max(0, Math.min(data[0].length - 1, at + step));
        plot.setCursor({ left: plot.valToPos(data[0][idx], "x"), top: plot.bbox.height / devicePixelRatio / 2 });
        e.preventDefault();
    });
    hvsim.themed.push(() => box.isConnected && draw());
    new ResizeObserver(() => {
        if (box.clientWidth && Math.min(box.clientWidth, 1100) !== width) draw();
    }).observe(box);
    hvsim.charts.push(box);
    return box;
};

const axis = (more) => ({
    stroke: hvsim.css("--text"),
    grid: { stroke: hvsim.css("--line"), width: 1 },
    ticks: { stroke: hvsim.css("--line"), width: 1 },
    font: "13px system-ui, sans-serif",
    labelFont: "13px system-ui, sans-serif",
    ...more,
});

const lines = (names, more) => names.map((label, i) => ({
    label,
    stroke: hvsim.colour(i),
    dash: hvsim.dash(i),
    width: 2,
    points: { show: false },
    spanGaps: true,
    value: (u, v) => (v === null || v === undefined ? "–" : hvsim.number(v)),
    ...more,
}));

/* Ticks of a logarithmic axis: powers of ten, with 2 and 5 between them if they are few. */
const logTicks = (low, high) => {
    const ticks = [];
    const decades = Math.log10(high / low);
    for (let p = Math.floor(Math.log10(low)); p <= Math.ceil(Math.log10(high)); p++)
        for (const k of decades < 2.5 ? [1, 2, 5] : [1]) {
            const t = k * 10 ** p;
            if (t >= low * 0.999 && t <= high * 1.001) ticks.push(+t.toPrecision(3));
        }
    return ticks;
};

const percentile = (share) => {
    if (share >= 1) return "0 %";
    const p = 100 * (1 - share);
    return `${+p.toFixed(Math.max(0, Math.ceil(-Math.log10(share)) - 2 + (share < 0.1 ? 0 : 1)))} %`;
};
hvsim.percentile = percentile;

/* Along x, each step is a tenth of what was left, as in HdrHistogram's plots: 90 %, 99 %, 99.9 %. */
const NO_LESS = 1e-4; /* ms: values below cannot be shown on a logarithmic axis */

hvsim.percentileChart = (label, unit, curves) => {
    const shares = [...new Set(curves.flatMap((c) => c.points.map((p) => p[0])))].filter((s) => s > 0).sort((a, b) => b - a);
    const x = shares.map((s) => -Math.log10(s));
    const data = [x, ...curves.map((c) => {
        const at = new Map(c.points);
        return shares.map((s) => (at.has(s) ? Math.max(at.get(s), NO_LESS) : null));
    })];
    const ticks = [0, -Math.log10(0.5), 1, 2, 3, 4, 5, 6, 7];
    return hvsim.chart(label, () => ({
        scales: { x: { time: false, range: (u, min, max) => [0, Math.max(1, max)] }, y: { distr: 3 } },
        cursor: { drag: { x: true, y: false } },
        axes: [
            axis({ label: "share of observations below", splits: () => ticks.filter((t) => t <= x[x.length - 1] + 0.01), values: (u, v) => v.map((t) => percentile(10 ** -t)) }),
            axis({ label: `${unit}, logarithmic`, size: 70, splits: (u) => logTicks(u.scales.y.min, u.scales.y.max), filter: (u, v) => v, values: (u, v) => v.map((t) => String(t)) }),
        ],
        series: [{ label: "percentile", value: (u, v) => (v === null ? "–" : percentile(10 ** -v)) }, ...lines(curves.map((c) => c.label))],
    }), data);
};

/* y over x, each linear or logarithmic. */
hvsim.xyChart = (label, x, xLabel, yLabel, curves, log) => {
    const least = Math.min(...curves.flatMap((c) => c.values.filter((v) => v > 0)));
    const data = [x, ...curves.map((c) => c.values.map((v) => (v === null || Number.isNaN(v) || (log.y && !(v > 0)) ? null : v)))];
    return hvsim.chart(label, () => ({
        scales: { x: { time: false, distr: log.x ? 3 : 1, range: (u, min, max) => (min < max ? [min, max] : [min * 0.9, max * 1.1 + 1e-9]) }, y: log.y ? { distr: 3 } : { range: (u, min, max) => [Math.min(0, min), max > 0 ? max * 1.05 : 1] } },
        cursor: { drag: { x: true, y: false } },
        axes: [
            axis({ label: xLabel, ...(log.x ? { splits: (u) => logTicks(u.scales.x.min, u.scales.x.max), filter: (u, v) => v, values: (u, v) => v.map(String) } : {}) }),
            axis({ label: yLabel, size: 70, ...(log.y ? { splits: (u) => logTicks(Math.max(u.scales.y.min, least / 10), u.scales.y.max), filter: (u, v) => v, values: (u, v) => v.map(String) } : {}) }),
        ],
        series: [{ label: xLabel, value: (u, v) => hvsim.number(v) }, ...lines(curves.map((c) => c.label))],
    }), data);
};

/* ---- bars ------------------------------------------------------------------------------------ */

/* Stacked bars: rows {label, parts: [{name, value}], text}, all on one scale. */
hvsim.bars = (label, unit, rows) => {
    const { el } = hvsim;
    const most = Math.max(...rows.map((r) => r.parts.reduce((s, p) => s + p.value, 0))) || 1;
    const names = [...new Set(rows.flatMap((r) => r.parts.map((p) => p.name)))];
    const box = el("div", { class: "bars", role: "img", "aria-label": `${label}; the table below holds the values.` });
    const draw = () => box.replaceChildren(
        el("div", { class: "legend" }, names.map((n, i) => el("span", null, el("i", { style: `background:${partColour(i)}` }), n))),
        ...rows.map((r) => el("div", { class: "bar" },
            el("span", { class: "bar-label" }, r.label),
            el("span", { class: "bar-track" }, r.parts.map((p) => p.value > 0 && el("i", {
                style: `width:${(100 * p.value) / most}%;background:${partColour(names.indexOf(p.name))}`,
                title: `${p.name}: ${hvsim.number(p.value)} ${unit}`,
            }))),
            el("span", { class: "bar-text" }, r.text))));
    hvsim.themed.push(() => box.isConnected && draw());
    draw();
    return box;
};

/* Parts stand beside each other: neighbours differ in lightness as well as in hue. */
const partColours = {
    light: ["#9aa5b1", "#56b4e9", "#c9a227", "#004d80", "#66a3c8", "#d55e00", "#e8b49a", "#00795a", "#3d5a80", "#98c1d9", "#b00058"],
    dark: ["#6b7683", "#56b4e9", "#f0d060", "#2f86c0", "#9cc9e8", "#ff8a3d", "#8c5637", "#3ddbab", "#7f9cc8", "#c8def0", "#ff6fae"],
};
const partColour = (i) => partColours[hvsim.dark() ? "dark" : "light"][i % 11];
