/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The timeline of a report: panes of recordings that share one stretch of time, the controls over
 * them, what is told of a selection, and the tables for those who do not look at pictures.
 */
"use strict";

let timelines = 0;

class Timeline {
    /* recordings: [{name, file}], read when they are first wanted. */
    constructor(recordings) {
        this.recordings = recordings;
        this.panes = [];
        this.view = { from: 0, to: 1 };
        this.length = 1;
        this.mode = "domain";
        this.words = [];
        this.priority = "";
        this.runstate = "";
        this.beside = false;
        this.show = { pcpu: true, vcpu: true, requests: true, arrows: true };
        this.selected = null;
        this.frame = 0;
        this.frames = [];
        this.helpId = `tl-help-${++timelines}`;
        this.build();
        hvsim.timelines.push(this);
        hvsim.themed.push(() => this.panes.length && (this.showLegend(), this.draw()));
    }

    /* ---- building ---------------------------------------------------------------------------- */

    build() {
        const { el } = hvsim;
        const names = this.recordings.map((r, i) => [i, r.name]);
        const button = (text, label, act) => el("button", { type: "button", "aria-label": label, title: label, click: act }, text);
        const check = (what, text) => el("label", { class: "control" }, el("input", { type: "checkbox", checked: this.show[what], change: (e) => ((this.show[what] = e.target.checked), this.filter()) }), ` ${text}`);
        this.first = 0;
        this.second = -1;
        this.filterBox = el("input", { type: "search", placeholder: "server hog1", "aria-label": "Show only vCPUs and domains whose name holds one of these words", input: (e) => this.filterWords(e.target.value) });
        this.priorityBox = el("span");
        this.tools = el("div", { class: "tl-tools", role: "toolbar", "aria-label": "Timeline" },
            button("−", "Zoom out", () => this.zoom(2)), button("+", "Zoom in", () => this.zoom(0.5)),
            button("◀", "Earlier", () => this.pan(-0.4 * this.span())), button("▶", "Later", () => this.pan(0.4 * this.span())),
            button("all", "The whole recording", () => this.look(0, this.length)),
            hvsim.select("colours:", [["domain", "domains"], ["priority", "priorities"], ["runstate", "runstates"]], "domain", (v) => this.setMode(v)),
            el("label", { class: "control" }, "only: ", this.filterBox),
            this.priorityBox,
            hvsim.select("runstate:", [["", "any"], [0, "running"], [1, "runnable"]], "", (v) => ((this.runstate = v), this.filter())),
            check("pcpu", "pCPUs"), check("vcpu", "vCPUs"), check("requests", "requests"), check("arrows", "wake-ups"));
        this.chooser = el("div", { class: "tl-tools" }, this.recordings.length > 1 && [
            hvsim.select("schedule:", names, 0, (v) => this.choose(+v, this.second)),
            hvsim.select("with:", [[-1, "nothing beside it"], ...names], this.recordings.length > 1 ? 1 : -1, (v) => this.choose(this.first, +v)),
            el("label", { class: "control" }, el("input", { type: "checkbox", change: (e) => ((this.beside = e.target.checked), this.arrange()) }), " side by side"),
        ]);
        this.overview = el("canvas", { class: "tl-overview", "aria-hidden": "true" });
        this.overview.addEventListener("pointerdown", (e) => this.jump(e));
        this.overview.addEventListener("pointermove", (e) => e.buttons && this.jump(e));
        this.paneBox = el("div", { class: "tl-panes" });
        this.legend = el("div", { class: "legend" });
        this.detail = el("div", { class: "tl-detail", role: "status", "aria-live": "polite" }, "Nothing is selected.");
        this.tipBox = el("div", { class: "tl-tip", hidden: true });
        this.tables = el("div");
        this.root = el("div", { class: "timeline" },
            el("p", { class: "note", id: this.helpId }, "Drag, or use the arrow keys, to move in time; + and −, or the wheel with Ctrl, to zoom; 0 shows all. " +
                "Click a segment, or choose one with up, down, comma and full stop, to see why the scheduler chose it; Enter zooms to it. " +
                "A full bar runs; a half one waits for a pCPU; a thin line is blocked. Dots with arrows: where a vCPU was woken up, and where it then ran."),
            this.chooser, this.tools, this.overview, this.paneBox, this.legend, this.detail, this.tables, this.tipBox);
    }

    /* Begin with two schedulers if there are two. */
    async start() {
        await this.choose(0, this.recordings.length > 1 ? 1 : -1);
    }

