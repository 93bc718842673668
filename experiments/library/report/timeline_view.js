/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Drawing recordings: one pane for each scheduler, all panes with the same stretch of time. What is
 * drawn in a frame depends on the pane's size, not on the number of segments.
 */
"use strict";

const ROW = 20, AXIS = 26, GUTTER = 116, ARROWS = 300, LEAST = 50; /* LEAST: ns across a pane */

/* A pixel's colour with so much of it left over another. */
const mix = (c, under, part) => {
    let m = 0xff000000;
    for (let k = 0; k < 24; k += 8) m |= Math.round(((c >> k) & 255) * part + ((under >> k) & 255) * (1 - part)) << k;
    return m >>> 0;
};

class Pane {
    constructor(timeline, recording, name) {
        const { el } = hvsim;
        this.timeline = timeline;
        this.recording = recording;
        this.canvas = el("canvas", { tabindex: "0", role: "application", "aria-label": `Schedule of ${name}: one row for each pCPU and vCPU`, "aria-describedby": timeline.helpId });
        this.spacer = el("div", { class: "tl-spacer" });
        this.scroller = el("div", { class: "tl-scroller" }, this.canvas, this.spacer);
        this.root = el("div", { class: "tl-pane" }, el("h4", null, name), this.scroller);
        this.hover = null;
        this.listen();
        new ResizeObserver(() => this.resize()).observe(this.scroller);
    }

    /* ---- geometry ---------------------------------------------------------------------------- */

    filter() {
        const t = this.timeline, words = t.words;
        this.rows = this.recording.rows.filter((r) => t.show[r.kind] && (!words.length || r.kind === "pcpu" || words.some((w) => this.rowText(r).includes(w))));
        this.rowOf = new Map(this.rows.map((r, i) => [r, i]));
        this.spacer.style.height = `${Math.max(0, AXIS + this.rows.length * ROW - this.height())}px`;
        this.scroller.style.height = `${Math.min(AXIS + this.rows.length * ROW + 2, this.limit())}px`;
        this.resize();
    }

    rowText(r) {
        return `${r.name} ${this.recording.head.domains[r.domain] ?? ""}`.toLowerCase();
    }

    limit() {
        return Math.max(240, Math.round(innerHeight * (this.timeline.panes.length > 1 && !this.timeline.beside ? 0.4 : 0.68)));
    }

    height() {
        return this.scroller.clientHeight || 300;
    }

    resize() {
        const w = this.scroller.clientWidth, h = this.height(), scale = devicePixelRatio || 1;
        if (!w) return;
        this.width = w;
        if (this.canvas.width !== Math.round(w * scale) || this.canvas.height !== Math.round(h * scale)) {
            this.canvas.width = Math.round(w * scale);
            this.canvas.height = Math.round(h * scale);
            this.canvas.style.width = `${w}px`;
            this.canvas.style.height = `${h}px`;
        }
        this.spacer.style.height = `${Math.max(0, AXIS + this.rows.length * ROW - h)}px`;
        this.timeline.redraw();
    }

    x(t) {
        const v = this.timeline.view;
        return GUTTER + ((t - v.from) / (v.to - v.from)) * (this.width - GUTTER);
    }

    t(x) {
        const v = this.timeline.view;
        return v.from + ((x - GUTTER) / (this.width - GUTTER)) * (v.to - v.from);
    }

    y(i) {
        return AXIS + i * ROW - this.scroller.scrollTop;
    }

    /* ---- drawing ----------------------------------------------------------------------------- */

