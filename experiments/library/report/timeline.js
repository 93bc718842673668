/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading a recording of a schedule (experiments/study/timeline.h says what is in it) into typed arrays:
 * segments in the order of their dates, and for every row of the picture the numbers of its
 * segments, with coarser and coarser pictures of the row for looking at it from afar.
 */
"use strict";

const RUNNING = 0, RUNNABLE = 1, BLOCKED = 2, OFFLINE = 3;
hvsim.runstates = ["running", "runnable", "blocked", "offline"];

const inflate = async (bytes) => new Uint8Array(await new Response(
    new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer());

/* One chunk of rows: {n, date: Float64Array, columns: [typed array]}. */
const readChunk = (raw, widths) => {
    const view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
    const n = view.getUint32(0, true);
    const date = new Float64Array(n);
    let t = Number(view.getBigInt64(4, true)), at = 12;
    for (let i = 0; i < n; i++, at += 4) date[i] = t += view.getUint32(at, true);
    const columns = widths.map((w) => {
        const part = raw.slice(at, at + n * w);
        at += n * w;
        return w === 2 ? new Uint16Array(part.buffer) : part;
    });
    return { n, date, columns };
};

/* Chunks one behind the other. */
const join = (chunks, types) => {
    const n = chunks.reduce((s, c) => s + c.n, 0);
    const all = { n, date: new Float64Array(n), columns: types.map((T) => new T(n)) };
    let at = 0;
    for (const c of chunks) {
        all.date.set(c.date, at);
        c.columns.forEach((column, i) => all.columns[i].set(column, at));
        at += c.n;
    }
    return all;
};

const readNumbers = function* (raw) {
    for (let i = 0; i < raw.length;) {
        let value = 0, factor = 1, byte;
        do {
            byte = raw[i++];
            value += (byte & 127) * factor;
            factor *= 128;
        } while (byte & 128);
        yield value % 2 ? -(value - 1) / 2 - 1 : value / 2;
    }
};

const readRequests = (raw, head) => {
    const list = [], numbers = readNumbers(raw), next = () => numbers.next().value;
    for (let n = 0; n < head.requests; n++) {
        const r = { client: next(), domain: next(), measured: next() === 1, hop: [], part: [] };
        next(); /* the first hop counts from itself */
        const origin = next();
        r.hop.push(origin);
        for (let i = 1; i < head.hops.length; i++) {
            const d = next();
            r.hop.push(d === -1 ? null : origin + d);
        }
        for (let i = 0; i < head.parts.length; i++) r.part.push(next());
        r.start = r.hop[1] ?? origin;
        r.end = r.hop[head.hops.length - 1];
        list.push(r);
    }
    return list.sort((a, b) => a.start - b.start);
};

/* First index of a sorted run list[from..to) whose date is above t. */
const above = (date, list, t, from = 0, to = list.length) => {
    while (from < to) {
        const mid = (from + to) >> 1;
        if (date[list[mid]] > t) to = mid;
        else from = mid + 1;
    }
    return from;
};
hvsim.above = above;

/* "#rrggbb" of a hue in degrees, saturation and lightness in per cent. */
const hsl = (h, s, l) => {
    const a = (s / 100) * Math.min(l / 100, 1 - l / 100);
    const f = (n) => {
        const k = (n + (((h % 360) + 360) % 360) / 30) % 12;
        return Math.round(255 * (l / 100 - a * Math.max(-1, Math.min(k - 3, 9 - k, 1)))).toString(16).padStart(2, "0");
    };
    return `#${f(0)}${f(8)}${f(4)}`;
};

/* "#rrggbb" as the bytes of a pixel, opaque. */
const bytesOf = (css) => {
    const n = parseInt(css.slice(1), 16);
    return (0xff000000 | ((n & 255) << 16) | (n & 0xff00) | (n >> 16)) >>> 0;
};

const runstateColours = () => (hvsim.dark() ? ["#3ddbab", "#f0b840", "#56606c", "#333333"] : ["#00795a", "#e0a000", "#b8c0c8", "#dddddd"]);

class Row {
    constructor(recording, kind, name, domain, list) {
        Object.assign(this, { recording, kind, name, domain, list, levels: null });
    }

    /* What may be drawn as one box at so many ns a pixel: null, look at the segments. */
    level(nsPerPixel, from, to) {
        const r = this.recording;
        const first = Math.max(0, above(r.date, this.list, from) - 1), last = above(r.date, this.list, to);
        if (last - first <= (to - from) / nsPerPixel / 3) return { first, last };
        if (!this.levels) this.build();
        let k = 0;
        while (k + 1 < this.levels.length && this.levels[k + 1].width <= nsPerPixel) k++;
        return { level: this.levels[k] };
    }

    /*
     * Level k has bins of width 2^k w. Each knows how busy the row is in it (pCPUs: running; vCPUs:
     * running or runnable), and its longest segment of that kind, whose colour it is given.
     */
    build() {
        const r = this.recording, n = this.list.length;
        let bins = 64;
        while (bins < n) bins *= 2;
        const width = r.length / bins, busy = new Float32Array(bins), most = new Float32Array(bins);
        const which = new Int32Array(bins).fill(-1);
        for (let k = 0; k < n; k++) {
            const s = this.list[k], state = r.state[s] & 3;
            if (state > RUNNABLE) continue;
            const a = r.date[s], b = r.end[s], last = Math.min(bins - 1, Math.floor(b / width));
            for (let i = Math.min(bins - 1, Math.floor(a / width)); i <= last; i++) {
                const part = Math.min(b, (i + 1) * width) - Math.max(a, i * width);
                if (part <= 0 && b > a) continue;
                busy[i] += part;
                if (part >= most[i]) (most[i] = part), (which[i] = s);
            }
        }
        this.levels = [{ width, busy: busy.map((x) => Math.min(1, x / width)), most, which }];
        for (let below = this.levels[0]; below.busy.length > 8; below = this.levels[this.levels.length - 1]) {
            const m = below.busy.length / 2;
            const next = { width: below.width * 2, busy: new Float32Array(m), most: new Float32Array(m), which: new Int32Array(m) };
            for (let i = 0; i < m; i++) {
                const a = 2 * i, b = a + 1, c = below.most[a] >= below.most[b] ? a : b;
                next.busy[i] = (below.busy[a] + below.busy[b]) / 2;
                next.most[i] = below.most[c];
                next.which[i] = below.which[c];
            }
            this.levels.push(next);
        }
    }
}

/* A name without its number: "hog11" and "hog2" are of one kind. */
const kindOf = (name) => (name === "dom0" ? name : name.replace(/\d+$/, "") || name);

class Recording {
    static async read(bytes) {
        const text = new TextDecoder();
        if (text.decode(bytes.subarray(0, 8)) !== "hvsimTL1") throw new Error("not a recording of a schedule");
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        const blocks = [];
        for (let at = 8; at < bytes.length;) {
            const stored = view.getUint32(at + 4, true);
            blocks.push({ name: text.decode(bytes.subarray(at, at + 4)), data: bytes.subarray(at + 12, at + 12 + stored) });
            at += 12 + stored;
        }
        const r = new Recording();
        const raws = await Promise.all(blocks.map((b) => (b.name === "WHYS" ? null : inflate(b.data))));
        const of = (name) => raws.filter((_, i) => blocks[i].name === name);
        r.head = JSON.parse(text.decode(of("HEAD")[0]));
        r.whys = blocks.filter((b) => b.name === "WHYS");
        r.from = Number(r.head.from);
        r.length = r.head.length;
        r.segments(join(of("SEGS").map((c) => readChunk(c, [2, 1, 1])), [Uint16Array, Uint8Array, Uint8Array]));
        r.wakes(join(of("WAKE").map((c) => readChunk(c, [2, 1])), [Uint16Array, Uint8Array]));
        r.decisions(of("DECS").map((c) => readChunk(c, [1, 1])));
        r.requests = of("REQS").length ? readRequests(of("REQS")[0], r.head) : [];
        r.colours();
        r.makeRows();
        return r;
    }

    segments({ n, date, columns: [vcpu, pcpu, state] }) {
        const vcpus = this.head.vcpus.length, count = new Int32Array(vcpus + 1);
        Object.assign(this, { n, date, vcpu, pcpu, state, end: new Float64Array(n).fill(this.length) });
        for (let i = 0; i < n; i++) count[vcpu[i] + 1]++;
        for (let v = 0; v < vcpus; v++) count[v + 1] += count[v];
        this.offset = count.slice();
        this.ofVcpu = new Int32Array(n);
        const fill = count.slice(), last = new Int32Array(vcpus).fill(-1);
        const running = new Int32Array(this.head.pcpus + 1);
        for (let i = 0; i < n; i++) {
            const v = vcpu[i];
            this.ofVcpu[fill[v]++] = i;
            if (last[v] >= 0) this.end[last[v]] = date[i];
            last[v] = i;
            if ((state[i] & 3) === RUNNING) running[pcpu[i] + 1]++;
        }
        for (let p = 0; p < this.head.pcpus; p++) running[p + 1] += running[p];
        const ofPcpu = new Int32Array(running[this.head.pcpus]), at = running.slice();
        for (let i = 0; i < n; i++) if ((state[i] & 3) === RUNNING) ofPcpu[at[pcpu[i]]++] = i;
        this.pcpuList = Array.from({ length: this.head.pcpus }, (_, p) => ofPcpu.subarray(running[p], running[p + 1]));
        this.vcpuList = Array.from({ length: vcpus }, (_, v) => this.ofVcpu.subarray(this.offset[v], this.offset[v + 1]));
    }

    wakes({ n, date, columns: [vcpu, pcpu] }) {
        this.wake = { n, date, vcpu, pcpu, all: Int32Array.from({ length: n }, (_, i) => i) };
    }

    decisions(chunks) {
        const all = join(chunks, [Uint8Array, Uint8Array]);
        let at = 0;
        this.decision = { n: all.n, date: all.date, pcpu: all.columns[0], again: all.columns[1] };
        this.decision.chunk = chunks.map((c) => ({ first: (at += c.n) - c.n, n: c.n }));
        this.decision.ofPcpu = Array.from({ length: this.head.pcpus }, () => []);
        for (let i = 0; i < all.n; i++) this.decision.ofPcpu[all.columns[0][i]].push(i);
    }

    makeRows() {
        this.rows = [];
        for (let p = 0; p < this.head.pcpus; p++)
            this.rows.push(new Row(this, "pcpu", `pCPU ${p}`, -1, this.pcpuList[p]));
        this.head.clients.forEach((name, client) => {
            const requests = this.requests.filter((q) => q.client === client);
            if (requests.length) this.rows.push({ kind: "requests", name: `${name} →`, client, domain: requests[0].domain, requests });
        });
        this.head.vcpus.forEach((v, i) => {
            if (!v.name) return;
            const row = new Row(this, "vcpu", v.name, v.domain, this.vcpuList[i]);
            row.vcpu = i;
            this.rows.push(row);
        });
    }

    /* Domains of one kind (hog1, hog2, ...) share a hue and differ in lightness. */
    colours() {
        const hues = [24, 205, 158, 325, 48, 262, 95, 0, 185, 295], kinds = new Map(), members = new Map();
        this.tints = this.head.domains.map((name) => {
            const kind = kindOf(name);
            if (!kinds.has(kind)) kinds.set(kind, kind === "dom0" ? null : hues[[...kinds.values()].filter((h) => h !== null).length % hues.length]);
            members.set(kind, (members.get(kind) || 0) + 1);
            return { hue: kinds.get(kind), nth: members.get(kind) - 1 };
        });
        this.palettes = {};
    }

    domainColour(domain) {
        const { hue, nth } = this.tints[domain] || { hue: 0, nth: 0 };
        const light = (hvsim.dark() ? 60 : 38) + [0, 14, -8, 7, -4, 19][nth % 6], turn = [0, 14, -12, 26, -24][nth % 5];
        return hue === null ? hsl(215, 14, light) : hsl(hue + turn, nth % 2 ? 52 : 74, light);
    }

    priorityColour(i) {
        const known = { BOOST: 1, UNDER: 0, OVER: 6, "-": 5 }, name = this.head.priorities[i];
        return hvsim.colour(known[name] ?? i + 2);
    }

    /* Colours by number: of vCPUs, priorities or runstates; as CSS, and as a canvas' bytes. */
    palette(mode) {
        const key = `${mode} ${hvsim.dark()}`;
        if (!this.palettes[key]) {
            const css = mode === "runstate" ? runstateColours() : mode === "priority" ? this.head.priorities.map((_, i) => this.priorityColour(i))
                : this.head.vcpus.map((v) => this.domainColour(v.domain));
            this.palettes[key] = { css, bytes: css.map(bytesOf) };
        }
        return this.palettes[key];
    }

    /* Number of a segment's colour. */
    colourOf(segment, mode) {
        return mode === "runstate" ? this.state[segment] & 3 : mode === "priority" ? this.state[segment] >> 2 : this.vcpu[segment];
    }

    domainOf(segment) {
        return this.head.vcpus[this.vcpu[segment]].domain;
    }

    /* Number of the vCPU's segment at t in its list. */
    at(vcpu, t) {
        return Math.max(0, above(this.date, this.vcpuList[vcpu], t) - 1);
    }

    /* When and where a vCPU that woke at t ran; null if it did not within the recording. */
    runAfter(vcpu, t) {
        const list = this.vcpuList[vcpu];
        for (let i = this.at(vcpu, t); i < list.length; i++) {
            const state = this.state[list[i]] & 3;
            if (state === RUNNING) return list[i];
            if (state !== RUNNABLE && this.date[list[i]] > t) return null;
        }
        return null;
    }

    /* Waits from waking up to running, the longest first: {vcpu, from, to}. */
    longestWaits(count) {
        const waits = [];
        this.vcpuList.forEach((list, vcpu) => {
            for (let i = 1; i < list.length; i++) {
                if ((this.state[list[i]] & 3) !== RUNNABLE || (this.state[list[i - 1]] & 3) !== BLOCKED) continue;
                const from = this.date[list[i]];
                while (i + 1 < list.length && (this.state[list[i]] & 3) === RUNNABLE) i++;
                waits.push({ vcpu, from, to: (this.state[list[i]] & 3) === RUNNABLE ? this.length : this.date[list[i]] });
            }
        });
        return waits.sort((a, b) => b.to - b.from - (a.to - a.from)).slice(0, count);
    }

    /* Time of each vCPU in each runstate, and how often it ran. */
    totals() {
        const sum = this.head.vcpus.map(() => ({ time: [0, 0, 0, 0], runs: 0 }));
        for (let i = 0; i < this.n; i++) {
            const s = sum[this.vcpu[i]], state = this.state[i] & 3;
            s.time[state] += this.end[i] - this.date[i];
        }
        this.vcpuList.forEach((list, v) => {
            for (let i = 0; i < list.length; i++)
                if ((this.state[list[i]] & 3) === RUNNING && (!i || (this.state[list[i - 1]] & 3) !== RUNNING)) sum[v].runs++;
        });
        return sum;
    }

    /* ---- why --------------------------------------------------------------------------------- */

    async why(decision) {
        const k = this.decision.chunk.findIndex((c) => decision < c.first + c.n), chunk = this.decision.chunk[k];
        if (!chunk) return "";
        if (!chunk.text) chunk.text = new TextDecoder().decode(await inflate(this.whys[k].data)).split("\0");
        return chunk.text[decision - chunk.first];
    }

    /* The decision that made a segment run, and those by which it went on; or, of one that waits,
     * what the pCPU it was assigned to decided meanwhile. Numbers of decisions. */
    decisionsOf(segment, most) {
        const list = this.decision.ofPcpu[this.pcpu[segment]];
        const a = Math.max(0, above(this.decision.date, list, this.date[segment]) - 1);
        const b = above(this.decision.date, list, this.end[segment] - 1);
        if ((this.state[segment] & 3) === RUNNING) {
            /* a priority that changed began a segment, but no run */
            let first = a;
            while (first > 0 && this.decision.again[list[first]]) first--;
            return [list[first], ...list.slice(a + 1, b).filter((d) => this.decision.again[d])].slice(0, most);
        }
        return list.slice(a, Math.max(a + 1, b)).slice(0, most);
    }
}
hvsim.Recording = Recording;