    async choose(first, second) {
        const wanted = second >= 0 && second !== first ? [first, second] : [first];
        this.root.setAttribute("aria-busy", "true");
        for (const i of wanted)
            if (!this.recordings[i].recording)
                this.recordings[i].recording = await hvsim.Recording.read(hvsim.bytes(this.recordings[i].file));
        this.first = first;
        this.second = wanted.length > 1 ? second : -1;
        this.panes = wanted.map((i) => new hvsim.Pane(this, this.recordings[i].recording, this.recordings[i].name));
        this.length = Math.max(...this.panes.map((p) => p.recording.length));
        if (!this.started) this.view = this.begin();
        this.started = true;
        this.selected = null;
        this.paneBox.replaceChildren(...this.panes.map((p) => p.root));
        this.listPriorities();
        this.makeTables();
        this.arrange();
        this.root.removeAttribute("aria-busy");
    }

    /* A stretch in which single segments can be seen: about 400 of them. */
    begin() {
        const r = this.panes[0].recording, part = Math.min(1, 400 / Math.max(1, r.n));
        return { from: 0, to: Math.max(LEAST, r.length * part) };
    }

    listPriorities() {
        const names = [...new Set(this.panes.flatMap((p) => p.recording.head.priorities))].filter((n) => n !== "-");
        this.priorityBox.replaceChildren(names.length ? hvsim.select("priority:", [["", "any"], ...names.map((n) => [n, n])], "", (v) => ((this.priority = v), this.filter())) : "");
        this.priority = "";
    }

    arrange() {
        this.paneBox.classList.toggle("beside", this.beside && this.panes.length > 1);
        this.filter();
    }

    filterWords(text) {
        this.words = text.toLowerCase().split(/[\s,]+/).filter(Boolean);
        this.filter();
    }

    filter() {
        for (const p of this.panes) p.filter(), p.dim();
        this.showLegend();
        this.overviewDrawn = null;
        this.redraw();
    }

    setMode(mode) {
        this.mode = mode;
        this.showLegend();
        this.overviewDrawn = null;
        this.redraw();
    }

    showLegend() {
        const { el } = hvsim, r = this.panes[0].recording;
        const item = (colour, text) => el("span", null, el("i", { style: `background:${colour}` }), text);
        const items = this.mode === "runstate" ? [0, 1, 2].map((s) => [runstateColours()[s], hvsim.runstates[s]])
            : this.mode === "priority" ? r.head.priorities.map((name, i) => [r.priorityColour(i), name === "-" ? "no priority" : name])
                : r.head.domains.slice(0, 24).map((name, i) => [r.domainColour(i), name]);
        this.legend.replaceChildren(...items.map(([c, t]) => item(c, t)));
    }

    /* ---- looking ----------------------------------------------------------------------------- */

    span() {
        return this.view.to - this.view.from;
    }

    look(from, to) {
        const span = Math.min(this.length, Math.max(LEAST, to - from));
        const start = Math.max(0, Math.min(this.length - span, from));
        this.view = { from: start, to: start + span };
        this.redraw();
    }

    pan(ns) {
        this.look(this.view.from + ns, this.view.to + ns);
    }

    /* Keep `at` where it is. */
    zoom(factor, at = (this.view.from + this.view.to) / 2) {
        const span = Math.min(this.length, Math.max(LEAST, this.span() * factor)), part = (at - this.view.from) / this.span();
        this.look(at - part * span, at + (1 - part) * span);
    }

    redraw() {
        if (this.frame) return;
        this.frame = requestAnimationFrame(() => this.draw());
    }

    draw() {
        const begun = performance.now();
        this.frame = 0;
        for (const p of this.panes) p.draw();
        this.drawOverview();
        this.frames.push(performance.now() - begun); /* how long it took, ms */
        if (this.frames.length > 240) this.frames.shift();
    }

    drawOverview() {
        const c = this.overview, w = c.clientWidth, h = 34, scale = devicePixelRatio || 1;
        if (!w || !this.panes.length) return;
        const key = `${w} ${this.mode} ${hvsim.dark()} ${this.first}`;
        if (this.overviewDrawn !== key) {
            this.background = hvsim.el("canvas", { width: Math.round(w * scale), height: Math.round(h * scale) });
            const g = this.background.getContext("2d"), rows = this.panes[0].recording.rows.filter((r) => r.kind === "pcpu"), r = this.panes[0].recording;
            const colours = r.palette(this.mode).css;
            g.scale(scale, scale);
            rows.forEach((row, i) => {
                if (!row.levels) row.build();
                const level = row.levels.find((l) => l.width >= r.length / w) || row.levels[row.levels.length - 1], tall = h / rows.length;
                for (let k = 0; k < level.busy.length; k++) {
                    if (level.which[k] < 0) continue;
                    const x = (k * level.width * w) / this.length;
                    g.fillStyle = colours[r.colourOf(level.which[k], this.mode)];
                    g.fillRect(x, i * tall + tall * (1 - level.busy[k]), Math.max(0.75, (level.width * w) / this.length), tall * level.busy[k]);
                }
            });
            this.overviewDrawn = key;
        }
        c.width = Math.round(w * scale);
        c.height = Math.round(h * scale);
        const g = c.getContext("2d"), a = (this.view.from / this.length) * c.width, b = (this.view.to / this.length) * c.width;
        g.globalAlpha = 0.35;
        g.drawImage(this.background, 0, 0);
        g.globalAlpha = 1;
        g.save();
        g.beginPath();
        g.rect(a, 0, Math.max(2, b - a), c.height);
        g.clip();
        g.drawImage(this.background, 0, 0);
        g.restore();
        g.strokeStyle = hvsim.css("--accent");
        g.lineWidth = 2 * scale;
        g.strokeRect(a + scale, scale, Math.max(2 * scale, b - a - 2 * scale), c.height - 2 * scale);
    }