    draw() {
        if (!this.width || !this.rows) return;
        const g = this.canvas.getContext("2d"), scale = devicePixelRatio || 1, h = this.height();
        const css = (name) => hvsim.css(name);
        this.palette = { text: css("--text"), faint: css("--faint"), line: css("--line"), ground: css("--ground"), accent: css("--accent"), band: css("--band") };
        this.colours = this.recording.palette(this.timeline.mode);
        this.labelColour = hvsim.dark() ? "#000" : "#fff";
        const first = Math.max(0, Math.floor(this.scroller.scrollTop / ROW)), last = Math.min(this.rows.length, first + Math.ceil(h / ROW) + 1);
        const v = this.timeline.view, nsPerPixel = (v.to - v.from) / (this.width - GUTTER);
        const looks = this.rows.slice(first, last).map((r) => (r.kind === "requests" ? {} : r.level(nsPerPixel, v.from, v.to)));
        g.setTransform(1, 0, 0, 1, 0, 0);
        this.drawPixels(g, first, looks, scale);
        g.setTransform(scale, 0, 0, scale, 0, 0);
        g.font = "12px system-ui, sans-serif";
        g.textBaseline = "middle";
        g.save();
        g.beginPath();
        g.rect(GUTTER, AXIS, this.width - GUTTER, h - AXIS);
        g.clip();
        looks.forEach((look, k) => {
            const row = this.rows[first + k], y = this.y(first + k);
            if (row.kind === "requests") this.drawRequests(g, row, y);
            else if (!look.level) for (let i = look.first; i < look.last; i++) this.drawSegment(g, row, row.list[i], y);
        });
        if (this.timeline.show.arrows) this.drawArrows(g);
        this.drawSelection(g);
        g.restore();
        this.drawGutter(g, first, last, h);
        this.drawAxis(g, h);
    }

    /*
     * The ground, and the rows that are seen from afar, pixel by pixel: how busy each bin is, as
     * height, in the colour of its longest segment. (Boxes would take far longer.)
     */
    drawPixels(g, first, looks, scale) {
        const w = this.canvas.width, h = this.canvas.height, v = this.timeline.view, r = this.recording;
        if (!this.image || this.image.width !== w || this.image.height !== h) this.image = g.createImageData(w, h);
        const pixel = new Uint32Array(this.image.data.buffer), ground = bytesOf(this.palette.ground), band = bytesOf(this.palette.band);
        const left = Math.round(GUTTER * scale), ns = (v.to - v.from) / (w - left), tall = Math.round(ROW * scale), room = Math.round((ROW - 4) * scale);
        pixel.fill(ground);
        looks.forEach((look, k) => {
            const top = Math.round(this.y(first + k) * scale);
            if ((first + k) % 2) for (let y = Math.max(0, top); y < Math.min(h, top + tall); y++) pixel.fill(band, y * w + left, (y + 1) * w);
            if (!look.level) return;
            const level = look.level, bottom = top + tall - Math.round(2 * scale);
            for (let x = left; x < w; x++) {
                const bin = Math.floor((v.from + (x - left + 0.5) * ns) / level.width), s = level.which[bin];
                if (s === undefined || s < 0) continue;
                const waits = (r.state[s] & 3) === 1, full = Math.max(1, Math.round(level.busy[bin] * room * (waits ? 0.6 : 1)));
                let c = this.colours.bytes[r.colourOf(s, this.timeline.mode)];
                if (this.isDim(s)) c = mix(c, ground, 0.15);
                else if (waits) c = mix(c, ground, 0.6);
                for (let y = Math.max(0, bottom - full), at = y * w + x; y < Math.min(h, bottom); y++, at += w) pixel[at] = c;
            }
        });
        g.putImageData(this.image, 0, 0);
    }

    /* Which vCPUs, priorities and runstates are pushed back by the filters. */
    dim() {
        const t = this.timeline, head = this.recording.head;
        this.dimVcpu = head.vcpus.map((v) => t.words.length > 0 && !t.words.some((w) => `${v.name} ${head.domains[v.domain]}`.toLowerCase().includes(w)));
        this.dimState = Array.from({ length: 256 }, (_, s) => (t.priority !== "" && (s & 3) < 2 && head.priorities[s >> 2] !== t.priority) || (t.runstate !== "" && (s & 3) !== +t.runstate));
    }

    isDim(segment) {
        return this.dimVcpu[this.recording.vcpu[segment]] || this.dimState[this.recording.state[segment]];
    }

