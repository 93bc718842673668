/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What all parts of a report use: the data inside of the page, elements, numbers as people read
 * them, tables, themes.
 */
"use strict";

const hvsim = { timelines: [], charts: [] };

/* ---- data ------------------------------------------------------------------------------------ */

hvsim.index = JSON.parse(document.getElementById("index").textContent);
hvsim.metric = Object.fromEntries(hvsim.index.metrics.map((m) => [m.name, m]));

/* A file of a set by its name: {set, number, name, size, here, binary}, or undefined. */
hvsim.file = (set, name) => {
    const number = hvsim.index.sets[set].files.findIndex((f) => f.name === name);
    return number < 0 ? undefined : { set, number, ...hvsim.index.sets[set].files[number] };
};

hvsim.raw = (file) => document.getElementById(`f${file.set}-${file.number}`);

/* Content of a file that is in the page: a value for .json, else its text. */
hvsim.read = (set, name) => {
    const file = hvsim.file(set, name);
    return file && file.here ? JSON.parse(hvsim.raw(file).textContent) : undefined;
};

hvsim.bytes = (file) => {
    const text = atob(hvsim.raw(file).textContent);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return bytes;
};

/* Rows of a CSV text (RFC 4180) as objects by its heading. */
hvsim.csv = (text) => {
    const rows = [];
    let row = [], field = "", quoted = false;
    for (let i = 0; i < text.length; i++) {
        const c = text[i];
        if (quoted) {
            if (c !== '"') field += c;
            else if (text[i + 1] === '"') (field += '"'), i++;
            else quoted = false;
        } else if (c === '"') quoted = true;
        else if (c === "," || c === "\n") {
            row.push(field);
            field = "";
            if (c === "\n") rows.push(row), (row = []);
        } else if (c !== "\r") field += c;
    }
    const head = rows.shift() || [];
    const list = rows.map((r) => Object.fromEntries(head.map((h, i) => [h, r[i]])));
    list.head = head;
    return list;
};

/* ---- elements -------------------------------------------------------------------------------- */

/* el("p", {class: "note"}, "text", child, ...); attributes that are functions are listeners. */
hvsim.el = (name, attributes, ...children) => {
    const e = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
        if (typeof value === "function") e.addEventListener(key, value);
        else if (value === true) e.setAttribute(key, "");
        else if (value !== false && value !== undefined && value !== null) e.setAttribute(key, value);
    }
    for (const c of children.flat()) if (c !== undefined && c !== null && c !== false) e.append(c);
    return e;
};

/* A table for people and screen readers: `head` texts, `rows` of cells (texts or elements); the
 * first cell of a row is its heading. */
hvsim.table = (caption, head, rows, attributes) => {
    const { el } = hvsim;
    return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
        el("table", attributes,
            el("caption", null, caption),
            el("thead", null, el("tr", null, head.map((h) => el("th", { scope: "col" }, h)))),
            el("tbody", null, rows.map((r) => el("tr", null, r.map((c, i) =>
                i ? el("td", null, c) : el("th", { scope: "row" }, c)))))));
};

hvsim.details = (summary, content, attributes) => {
    const d = hvsim.el("details", attributes, hvsim.el("summary", null, summary));
    /* What is large is made when it is first looked at, or printed. */
    const fill = () => {
        if (!d.filled) d.filled = true, d.append(...[typeof content === "function" ? content() : content].flat());
    };
    d.addEventListener("toggle", () => d.open && fill());
    d.fill = fill;
    if (d.open) fill();
    return d;
};

hvsim.select = (label, options, chosen, change) => {
    const { el } = hvsim;
    const s = el("select", { change: () => change(s.value) },
        options.map(([value, text]) => el("option", { value, selected: String(value) === String(chosen) }, text)));
    return el("label", { class: "control" }, `${label} `, s);
};

/* ---- numbers --------------------------------------------------------------------------------- */

/* Decimals that show so many significant digits of x. */
const decimalsOf = (x, digits) => {
    if (!x || !isFinite(x)) return 0;
    return Math.min(9, Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(x)))));
};

hvsim.number = (x, digits = 4) => {
    if (x === null || x === undefined || Number.isNaN(x)) return "–";
    if (x === 0) return "0";
    if (Math.abs(x) >= 1e9 || Math.abs(x) < 1e-6) return x.toExponential(digits - 1);
    return x.toFixed(decimalsOf(x, digits));
};

/* "59.4 ±2.1", as many digits as the interval supports; "59.4 (57 to 65)" if the value is not in its
 * middle; "59.4" when there is none. */
hvsim.figure = (m) => {
    if (m.value === null || m.value === undefined) return "–";
    if (m.low === undefined || m.low === null) return hvsim.number(m.value);
    const half = (m.high - m.low) / 2;
    if (half === 0) return hvsim.number(m.value);
    const places = Math.min(decimalsOf(half, 2), decimalsOf(m.value, 4) || decimalsOf(half, 2));
    if (half * 10 ** places < 0.5) return m.value.toFixed(places);
    if (Math.abs((m.high + m.low) / 2 - m.value) > 0.1 * half) return `${m.value.toFixed(places)} (${m.low.toFixed(places)} to ${m.high.toFixed(places)})`;
    return `${m.value.toFixed(places)} ±${half.toFixed(places)}`;
};

hvsim.bytesText = (n) => n < 1e4 ? `${n} B` : n < 1e7 ? `${Math.round(n / 1e3)} kB` : `${Math.round(n / 1e6)} MB`;

/* A length of time in ns with a unit that fits. */
hvsim.time = (ns) => {
    for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["us", 1e3]])
        if (Math.abs(ns) >= size) return `${+(ns / size).toFixed(unit === "s" ? 6 : 3)} ${unit}`;
    return `${ns} ns`;
};

/* ---- themes ---------------------------------------------------------------------------------- */

hvsim.dark = () => {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};

hvsim.css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/* Told when colours have changed. */
hvsim.themed = [];
hvsim.retheme = () => hvsim.themed.forEach((f) => f());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", hvsim.retheme);

/* Paper is white, and everything folded is unfolded on it. */
{
    let before, folded = [];
    addEventListener("beforeprint", () => {
        folded = [...document.querySelectorAll("details:not(.data):not([open])")];
        for (const d of folded) (d.fill && d.fill()), (d.open = true);
        before = document.documentElement.dataset.theme;
        document.documentElement.dataset.theme = "light";
        hvsim.retheme();
    });
    addEventListener("afterprint", () => {
        if (before) document.documentElement.dataset.theme = before;
        else delete document.documentElement.dataset.theme;
        for (const d of folded) d.open = false;
        hvsim.retheme();
    });
}

/* Colours that people with the usual kinds of colour blindness can tell apart (Okabe and Ito), in a
 * darker and a lighter set; lines differ in their dashes, too. */
const series = {
    light: ["#0072b2", "#d55e00", "#007a5a", "#b3477f", "#8a6d00", "#2a7fb8", "#5b5b5b", "#7a3fb0"],
    dark: ["#56b4e9", "#ff9a57", "#3ddbab", "#f09ac8", "#f0d060", "#a0c8ff", "#c8c8c8", "#c9a0ff"],
};
const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 5], [14, 4], [3, 6], [1, 4]];
hvsim.colour = (i) => series[hvsim.dark() ? "dark" : "light"][i % 8];
hvsim.dash = (i) => dashes[i % 8];