    jump(e) {
        const at = (e.offsetX / this.overview.clientWidth) * this.length, half = this.span() / 2;
        this.look(at - half, at + half);
    }

    /* ---- keys -------------------------------------------------------------------------------- */

    key(e, pane) {
        const acts = {
            ArrowLeft: () => this.pan(-0.2 * this.span()), ArrowRight: () => this.pan(0.2 * this.span()),
            "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2), 0: () => this.look(0, this.length),
            Home: () => this.look(0, this.span()), End: () => this.look(this.length - this.span(), this.length),
            ArrowUp: () => this.step(pane, -1, 0), ArrowDown: () => this.step(pane, 1, 0),
            ",": () => this.step(pane, 0, -1), ".": () => this.step(pane, 0, 1),
            Enter: () => this.zoomToSelected(), Escape: () => this.select(null),
        };
        if (e.ctrlKey || e.metaKey || e.altKey || !acts[e.key]) return;
        acts[e.key]();
        e.preventDefault();
    }

    /* Select the next or last row's segment at the middle, or the row's next or last segment. */
    step(pane, rows, segments) {
        const now = this.selected && this.selected.pane === pane ? this.selected : null;
        const i = now ? pane.rowOf.get(now.row) : rows > 0 ? -1 : 0, count = pane.rows.length;
        const row = pane.rows[Math.max(0, Math.min(count - 1, (i ?? 0) + rows))];
        const middle = (this.view.from + this.view.to) / 2;
        if (!row) return;
        if (row.kind === "requests") {
            const at = now && now.request && !rows ? row.requests.indexOf(now.request) + segments : row.requests.findIndex((q) => q.start >= middle);
            const request = row.requests[Math.max(0, Math.min(row.requests.length - 1, at))];
            return this.select({ pane, row, request }, true);
        }
        const r = pane.recording, list = row.list;
        if (!list.length) return;
        let k = now && now.segment !== undefined && !rows ? Array.prototype.indexOf.call(list, now.segment) + segments : hvsim.above(r.date, list, middle) - 1;
        k = Math.max(0, Math.min(list.length - 1, k));
        this.select({ pane, row, segment: list[k] }, true);
    }

    /* Where the selection is, in time. */
    extent(s = this.selected) {
        const r = s.pane.recording;
        return s.request ? [s.request.start, s.request.end] : [r.date[s.segment], r.end[s.segment]];
    }

    zoomToSelected() {
        if (!this.selected) return;
        const [a, b] = this.extent(), room = Math.max(b - a, 1000);
        this.look(a - room, b + room);
    }

    select(s, follow) {
        this.selected = s;
        if (s && follow) {
            const [a, b] = this.extent(), i = s.pane.rowOf.get(s.row);
            if (b < this.view.from || a > this.view.to) this.look((a + b - this.span()) / 2, (a + b + this.span()) / 2);
            const y = AXIS + i * ROW, sc = s.pane.scroller;
            if (y - sc.scrollTop < AXIS) sc.scrollTop = y - AXIS;
            if (y + ROW - sc.scrollTop > sc.clientHeight) sc.scrollTop = y + ROW - sc.clientHeight;
        }
        this.describe();
        this.redraw();
    }

    /* ---- telling ----------------------------------------------------------------------------- */

    date(pane, t) {
        return `${((t + pane.recording.from) / 1e9).toFixed(9)} s`;
    }

    segmentText(pane, s) {
        const r = pane.recording, state = r.state[s], priority = r.head.priorities[state >> 2];
        const what = ["runs on", "waits for", "is blocked, last on", "is offline, last on"][state & 3];
        return `${r.head.vcpus[r.vcpu[s]].name} ${what} pCPU ${r.pcpu[s]}${priority && priority !== "-" && (state & 3) < 2 ? ` with priority ${priority}` : ""}`;
    }

    requestText(pane, q) {
        return `request of ${pane.recording.head.clients[q.client]} to ${pane.recording.head.domains[q.domain]}`;
    }