    drawSegment(g, row, s, y) {
        const r = this.recording, state = r.state[s] & 3;
        if (state === 3) return;
        const a = Math.max(this.x(r.date[s]), GUTTER - 2), b = Math.min(this.x(r.end[s]), this.width + 2);
        if (b < GUTTER || a > this.width) return;
        const w = Math.max(b - a, 0.75), faded = this.isDim(s) ? 0.15 : 1;
        g.globalAlpha = faded;
        if (state === 2) { /* blocked: a thin line */
            g.fillStyle = this.palette.line;
            g.fillRect(a, y + ROW - 4, w, 2);
        } else if (state === 1) { /* waits: half as high and pale */
            g.fillStyle = this.colours.css[r.colourOf(s, this.timeline.mode)];
            g.globalAlpha = faded * 0.5;
            g.fillRect(a, y + ROW / 2, w, ROW / 2 - 2);
            g.globalAlpha = faded;
            g.fillRect(a, y + ROW / 2, w, 1.5);
        } else {
            g.fillStyle = this.colours.css[r.colourOf(s, this.timeline.mode)];
            g.fillRect(a, y + 2, w, ROW - 4);
            if (w > 46 && faded === 1) this.label(g, row.kind === "pcpu" ? r.head.vcpus[r.vcpu[s]].name : `pCPU ${r.pcpu[s]}`, a, y, w);
            if (w > 6) (g.fillStyle = this.palette.ground), g.fillRect(a + w - 0.5, y + 2, 0.5, ROW - 4);
        }
        g.globalAlpha = 1;
    }

    label(g, text, x, y, w) {
        g.fillStyle = this.labelColour;
        const left = Math.max(x, GUTTER) + 4, room = Math.min(x + w, this.width) - left - 3;
        if (g.measureText(text).width < room) g.fillText(text, left, y + ROW / 2 + 0.5);
    }

    /* Requests one over the other: the longest of each pixel if there are many. */
    drawRequests(g, row, y) {
        const v = this.timeline.view, list = row.requests, colour = this.recording.domainColour(row.domain);
        const bars = [];
        for (const q of list) {
            if (q.start > v.to) break;
            if (q.end >= v.from) bars.push(q);
        }
        g.fillStyle = colour;
        if (bars.length > 2000) {
            const most = new Float64Array(Math.ceil(this.width) + 1);
            let top = 0;
            for (const q of bars) {
                const k = Math.max(0, Math.min(most.length - 1, Math.round(this.x(q.start))));
                most[k] = Math.max(most[k], q.end - q.start);
                top = Math.max(top, most[k]);
            }
            for (let k = GUTTER; k < most.length; k++)
                if (most[k]) {
                    const tall = Math.max(2, ((ROW - 4) * Math.log1p(most[k] / 1e4)) / Math.log1p(top / 1e4));
                    g.fillRect(k, y + ROW - 2 - tall, 1, tall);
                }
            return;
        }
        for (const q of bars) {
            const a = this.x(q.start), w = Math.max(2, this.x(q.end) - a);
            g.globalAlpha = 0.45;
            g.fillRect(a, y + 4, w, ROW - 8);
            g.globalAlpha = 1;
            g.fillRect(a, y + 2, 1.5, ROW - 4);
            g.fillRect(a + w - 1.5, y + 2, 1.5, ROW - 4);
        }
    }

    rowOfPcpu(p) {
        return this.rowOf.get(this.recording.rows[p]);
    }

    rowOfVcpu(v) {
        return this.rows.findIndex((r) => r.kind === "vcpu" && r.vcpu === v);
    }

    /* From the pCPU on which a vCPU was woken up to where and when it then ran. */
    drawArrows(g) {
        const r = this.recording, v = this.timeline.view, a = above(r.wake.date, r.wake.all, v.from), b = above(r.wake.date, r.wake.all, v.to);
        this.arrows = b - a;
        if (b - a > ARROWS) return;
        g.lineWidth = 1;
        for (let i = a; i < b; i++) {
            const run = r.runAfter(r.wake.vcpu[i], r.wake.date[i]);
            if (run === null) continue;
            if (this.isDim(run)) continue;
            const from = this.rowOfPcpu(r.wake.pcpu[i]) ?? this.rowOfVcpu(r.wake.vcpu[i]);
            const to = this.rowOfPcpu(r.pcpu[run]) ?? this.rowOfVcpu(r.wake.vcpu[i]);
            if (from === undefined || to === undefined || from < 0 || to < 0) continue;
            this.arrow(g, this.x(r.wake.date[i]), this.y(from) + ROW / 2, this.x(r.date[run]), this.y(to) + ROW / 2);
        }
    }

