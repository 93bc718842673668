/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report's sections, from the data inside of the page. */
"use strict";

{
    const { el, table, details, figure, number } = hvsim;
    const MANY = 200; /* rows of a table that are shown at first hand */

    /* ---- a set of results as one shape -------------------------------------------------------- */

    /* Runs and comparisons alike: variants with their scenario and subjects. */
    const variantsOf = (results) => (results.variants || [{ label: "", ...results }]);

    const metricOf = (subject, name) => subject.metrics.find((m) => m.metric === name);
    const same = (subject) => (s) => s.kind === subject.kind && s.name === subject.name;

    const idOf = (set, v, subject, metric) => `d-${set}-${v}-${subject.kind}-${subject.name}-${metric}`.replace(/[^\w.-]/g, "_");

    /* A figure that leads to the row of data behind it. */
    const linked = (set, v, subject, name) => {
        const m = subject && metricOf(subject, name);
        if (!m || m.value === null) return "–";
        const none = m.no_interval && !/extreme/.test(m.no_interval);
        return el("a", { href: `#${idOf(set, v, subject, name)}`, class: "figure", title: none ? `no interval: ${m.no_interval}` : m.low !== undefined ? `${number(m.low, 6)} to ${number(m.high, 6)} ${m.unit}` : "" }, figure(m), none ? "*" : "");
    };

    const heading = (name) => {
        const m = hvsim.metric[name];
        return el("span", { title: m.meaning }, m.heading + (m.unit && !m.heading.includes("/") ? `, ${m.unit}` : ""));
    };

    /* ---- the scenario in words ---------------------------------------------------------------- */

    const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

    /* {"type": "lookbusy", "busy": "30%"} as "lookbusy (busy 30%, ...)". */
    const choice = (c, most) => {
        if (!c || typeof c !== "object") return String(c);
        const rest = Object.entries(c).filter(([k, v]) => k !== "type" && typeof v !== "object" && v !== false).slice(0, most);
        return `${c.type}${rest.length ? ` (${rest.map(([k, v]) => `${k.replace(/_/g, " ")} ${v}`).join(", ")})` : ""}`;
    };

    const domainWords = (d, name) => {
        const words = [`${plural(d.vcpus, "vCPU")} on ${d.hard_affinity === "all" ? "any pCPU" : `pCPUs ${d.hard_affinity}`}`];
        if (d.weight !== undefined && d.weight !== 256) words.push(`weight ${d.weight}`);
        if (d.cap) words.push(`cap ${d.cap} %`);
        for (const p of d.programs || []) words.push(`runs ${choice(p.run, 3)}`);
        if (d.network) words.push(d.network.attachment === "vif" ? "network through dom0" : `network: ${d.network.attachment}`);
        return el("li", null, el("strong", null, (d.count || 1) > 1 ? `${d.count} × ${name}` : name), `: ${words.join(", ")}`);
    };

    const hostWords = (h) => el("li", null,
        el("strong", null, h.count > 1 ? `${h.count} hosts ${h.name}` : `Host ${h.name}`),
        `: Xen ${h.xen}, ${h.pcpus ? plural(h.pcpus, "pCPU") : "as many pCPUs as the platform says"}, scheduler ${choice(h.scheduler, 5)}`,
        el("ul", null, h.dom0 && domainWords(h.dom0, "dom0"), (h.domains || []).map((d) => domainWords(d, d.name))));

    const clientWords = (c) => el("li", null, el("strong", null, c.count > 1 ? `${c.count} clients ${c.name}` : `Client ${c.name}`),
        `: ${c.load.loop} loop of ${plural(c.load.connections, "connection")} to ${c.to}, ` +
        (c.load.loop === "closed" ? `thinking ${choice(c.load.think)} between reply and request` : `requests arriving as ${choice(c.load.arrivals)}`) +
        `; a request demands ${choice(c.load.demand)} of CPU`);

    const loopWords = (l) => el("li", null, el("strong", null, `Control loop ${l.name}`),
        `: a round every ${l.period}, setpoints valid for ${l.horizon}, replicas: ${l.replicas.map((r) => r.domain || `${r.count || 1} × ${r.on}`).join(", ")}`);

    const inWords = (s) => el("ul", { class: "words" }, (s.hosts || []).map(hostWords), (s.clients || []).map(clientWords),
        (s.control || []).map(loopWords),
        (s.actions || []).length > 0 && el("li", null, `${plural(s.actions.length, "action")} at run time, the first at ${s.actions[0].at}`),
        el("li", null, el("strong", null, "Measured"), `: ${s.duration} after ${s.warmup} of warm-up, in ${plural(s.replications, "replication")} with independent random numbers (seed ${s.seed})`));

    /* ---- verdicts ----------------------------------------------------------------------------- */

    const RELEVANT = 0.05; /* a change below this is called none */
    const more = /^(throughput|fairness)/, neutral = /^(cpu_share|utilisation|runs|moves)/;

    /* Nothing can fall by more than all of it. */
    const percent = (ratio) => `${ratio >= 1 ? "+" : "−"}${number(100 * Math.abs(Math.max(ratio, 0) - 1), 3)} %`;

    /* What the interval of a ratio supports, in words: {word, tone, text}. */
    const verdict = (c) => {
        const r = c.ratio, d = c.difference;
        if (d && d.value === 0 && (!r || r.value === null)) return { word: "the same", tone: "plain", text: "" };
        if (!r || r.value === null || r.value === undefined) return { word: "cannot be compared", tone: "open", text: "" };
        if (r.low === undefined) return { word: "not known", tone: "open", text: `${percent(r.value)} in these runs, without interval`, why: r.no_interval };
        const text = `${percent(r.value)} (${percent(r.low)} to ${percent(r.high)})`;
        const good = (low) => (neutral.test(c.metric) ? "plain" : low !== more.test(c.metric) ? "good" : "bad");
        if (r.low > 1) return { word: "higher", tone: good(false), text };
        if (r.high < 1) return { word: "lower", tone: good(true), text };
        if (r.low > 1 - RELEVANT && r.high < 1 + RELEVANT) return { word: `no change of ${100 * RELEVANT} % or more`, tone: "plain", text };
        return { word: "undecided", tone: "open", text };
    };

    /* results.json lists comparisons of every variant but the first; newer ones name the variant. */
    const comparisonsOf = (results, v) => (results.variants[v].against_first || []);

    const verdicts = (set, results) => {
        const variants = variantsOf(results), first = variants[0];
        const wanted = hvsim.index.tables.filter((t) => t.kind !== "domain");
        const out = [];
        for (const t of wanted)
            for (const subject of first.subjects.filter((s) => s.kind === t.kind)) {
                const names = t.metrics.filter((m) => metricOf(subject, m) && metricOf(subject, m).value !== null);
                if (!names.length) continue;
                const rows = names.map((name) => [heading(name), linked(set, 0, subject, name), ...variants.slice(1).flatMap((v, i) => {
                    const other = v.subjects.find(same(subject));
                    const c = comparisonsOf(results, i + 1).find((x) => x.metric === name && same(subject)({ kind: x.kind, name: x.name }));
                    const d = c && verdict(c);
                    return [linked(set, i + 1, other, name), d ? el("span", { class: `verdict ${d.tone}`, title: d.why }, el("b", null, d.word), d.text && ` ${d.text}`) : "–"];
                })]);
                out.push({ kind: t.kind, element: table(`${subject.name}: ${t.heading}`, ["", first.label, ...variants.slice(1).flatMap((v) => [v.label, `against ${first.label}`])], rows, { class: "verdicts" }) });
            }
        return out;
    };

    /* Many tables at once hide what follows. */
    const fold = (tables) => (tables.length > 6 ? details(`Domains: ${tables.length} tables`, () => tables) : tables);

    /* The sentences at the top: what became of each client's latency, or of each loop. */
    const sentences = (results) => {
        const list = [];
        const asked = ["latency_p50", "latency_p99", "latency_p99.9", "throughput", "unavailable", "all_late"];
        results.variants.slice(1).forEach((v, i) => {
            for (const c of comparisonsOf(results, i + 1).filter((x) => asked.includes(x.metric))) {
                const d = verdict(c), m = hvsim.metric[c.metric];
                const what = c.metric.startsWith("latency_") ? `${m.heading} latency` : m.heading === "replies/s" ? "throughput" : m.heading;
                list.push(el("li", null, el("span", { class: `verdict ${d.tone}` }, el("b", null, d.word)), ` – ${what} of ${c.name} under ${v.label}, against ${results.variants[0].label}${d.text ? `: ${d.text}` : ""}`));
            }
        });
        return list;
    };

    const runTables = (set, results) => {
        const v = variantsOf(results)[0];
        return hvsim.index.tables.map((t) => {
            const subjects = v.subjects.filter((s) => s.kind === t.kind);
            const names = t.metrics.filter((m) => subjects.some((s) => metricOf(s, m) && metricOf(s, m).value !== null));
            if (!names.length) return null;
            const shown = subjects.slice(0, MANY);
            const make = (list) => table(t.heading + (list.length < subjects.length ? ` (the first ${list.length} of ${subjects.length})` : ""), ["", ...names.map(heading)], list.map((s) => [s.members > 1 ? `${s.name} (${s.members})` : s.name, ...names.map((n) => linked(set, 0, s, n))]));
            return t.kind === "domain" ? details(t.heading, () => make(subjects)) : make(shown);
        });
    };

    const starNote = (results) => {
        const stars = variantsOf(results).some((v) => v.subjects.some((s) => s.metrics.some((m) => m.no_interval && !/extreme/.test(m.no_interval))));
        const needed = variantsOf(results).flatMap((v) => v.subjects.flatMap((s) => s.metrics.map((m) => m.duration_needed).filter(Boolean)));
        return el("p", { class: "note" }, `± is half the width of a ${variantsOf(results)[0].confidence} interval. `,
            stars && `* there is none: too few observations beyond the quantile in a replication, or a replication without any${needed.length ? `; a longer "duration" gives one (the data below says which)` : ""}. `,
            "A figure leads to the data behind it.");
    };

    /* ---- curves of percentiles ---------------------------------------------------------------- */

    const distributionNames = {
        latency: "latency from the send", intended: "latency from the intended send", wake_to_run: "from waking up to running", disk_latency: "disk requests",
        service: "from a round's start to its implementation", gap: "between two implementations", delay: "delay of setpoints",
    };

    const curvesSection = (set, results) => {
        const rows = hvsim.csv(hvsim.read(set, "distributions.csv") || "");
        const keys = [...new Set(rows.map((r) => `${r.subject} · ${distributionNames[r.distribution] || r.distribution}`))];
        if (!keys.length) return null;
        /* Parse once: key, variant -> points. */
        const labels = [...new Set(rows.map((r) => r.variant ?? ""))], of = new Map();
        for (const r of rows) {
            const k = `${r.subject} · ${distributionNames[r.distribution] || r.distribution}\n${r.variant ?? ""}`;
            if (!of.has(k)) of.set(k, []);
            of.get(k).push([+r.share_above_1, +r.value_ms]);
        }
        const box = el("div");
        const draw = (key) => {
            const alone = labels.length === 1;
            const curves = labels.map((l) => ({ label: l || key, points: of.get(`${key}\n${l}`) || [] })).filter((c) => c.points.length);
            const asked = [0.5, 0.1, 0.01, 0.001, 0.0001, 0.00001].filter((s) => curves.some((c) => c.points.some((p) => p[0] === s)));
            const body = asked.map((s) => [hvsim.percentile(s), ...curves.map((c) => number((c.points.find((p) => p[0] === s) || [])[1]))]);
            body.push(["the largest", ...curves.map((c) => number((c.points.find((p) => p[0] === 0) || [])[1]))]);
            box.replaceChildren(hvsim.percentileChart(`Percentiles: ${key}`, "ms", curves),
                details("The same as a table", () => table(`${key}, ms: this share of the observations is below`, ["share", ...curves.map((c) => (alone ? "ms" : c.label))], body)));
        };
        draw(keys[0]);
        return [el("p", null, "Each step to the right is a tenth of what was left: the tail is what one looks at here. Values of all replications together."),
            keys.length > 1 && hvsim.select("of:", keys.slice(0, 500).map((k) => [k, k]), keys[0], draw), box];
    };

    /* ---- where the time goes ------------------------------------------------------------------ */

    const breakdownSection = (set, results) => {
        const variants = variantsOf(results), clients = variants[0].subjects.filter((s) => s.breakdown_ms && s.breakdown_ms.length);
        if (!clients.length) return null;
        const meaning = Object.fromEntries(hvsim.index.parts.map((p) => [p.name, p.meaning]));
        return clients.map((client) => {
            const ranges = client.breakdown_ms.map((b) => b.requests);
            const rowOf = (v, range) => ((variants[v].subjects.find(same(client)) || {}).breakdown_ms || []).find((b) => b.requests === range);
            const parts = hvsim.index.parts.map((p) => p.name).filter((p) => variants.some((v, i) => ranges.some((r) => rowOf(i, r) && rowOf(i, r)[p] > 0)));
            const box = el("div");
            const total = (b) => parts.reduce((s, p) => s + (b[p] || 0), 0);
            const draw = (range) => box.replaceChildren(
                hvsim.bars(`Mean latency of ${client.name}, requests ${range}`, "ms", variants.map((v, i) => rowOf(i, range)).map((b, i) => b && { label: variants[i].label || "mean", parts: parts.map((p) => ({ name: p, value: b[p] || 0 })), text: `${number(total(b))} ms` }).filter(Boolean)));
            const most = ranges.includes("p99 to p99.9") ? "p99 to p99.9" : ranges[ranges.length - 1];
            draw(most);
            const rows = ranges.flatMap((r) => variants.map((v, i) => [i, rowOf(i, r)]).filter(([, b]) => b).map(([i, b]) => [variants.length > 1 ? `${r}, ${variants[i].label}` : r, b.count, ...parts.map((p) => number(b[p])), number(total(b))]));
            return [el("h4", null, client.name), hvsim.select("requests:", ranges.map((r) => [r, r]), most, draw), box,
                details("The same as a table, for all ranges of latency", () => [
                    table(`Mean time of each part, ms, of requests by the rank of their latency`, ["requests", "how many", ...parts.map((p) => el("span", { title: meaning[p] }, p)), "together"], rows),
                    el("ul", { class: "note" }, parts.map((p) => el("li", null, `${p}: ${meaning[p]}`)))])];
        });
    };

    /* ---- CPU time ------------------------------------------------------------------------------ */

    const cpuSection = (set, results) => {
        const variants = variantsOf(results), groups = variants[0].subjects.filter((s) => s.kind === "group");
        if (!groups.length) return null;
        const value = (v, s, name) => {
            const other = variants[v].subjects.find(same(s)), m = other && metricOf(other, name);
            return m && m.value !== null ? m.value : 0;
        };
        const rows = groups.slice(0, 40).flatMap((s) => variants.map((v, i) => ({
            label: variants.length > 1 ? `${s.name} · ${v.label}` : s.name,
            parts: [["CPU", "cpu_share"], ["wake wait", "wake_wait"], ["preempt wait", "preempt_wait"]].map(([n, m]) => ({ name: n, value: value(i, s, m) })),
            text: `${number(value(i, s, "cpu_share"), 3)} %${s.members > 1 ? `, fairness ${number(value(i, s, "fairness"), 4)}` : ""}`,
        })));
        return [el("p", null, "Time of all vCPUs of an entry, in % of one CPU: running, waiting for a pCPU after waking up, and waiting after having lost it. Fairness is Jain's index of the CPU time of its domains: 1 if all got the same."),
            hvsim.bars("CPU time and waits", "%", rows),
            details("The same as a table", () => table("Time in % of one CPU", ["", "CPU", "wake wait", "preempt wait", "fairness"],
                groups.flatMap((s) => variants.map((v, i) => [variants.length > 1 ? `${s.name}, ${v.label}` : s.name,
                    ...["cpu_share", "wake_wait", "preempt_wait", "fairness"].map((m) => linked(set, i, v.subjects.find(same(s)), m))]))))];
    };

    /* ---- control loops -------------------------------------------------------------------------- */

    const interval = (i, factor = 1) => (!i || i.value === null || i.value === undefined ? "–" : figure({ value: i.value * factor, low: i.low === undefined ? undefined : i.low * factor, high: i.high === undefined ? undefined : i.high * factor }));

    const lateness = (set, l, variant) => {
        const together = l.replicas.length > 1;
        const head = ["deadline, ms", ...l.replicas.map((r) => `${r} late, %`), ...(together ? ["all late, %", "if independent, %", "lift", "second late if one is, %", "phi"] : [])];
        const rows = l.lateness.map((d) => [d.deadline_ms, ...d.late.map((i) => interval(i, 100)), ...(together ? [interval(d.all_late, 100), number(100 * d.if_independent), interval(d.lift), interval(d.second_late_if_first, 100), interval(d.phi)] : [])]);
        return table(`${l.name}${variant ? `, ${variant}` : ""}: rounds whose setpoint came after the deadline`, head, rows);
    };

    const tails = (l, variant) => l.tail_dependence && l.tail_dependence.length > 0 && details(`Upper-tail dependence${variant ? `, ${variant}` : ""}`, () =>
        table("Probability that one replica is beyond a quantile of its delay, given that the other is; independent replicas would give 1 − quantile",
            ["pair", ...l.tail_dependence[0].at.map((a) => a.quantile)], l.tail_dependence.map((t) => [`${t.of} and ${t.and}`, ...t.at.map((a) => interval(a))])));

    const lags = (l, variant) => l.lag_correlation_own && details(`Lateness from round to round${variant ? `, ${variant}` : ""}`, () =>
        table("Correlation of lateness with lateness so many rounds later", ["rounds later", "the same replica", ...(l.lag_correlation_other ? ["another replica"] : [])],
            l.lag_correlation_own.map((x, i) => [i + 1, number(x, 3), ...(l.lag_correlation_other ? [number(l.lag_correlation_other[i], 3)] : [])])));

    /* lateness-LOOP.dat: columns by their comment line. */
    const latenessCurve = (set, l) => {
        const text = hvsim.read(set, `lateness-${l.name}.dat`);
        if (!text) return null;
        const rows = text.split("\n").filter((r) => r && r[0] !== "#").map((r) => r.split(" ").map((x) => (x === "nan" ? null : +x)));
        const names = ["a replica is late", "all are", "all would be, if independent", "a second is, if one is"].slice(0, l.replicas.length > 1 ? 4 : 1);
        const curves = names.map((label, i) => ({ label, values: rows.map((r) => r[i + 1]) })).filter((c) => c.values.some((v) => v > 0));
        if (!curves.length) return null;
        return [hvsim.xyChart(`Lateness of ${l.name} against the deadline`, rows.map((r) => r[0]), "deadline, ms", "share of rounds, logarithmic", curves, { x: true, y: true }),
            details("The same as a table", () => table("Share of rounds", ["deadline, ms", ...names], rows.map((r) => [number(r[0]), ...names.map((_, i) => number(r[i + 1]))])))];
    };

    const controlSection = (set, results) => {
        const variants = variantsOf(results).filter((v) => v.control && v.control.length);
        if (!variants.length) return null;
        return variants.flatMap((v) => v.control.flatMap((l) => [
            el("h4", null, `${l.name}${v.label ? `, ${v.label}` : ""}`),
            el("p", null, `${l.rounds} rounds; nothing was implemented in ${interval(l.unavailable, 100)} % of them`,
                l.nines ? ` (${number(l.nines.value, 3)} nines)` : "", `; ${plural(l.outages, "outage")}`,
                l.outages ? `, of ${number(l.mttr_s * 1000, 3)} ms in the mean, ${number(l.mttf_s, 3)} s from one to the next, the longest of ${plural(l.longest_outage_rounds, "round")}` : "", "."),
            v.label ? "" : latenessCurve(set, l), lateness(set, l, v.label),
            l.replicas.length > 1 && el("p", { class: "note" }, "Lift: how much more often all are late together than if they were independent of each other. Phi: correlation of lateness of pairs."),
            tails(l, v.label), lags(l, v.label)]));
    };

    /* ---- timeline ------------------------------------------------------------------------------- */

    const timelineSection = (results) => {
        const recordings = hvsim.index.sets.flatMap((s, set) => s.files.filter((f) => f.here && /^timeline-.*\.hvt$/.test(f.name)).map((f) => {
            const [, nth, host] = f.name.match(/^timeline-(\d+)-(.*)\.hvt$/), r = results[set];
            const variant = r && r.variants ? r.variants[nth - 1].label : "";
            const scheduler = r && !variant ? choice({ type: ((r.scenario.hosts.find((h) => host.startsWith(h.name)) || {}).scheduler || {}).type }, 0) : "";
            return { name: [hvsim.index.sets.length > 1 ? s.dir : "", variant || scheduler, host].filter(Boolean).join(" · "), file: hvsim.file(set, f.name) };
        }));
        if (!recordings.length) return null;
        const t = new hvsim.Timeline(recordings);
        t.start().catch((e) => t.root.append(el("p", { class: "bad" }, `The recording could not be read: ${e.message}`)));
        return t.root;
    };

    /* ---- what it rests on, data ------------------------------------------------------------------ */

    const restsOn = (results) => {
        const rows = variantsOf(results)[0].rests_on || [], count = {};
        for (const r of rows) count[r.status] = (count[r.status] || 0) + 1;
        return details(`What it rests on: ${Object.entries(count).map(([s, n]) => `${n} ${s}`).join(", ")}`, () => {
            const box = el("div");
            const draw = (status) => box.replaceChildren(table("Parameters of the scenario", ["parameter", "value", "status", "source"],
                rows.filter((r) => !status || r.status === status).map((r) => [r.parameter, r.value, r.status, r.source || ""])));
            draw("");
            return [el("p", null, "Given: by the scenario. Exact: as in Xen's code or a standard. Cited: from a publication. Calibrated: fitted to measurements. Assumed: a reasonable guess."),
                hvsim.select("status:", [["", "all"], ...Object.keys(count).map((s) => [s, s])], "", draw), box];
        }, { class: "data rests" });
    };

    const metricTables = (set, results) => variantsOf(results).map((v, i) => details(`All figures${v.label ? `: ${v.label}` : ""}`, () =>
        table(`results.json${v.label ? `, ${v.label}` : ""}`, ["figure", "value", "low", "high", "unit", "what it is", "place in results.json"],
            v.subjects.flatMap((s, k) => s.metrics.map((m, j) => [
                el("span", { id: idOf(set, i, s, m.metric) }, `${s.name} ${m.metric}`), m.value === null ? "–" : m.value, m.low ?? "", m.high ?? "", m.unit,
                `${hvsim.metric[m.metric] ? hvsim.metric[m.metric].meaning : ""}${m.no_interval ? ` No interval: ${m.no_interval}${m.duration_needed ? `; ${m.duration_needed} would give one` : ""}.` : ""}`,
                el("code", null, `${results.variants ? `/variants/${i}` : ""}/subjects/${k}/metrics/${j}`)]))), { class: "data", "data-prefix": `d-${set}-${i}-` }));

    const filesTable = (set) => {
        const save = (f) => {
            const file = hvsim.file(set, f.name), bytes = f.binary ? hvsim.bytes(file) : /\.json$/.test(f.name) ? hvsim.raw(file).textContent : hvsim.read(set, f.name);
            const a = el("a", { href: URL.createObjectURL(new Blob([bytes])), download: f.name });
            a.click();
            setTimeout(() => URL.revokeObjectURL(a.href), 1000);
        };
        return table(`Files of ${hvsim.index.sets[set].dir}`, ["file", "size", ""], hvsim.index.sets[set].files.map((f) => [f.name, hvsim.bytesText(f.size), f.here && !/\.jsonl$/.test(f.name) ? el("button", { type: "button", click: () => save(f) }, "save") : "not in this page"]));
    };

    const dataSection = (set, results) => [results && restsOn(results), results && metricTables(set, results), filesTable(set)];

    /* ---- the page --------------------------------------------------------------------------------- */

    const sections = [];
    const section = (id, title, content, level = "h3") => {
        const list = [content].flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false && c !== "");
        if (!list.length) return null;
        sections.push({ id, title, level });
        return el("section", { id, "aria-labelledby": `${id}-h` }, el(level, { id: `${id}-h` }, title), list);
    };

    const loading = hvsim.index.sets.map((s, i) => (s.kind === "sweep" ? null : hvsim.read(i, "results.json")));

    const partialNote = (r) => r.partial && el("p", { class: "verdict bad" }, el("b", null, "Not all replications are here: "), "the run was interrupted or lost some of them.",
        (r.lost || []).length > 0 && details(`${r.lost.length} lost`, () => table("Lost replications", ["replication", "reason"], r.lost.map((l) => [`${l.variant ?? ""} ${l.replication}`, l.reason]))));

    const studySection = (set) => {
        const r = loading[set], first = variantsOf(r)[0], s = first.scenario, id = `s${set}`;
        const compared = r.variants && r.variants.length > 1;
        const found = compared ? verdicts(set, r) : [];
        return el("article", { id }, el("h2", null, s.title || hvsim.index.sets[set].dir),
            (sections.push({ id, title: s.title || hvsim.index.sets[set].dir, level: "h2" }), null),
            s.question && el("blockquote", null, s.question), partialNote(r),
            compared && section(`${id}-verdict`, "Verdict", [el("ul", { class: "sentences" }, sentences(r)),
                el("p", { class: "note" }, `“Higher” and “lower” are said where the ${first.confidence} interval of the ratio excludes 1; “no change of 5 % or more” where it lies within 5 % of 1. ` +
                    "Each interval holds for itself: of 20 such verdicts one is to be expected wrong.")]),
            section(`${id}-words`, "The scenario in words", [r.vary && el("p", null, "Compared: ", r.vary.map((v) => `${v.pointer} = ${v.values.map((x) => (typeof x === "string" ? x : JSON.stringify(x))).join(", ")}`).join("; "), ". All variants see the same random numbers."), inWords(s)]),
            section(`${id}-figures`, "Figures", [starNote(r), ...(compared ? [found.filter((f) => f.kind !== "group").map((f) => f.element),
                fold(found.filter((f) => f.kind === "group").map((f) => f.element))] : [runTables(set, r)])]),
            section(`${id}-curves`, "Percentiles", curvesSection(set, r)),
            section(`${id}-parts`, "Where latency comes from", breakdownSection(set, r)),
            section(`${id}-cpu`, "CPU time and fairness", cpuSection(set, r)),
            section(`${id}-control`, "Control loops", controlSection(set, r)),
            section(`${id}-data`, "Data", dataSection(set, r)));
    };

    const sweepSection = (set) => {
        const w = hvsim.sweep(set), id = `s${set}`, title = w.head.title || hvsim.index.sets[set].dir;
        sections.push({ id, title, level: "h2" });
        return el("article", { id }, el("h2", null, title), w.head.question && el("blockquote", null, w.head.question),
            section(`${id}-map`, "Sweep", w.elements), section(`${id}-data`, "Data", dataSection(set, null)));
    };

    const themeButton = () => el("button", { type: "button", class: "theme", click: () => {
        document.documentElement.dataset.theme = hvsim.dark() ? "light" : "dark";
        hvsim.retheme();
    } }, "light / dark");

    const main = el("main", { id: "main" });
    const articles = hvsim.index.sets.map((s, i) => (s.kind === "sweep" ? sweepSection(i) : studySection(i)));
    const timeline = timelineSection(loading);
    if (timeline) {
        const s = section("timeline", "Timeline", timeline, "h2");
        /* With one set it belongs to that set: before its data. */
        const data = articles.length === 1 && articles[0].querySelector("#s0-data");
        if (data) {
            data.before(s);
            const at = sections.findIndex((x) => x.id === "s0-data");
            sections.splice(at, 0, { ...sections.pop(), level: "h3" });
        } else articles.push(s);
    }
    main.append(...articles);
    document.body.append(
        el("a", { class: "skip", href: "#main" }, "To the content"),
        el("header", null, el("div", null, el("h1", null, document.title), el("p", null, `hvsim ${hvsim.index.hvsim}: a report of ${hvsim.index.sets.map((s) => s.dir).join(", ")}`)), themeButton()),
        el("nav", { "aria-label": "Contents" }, el("ul", null, sections.map((s) => el("li", { class: s.level }, el("a", { href: `#${s.id}` }, s.title))))),
        main);

    /* A link to a figure opens the table that it is in. */
    const arrive = () => {
        const id = decodeURIComponent(location.hash.slice(1));
        if (!id) return;
        for (const d of document.querySelectorAll("details.data")) {
            const prefix = d.dataset.prefix || `p-`;
            if (id.startsWith(prefix)) d.fill();
        }
        const target = document.getElementById(id);
        if (!target) return;
        for (let e = target.parentElement; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
        for (const e of document.querySelectorAll("tr.arrived")) e.classList.remove("arrived");
        const row = target.closest("tr");
        if (row) row.classList.add("arrived");
        (row || target).scrollIntoView({ block: "center" });
    };
    addEventListener("hashchange", arrive);
    /* the same link again */
    document.addEventListener("click", (e) => e.target.closest && e.target.closest('a[href^="#"]') && setTimeout(arrive));
    arrive();
    document.documentElement.dataset.ready = "yes";
}