    tip(found, e) {
        this.tipBox.hidden = !found;
        if (!found) return;
        const [a, b] = this.extent(found);
        this.tipBox.textContent = `${found.request ? this.requestText(found.pane, found.request) : this.segmentText(found.pane, found.segment)}, ${hvsim.time(b - a)}`;
        const box = this.root.getBoundingClientRect();
        this.tipBox.style.left = `${Math.min(e.clientX - box.left + 14, box.width - 260)}px`;
        this.tipBox.style.top = `${e.clientY - box.top + 16}px`;
    }

    async describe() {
        const { el } = hvsim, s = this.selected;
        if (!s) return this.detail.replaceChildren("Nothing is selected.");
        if (s.request) return this.describeRequest(s);
        const r = s.pane.recording, [a, b] = this.extent();
        const decisions = r.decisionsOf(s.segment, 8), runs = (r.state[s.segment] & 3) === 0;
        const texts = await Promise.all(decisions.filter((d) => d !== undefined).map((d) => r.why(d)));
        if (this.selected !== s) return;
        this.detail.replaceChildren(
            el("p", null, el("strong", null, this.segmentText(s.pane, s.segment)), `, from ${this.date(s.pane, a)} to ${this.date(s.pane, b)}: ${hvsim.time(b - a)}`),
            el("p", null, runs ? "Why the scheduler chose it, and why it went on:" : (r.state[s.segment] & 3) === 1 ? `What pCPU ${r.pcpu[s.segment]} decided meanwhile:` : `The last decision there (pCPU ${r.pcpu[s.segment]}):`),
            ...texts.map((t) => el("pre", { class: "why" }, t.trimEnd())));
    }

    describeRequest(s) {
        const { el } = hvsim, q = s.request, h = s.pane.recording.head;
        let last = q.hop[0];
        const hops = q.hop.map((t, i) => {
            if (t === null) return null;
            const row = [h.hops[i], this.date(s.pane, t), hvsim.time(t - last)];
            last = t;
            return row;
        }).filter(Boolean);
        this.detail.replaceChildren(
            el("p", null, el("strong", null, this.requestText(s.pane, q)), `: ${hvsim.time(q.end - q.start)} from the send to the reply, ${hvsim.time(q.end - q.hop[0])} from the intended send`, q.measured ? "" : " (not within the measured time)"),
            el("div", { class: "columns" },
                hvsim.table("Its way", ["what happened", "date", "since the one before"], hops),
                hvsim.table("Where its time went", ["part", "time"], h.parts.map((p, i) => [`${p.name}: ${p.meaning}`, hvsim.time(q.part[i])]).filter((_, i) => q.part[i]))));
    }

    /* The same in numbers: what each vCPU did, and the longest waits, which can be gone to. */
    makeTables() {
        const { el } = hvsim;
        this.tables.replaceChildren(...this.panes.map((pane, k) => {
            const r = pane.recording, name = this.recordings[k ? this.second : this.first].name;
            const percent = (ns) => hvsim.number((100 * ns) / r.length, 3);
            const waits = () => hvsim.table(`Longest waits from waking up to running, ${name}`, ["vCPU", "woke up at", "waited", ""],
                r.longestWaits(20).map((w) => [r.head.vcpus[w.vcpu].name, this.date(pane, w.from), hvsim.time(w.to - w.from),
                    el("button", { type: "button", click: () => this.goTo(pane, w) }, "show")]));
            const totals = () => hvsim.table(`What vCPUs did, ${name}: time in % of the recorded ${hvsim.time(r.length)}`, ["vCPU", "running", "runnable", "blocked", "runs"],
                r.totals().map((t, v) => [r.head.vcpus[v].name, percent(t.time[0]), percent(t.time[1]), percent(t.time[2]), t.runs]));
            return [
                el("p", { class: "note" }, `${name}: ${r.n} segments, ${r.wake.n} wake-ups, ${r.decision.n} decisions, ${r.requests.length} requests between ${this.date(pane, 0)} and ${this.date(pane, r.length)}` +
                    (r.head.cut ? "; the recording was ended there, for it had as many segments as it may have." : ".")),
                hvsim.details(`Longest waits, ${name}`, waits), hvsim.details(`Time of each vCPU, ${name}`, totals)];
        }).flat());
    }

    goTo(pane, w) {
        const row = pane.recording.rows.find((r) => r.kind === "vcpu" && r.vcpu === w.vcpu), length = w.to - w.from;
        const k = pane.recording.at(w.vcpu, w.from);
        this.look(w.from - 0.3 * length, w.to + 0.3 * length);
        this.select({ pane, row, segment: row.list[k] }, true);
        pane.canvas.focus();
        pane.root.scrollIntoView({ block: "nearest" });
    }
}
hvsim.Timeline = Timeline;