    arrow(g, x1, y1, x2, y2) {
        const far = x2 - x1 > 3 || Math.abs(y2 - y1) > 3;
        g.strokeStyle = this.palette.text;
        g.globalAlpha = 0.55;
        if (far) {
            g.beginPath();
            g.moveTo(x1, y1);
            if (Math.abs(y2 - y1) < 3) g.quadraticCurveTo((x1 + x2) / 2, y1 - Math.min(12, 2 + (x2 - x1) / 8), x2, y2);
            else g.lineTo(x2, y2);
            g.stroke();
        }
        g.fillStyle = this.palette.text;
        g.beginPath();
        g.arc(x1, y1, 1.6, 0, 7);
        g.fill();
        const turn = Math.atan2(y2 - y1, x2 - x1);
        g.beginPath();
        g.moveTo(x2, y2);
        g.lineTo(x2 - 5 * Math.cos(turn - 0.4), y2 - 5 * Math.sin(turn - 0.4));
        g.lineTo(x2 - 5 * Math.cos(turn + 0.4), y2 - 5 * Math.sin(turn + 0.4));
        g.fill();
        g.globalAlpha = 1;
    }

    drawSelection(g) {
        const s = this.timeline.selected;
        if (!s || s.pane !== this) return;
        const i = this.rowOf.get(s.row);
        g.strokeStyle = this.palette.accent;
        g.lineWidth = 2.5;
        if (i !== undefined) {
            const [a, b] = s.request ? [s.request.start, s.request.end] : [this.recording.date[s.segment], this.recording.end[s.segment]];
            g.strokeRect(this.x(a) - 1, this.y(i) + 1, Math.max(3, this.x(b) - this.x(a)) + 2, ROW - 2);
        }
        if (s.request) this.drawWay(g, s.request);
        g.lineWidth = 1;
    }

    /* A request's way through the rows: client, dom0's and the guest's first vCPU, and back. */
    drawWay(g, q) {
        const rowOfDomain = (d) => this.rows.findIndex((r) => r.kind === "vcpu" && r.domain === d);
        const client = this.rows.findIndex((r) => r.kind === "requests" && r.client === q.client);
        const place = (hop) => (hop < 3 || hop > 13 ? client : (hop >= 8 && hop <= 11 ? rowOfDomain(q.domain) : rowOfDomain(0)));
        const ahead = [];
        q.hop.forEach((t, hop) => {
            const i = place(hop);
            if (t !== null && hop && i >= 0) ahead.push([this.x(t), this.y(i) + ROW / 2]);
        });
        g.beginPath();
        ahead.forEach(([x, y], k) => (k ? g.lineTo(x, y) : g.moveTo(x, y)));
        g.lineWidth = 1.5;
        g.stroke();
        g.fillStyle = this.palette.accent;
        for (const [x, y] of ahead) g.fillRect(x - 2, y - 2, 4, 4);
    }

    drawGutter(g, first, last, h) {
        g.fillStyle = this.palette.ground;
        g.fillRect(0, 0, GUTTER, h);
        for (let i = first; i < last; i++) {
            const row = this.rows[i], y = this.y(i) + ROW / 2 + 0.5, chosen = this.timeline.selected && this.timeline.selected.row === row;
            g.fillStyle = chosen ? this.palette.accent : row.kind === "pcpu" ? this.palette.text : this.palette.faint;
            g.font = `${chosen || row.kind === "pcpu" ? "600 " : ""}12px system-ui, sans-serif`;
            let name = row.name;
            while (name.length > 3 && g.measureText(name).width > GUTTER - 22) name = `${name.slice(0, -2)}…`;
            g.fillText(name, 14, y);
            if (row.domain >= 0) (g.fillStyle = this.recording.domainColour(row.domain)), g.fillRect(3, y - 5, 6, 10);
        }
        g.font = "12px system-ui, sans-serif";
    }

    drawAxis(g, h) {
        const v = this.timeline.view, span = v.to - v.from, room = Math.max(2, Math.floor((this.width - GUTTER) / 110));
        const rough = span / room, power = 10 ** Math.floor(Math.log10(rough));
        const step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= rough);
        g.fillStyle = this.palette.ground;
        g.fillRect(0, 0, this.width, AXIS);
        g.strokeStyle = this.palette.line;
        g.lineWidth = 1;
        g.fillStyle = this.palette.text;
        const origin = this.recording.from, decimals = Math.max(0, 9 - Math.floor(Math.log10(step)));
        for (let t = Math.ceil((v.from + origin) / step) * step - origin; t <= v.to; t += step) {
            const x = Math.round(this.x(t)) + 0.5;
            g.globalAlpha = 0.5;
            g.beginPath();
            g.moveTo(x, AXIS - 5);
            g.lineTo(x, h);
            g.stroke();
            g.globalAlpha = 1;
            const text = `${((t + origin) / 1e9).toFixed(decimals)} s`;
            if (x + g.measureText(text).width / 2 < this.width) g.fillText(text, x - g.measureText(text).width / 2, 11);
        }
        g.fillText(this.timeline.beside ? "" : hvsim.time(Math.round(span)), 14, 11);
    }

    /* ---- pointing ---------------------------------------------------------------------------- */

    /* What is at a place of the canvas: {row, segment | request}, or null. */
    find(px, py) {
        const i = Math.floor((py - AXIS + this.scroller.scrollTop) / ROW), row = this.rows[i];
        if (px < GUTTER || py < AXIS || !row) return null;
        const t = this.t(px), v = this.timeline.view, near = ((v.to - v.from) / (this.width - GUTTER)) * 4;
        if (row.kind === "requests") {
            let best = null;
            for (const q of row.requests) {
                if (q.start - near > t) break;
                if (q.end + near >= t && (!best || Math.abs(q.start - t) < Math.abs(best.start - t))) best = q;
            }
            return best && { pane: this, row, request: best };
        }
        const r = this.recording, k = above(r.date, row.list, t) - 1;
        let best = -1;
        for (let j = Math.max(0, k - 40); j < Math.min(row.list.length, k + 3); j++) {
            const s = row.list[j], state = r.state[s] & 3;
            if (r.date[s] - near > t || r.end[s] + near < t) continue;
            const exact = r.date[s] <= t && r.end[s] > t;
            if (exact && (state < 2 || best < 0)) best = s;
            else if (best < 0 && state < 2) best = s;
        }
        return best < 0 ? null : { pane: this, row, segment: best };
    }

    listen() {
        const c = this.canvas, t = this.timeline;
        let drag = null;
        const place = (e) => [e.clientX - c.getBoundingClientRect().left, e.clientY - c.getBoundingClientRect().top];
        c.addEventListener("wheel", (e) => {
            const [x] = place(e);
            if (e.ctrlKey || e.metaKey) t.zoom(1.0015 ** e.deltaY, this.t(Math.max(x, GUTTER)));
            else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) t.pan(((e.deltaX || e.deltaY) / this.width) * (t.view.to - t.view.from));
            else return;
            e.preventDefault();
        }, { passive: false });
        c.addEventListener("pointerdown", (e) => {
            if (e.button) return;
            drag = { x: e.clientX, view: { ...t.view }, moved: false };
            c.setPointerCapture(e.pointerId);
        });
        c.addEventListener("pointermove", (e) => {
            if (drag) {
                const moved = e.clientX - drag.x;
                drag.moved = drag.moved || Math.abs(moved) > 3;
                const ns = (moved / (this.width - GUTTER)) * (drag.view.to - drag.view.from);
                if (drag.moved) t.look(drag.view.from - ns, drag.view.to - ns);
                return;
            }
            const found = this.find(...place(e));
            t.tip(found, e);
        });
        c.addEventListener("pointerup", (e) => {
            if (drag && !drag.moved) t.select(this.find(...place(e)));
            drag = null;
        });
        c.addEventListener("pointercancel", () => (drag = null));
        c.addEventListener("pointerleave", () => t.tip(null));
        c.addEventListener("dblclick", (e) => t.zoom(0.25, this.t(place(e)[0])));
        c.addEventListener("keydown", (e) => t.key(e, this));
        this.scroller.addEventListener("scroll", () => t.redraw());
    }
}
hvsim.Pane = Pane;
