"use strict";
// Charts of the report. Draws from the JSON in #data; every text goes in as textContent.
(function () {
  const root = document.documentElement;
  window.addEventListener("error", function (event) {
    root.dataset.error = "1";
    const p = document.createElement("p");
    p.className = "script-error";
    p.textContent = "script error: " + event.message + " (line " + event.lineno + ")";
    document.body.prepend(p);
  });

  const records = JSON.parse(document.getElementById("data").textContent);
  const GAP = 0.05; // share of the width between two repeats
  const height = () => (root.classList.contains("paper") ? 96 : 220);

  // --- words and numbers -------------------------------------------------------------------

  function figures(v) { // three significant figures, as in the tables
    const m = Math.abs(v);
    if (!isFinite(v)) return "–";
    if (m >= 999.5) return String(Math.round(v)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
    if (m >= 99.95) return v.toFixed(0);
    if (m >= 9.995) return v.toFixed(1);
    if (m >= 0.9995 || m === 0) return v.toFixed(2);
    return v.toFixed(3);
  }
  function short(v) { // for axes: no more digits than needed
    return Math.abs(v) >= 1000 ? figures(v) : String(+v.toPrecision(6));
  }
  function latency(ns, say) {
    say = say || figures;
    if (ns < 1e3) return Math.round(ns) + " ns";
    if (ns < 1e6) return say(ns / 1e3) + " µs";
    if (ns < 1e9) return say(ns / 1e6) + " ms";
    return say(ns / 1e9) + " s";
  }
  const color = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  // --- pieces of charts --------------------------------------------------------------------

  // 1, 2, 5 × 10^n between two decimal logarithms; only 10^n where that is too many.
  // `apart` is the least distance of two marks as a share of the whole.
  function logSplits(low, high, apart) {
    const kept = [];
    for (const v of logMarks(low, high))
      if (!kept.length || v - kept[kept.length - 1] >= apart * (high - low)) kept.push(v);
    return kept;
  }
  function logMarks(low, high) {
    const all = [];
    for (let e = Math.floor(low) - 1; e <= Math.ceil(high); e++)
      for (const f of [1, 2, 5]) {
        const v = Math.log10(f) + e;
        if (v >= low - 1e-9 && v <= high + 1e-9) all.push(v);
      }
    const decades = all.filter((v) => Math.abs(v - Math.round(v)) < 1e-9);
    if (all.length > 8 && decades.length > 1) return decades;
    if (all.length > 2) return all;
    // Little more than one step of 1, 2, 5: even steps of the value itself.
    const from = Math.pow(10, low), to = Math.pow(10, high), step = nice((to - from) / 5), even = [];
    for (let v = Math.ceil(from / step) * step; v <= to && even.length < 12; v += step) even.push(Math.log10(v));
    return even;
  }
  function padded(min, max, share, least) {
    if (min == null || max == null) return [0, 1];
    const pad = Math.max((max - min) * share, least);
    return [min - pad, max + pad];
  }
  function axis(extra) {
    const mute = color("--mute"), grid = color("--grid");
    return Object.assign({
      stroke: mute, font: "12px system-ui, sans-serif", grid: { stroke: grid, width: 1 },
      ticks: { show: false }, gap: 6, size: 28,
    }, extra);
  }
  // Left axes are as wide as their widest label.
  function leftSize(u, values) {
    if (!values) return 44;
    u.ctx.save();
    u.ctx.font = "12px system-ui, sans-serif";
    const widest = Math.max.apply(null, values.map((v) => u.ctx.measureText(v || "").width).concat(24));
    u.ctx.restore();
    return Math.ceil(widest) + 12;
  }

  // Repeats one after the other on one axis, with a gap between them.
  function timeline(workload) {
    const total = workload.repeats.reduce((sum, r) => sum + r.seconds, 0) || 1;
    const gap = workload.repeats.length > 1 ? total * GAP : 0;
    let at = 0;
    const parts = workload.repeats.map(function (r) {
      const part = { start: at, seconds: r.seconds, repeat: r };
      at += r.seconds + gap;
      return part;
    });
    return { parts: parts, gap: gap, end: Math.max(at - gap, 1e-9) };
  }
  // One row a sample; a row of nulls between repeats breaks the line.
  function columns(line, pick) {
    const x = [], at = [], ys = pick.map(() => []);
    line.parts.forEach(function (part, i) {
      if (i > 0) {
        x.push(part.start - line.gap / 2);
        at.push(null);
        ys.forEach((y) => y.push(null));
      }
      part.repeat.samples.forEach(function (s) {
        x.push(part.start + s[0]);
        at.push({ repeat: i + 1, run: s[1], mid: s[0] });
        pick.forEach((f, k) => ys[k].push(f(s)));
      });
    });
    return { x: x, ys: ys, at: at };
  }
  // Seconds of one repeat; of several the time measured until each begins, and last the total.
  function timeMarks(line) {
    const marks = new Map(), parts = line.parts;
    if (parts.length === 1) {
      const step = nice(line.end / 5);
      for (let t = 0; t < line.end - step / 2; t += step) marks.set(t, t);
    }
    let before = 0;
    parts.forEach(function (part) {
      if (parts.length > 1) marks.set(part.start, before);
      before += part.seconds;
    });
    marks.set(line.end, before);
    return marks;
  }
  // Of marks that would touch each other the first stays, and the total always.
  function apart(all, least) {
    const kept = [], last = all[all.length - 1];
    for (const x of all)
      if (x === last || ((!kept.length || x - kept[kept.length - 1] >= least) && last - x >= least)) kept.push(x);
    return kept;
  }
  function timeAxis(line) {
    const marks = timeMarks(line), total = marks.get(line.end), digits = total < 2 ? 2 : total < 20 ? 1 : 0;
    return axis({
      splits: (u, i, min, max) => apart(
        Array.from(marks.keys()).filter((x) => x >= min - 1e-9 && x <= max + 1e-9), (max - min) * 56 / u.width),
      values: (u, splits) => splits.map((x) => (x === 0 ? "0" : marks.get(x).toFixed(digits)) + " s"),
      grid: { show: false },
    });
  }
  function nice(v) {
    const e = Math.pow(10, Math.floor(Math.log10(v)));
    return [1, 2, 5, 10].map((f) => f * e).find((f) => f >= v) || 10 * e;
  }
  function separators(line) {
    return function (u) {
      if (line.parts.length < 2) return;
      const c = u.ctx, dpr = devicePixelRatio;
      c.save();
      c.fillStyle = color("--mute");
      c.strokeStyle = color("--line");
      c.lineWidth = dpr;
      c.font = 11 * dpr + "px system-ui, sans-serif";
      c.textAlign = "left";
      c.textBaseline = "top";
      line.parts.forEach(function (part, i) {
        const from = u.valToPos(part.start, "x", true), to = u.valToPos(part.start + part.seconds, "x", true);
        if (to < u.bbox.left || from > u.bbox.left + u.bbox.width) return;
        if (i > 0) {
          const x = Math.round(u.valToPos(part.start - line.gap / 2, "x", true));
          if (x > u.bbox.left && x < u.bbox.left + u.bbox.width) {
            c.beginPath(); c.moveTo(x, u.bbox.top); c.lineTo(x, u.bbox.top + u.bbox.height); c.stroke();
          }
        }
        const text = (to - from > 70 * dpr ? "repeat " : "") + (i + 1);
        if (to - from > 12 * dpr) c.fillText(text, Math.max(from, u.bbox.left) + 2 * dpr, u.bbox.top + 2 * dpr);
      });
      c.restore();
    };
  }
  function ceilingLine(value) {
    return function (u) {
      const y = u.valToPos(value, "y", true), c = u.ctx, dpr = devicePixelRatio;
      if (y < u.bbox.top || y > u.bbox.top + u.bbox.height) return;
      c.save();
      c.strokeStyle = color("--ink");
      c.lineWidth = 1.2 * dpr;
      c.setLineDash([6 * dpr, 4 * dpr]);
      c.beginPath(); c.moveTo(u.bbox.left, y); c.lineTo(u.bbox.left + u.bbox.width, y); c.stroke();
      c.restore();
    };
  }
  function line(label, stroke, say, extra) {
    return Object.assign({
      label: label, stroke: color(stroke), width: 2, value: (u, v) => (v == null ? "" : say(v)),
      points: { show: true, size: 6, width: 1.5, fill: color("--card") },
    }, extra);
  }
  const where = (at) => ({
    label: "at", value: function (u, v, s, i) {
      const a = i == null ? null : at[i];
      if (!a) return "";
      const run = a.run >= 0 ? ", " + (a.run + 0.5).toFixed(0) + " s into the run" : "";
      return "repeat " + a.repeat + ", " + a.mid.toFixed(1) + " s" + run;
    },
  });

  // --- the charts: each returns options and data of uPlot, or null ---------------------------

  const charts = {
    rate: function (record, workload) {
      const t = timeline(workload);
      const unit = workload.random ? "IOPS" : "MB/s";
      const data = columns(t, [workload.random ? (s) => s[2] : (s) => s[3] / 1e6]);
      if (!data.x.length) return null;
      const top = Math.max.apply(null, data.ys[0].map((v) => v || 0));
      const scale = workload.random ? 1e6 / workload.block_bytes : 1;
      const ceiling = record.reachable ? record.reachable * scale : null;
      const near = ceiling != null && top > ceiling * 0.5;
      const other = workload.random
        ? (v) => figures(v) + " IOPS, " + figures(v * workload.block_bytes / 1e6) + " MB/s"
        : (v) => figures(v) + " MB/s";
      const draw = [separators(t)];
      const series = [where(data.at), line(unit, "--a", other)];
      if (near) {
        draw.push(ceilingLine(ceiling));
        data.ys.push(data.x.map(() => ceiling)); // for the legend; the line itself spans the whole width
        series.push(line((record.bus || "bus") + " lets through " + figures(ceiling) + " " + unit, "--ink", () => "",
          { paths: () => null, points: { show: false }, dash: [6, 4], width: 1.2 }));
      }
      return {
        describe: unit + " over time",
        data: [data.x].concat(data.ys),
        options: {
          scales: { x: { time: false, range: [0, t.end] }, y: { range: [0, Math.max(top, near ? ceiling : 0) * 1.27 || 1] } },
          axes: [timeAxis(t), axis({ size: leftSize, values: (u, s) => s.map(short) })],
          series: series,
          hooks: { draw: draw },
        },
      };
    },

    latency: function (record, workload) {
      const t = timeline(workload);
      const log = (v) => (v > 0 ? Math.log10(v) : null);
      const data = columns(t, [(s) => log(s[4]), (s) => log(s[5])]);
      const all = data.ys[0].concat(data.ys[1]).filter((v) => v != null);
      if (!all.length) return null;
      const range = padded(Math.min.apply(null, all), Math.max.apply(null, all), 0.15, 0.12);
      const say = (v) => latency(Math.pow(10, v));
      return {
        describe: "median and 99th percentile of the latency over time",
        data: [data.x].concat(data.ys),
        options: {
          scales: { x: { time: false, range: [0, t.end] }, y: { range: range } },
          axes: [timeAxis(t), axis({
            size: leftSize, splits: (u, i, min, max) => logSplits(min, max, 0.1),
            values: (u, s) => s.map((v) => latency(Math.pow(10, v), (x) => short(+x.toPrecision(3)))),
          })],
          series: [where(data.at), line("p50", "--a", say), line("p99", "--b", say, { dash: [6, 4] })],
          hooks: { draw: [separators(t)] },
        },
      };
    },

    distribution: function (record, workload, mode) {
      const h = workload.histogram;
      const total = h.reduce((sum, b) => sum + b[2], 0);
      if (!total) return null;
      const log = (v) => Math.log10(Math.max(v, 1));
      const quantile = function (q) {
        let seen = 0;
        for (const b of h) if ((seen += b[2]) >= q * total) return log((b[0] + b[1]) / 2);
        return log(h[h.length - 1][1]);
      };
      const range = padded(log(h[0][0]), log(h[h.length - 1][1] + 1), 0.04, 0.04);
      const x = [], y = [];
      if (mode === "cumulative") {
        let seen = 0;
        x.push(range[0]); y.push(0);
        for (const b of h) { seen += b[2]; x.push(log(b[1] + 1)); y.push(seen / total * 100); }
        x.push(range[1]); y.push(100);
      } else {
        // Bars of equal width on the logarithmic axis; a bucket is spread over the bars it covers.
        const bins = 72, width = (range[1] - range[0]) / bins, count = new Array(bins).fill(0);
        for (const b of h) {
          const from = (log(b[0]) - range[0]) / width, to = Math.max((log(b[1] + 1) - range[0]) / width, from + 1e-6);
          for (let i = Math.max(0, Math.floor(from)); i < bins && i < to; i++)
            count[i] += b[2] * (Math.min(to, i + 1) - Math.max(from, i)) / (to - from);
        }
        for (let i = 0; i < bins; i++) { x.push(range[0] + (i + 0.5) * width); y.push(count[i] / total * 100); }
      }
      const marks = [["p50", 0.5], ["p99", 0.99], ["p99.9", 0.999]].filter((m) => (1 - m[1]) * total >= 1);
      const top = Math.max.apply(null, y);
      const cumulative = mode === "cumulative";
      return {
        describe: "distribution of the latency, " + (cumulative ? "cumulative" : "share of operations"),
        modes: [["histogram", "share"], ["cumulative", "cumulative"]],
        data: [x, y],
        options: {
          scales: { x: { time: false, range: range }, y: { range: [0, cumulative ? 108 : top * 1.18] } },
          axes: [axis({
            splits: (u, i, min, max) => logSplits(min, max, 62 / u.width),
            values: (u, s) => s.map((v) => latency(Math.pow(10, v), (n) => short(+n.toPrecision(3)))),
          }), axis({ size: leftSize, values: (u, s) => s.map((v) => (v > 100 ? "" : short(v) + " %")) })],
          series: [{ label: cumulative ? "up to" : "about", value: (u, v) => (v == null ? "" : latency(Math.pow(10, v))) },
            line("operations", "--a", (v) => figures(v) + " %", {
              points: { show: false }, fill: color(cumulative ? "--band" : "--a"),
              paths: cumulative ? uPlot.paths.stepped({ align: -1 }) : uPlot.paths.bars({ size: [0.86, 100] }),
              width: cumulative ? 2 : 0,
            })],
          hooks: { draw: [quantileMarks(marks.map((m) => [m[0], quantile(m[1])]))] },
        },
      };
    },

    // Readings during the repeats, on the same axis as the charts above.
    sensors: function (record, workload) {
      const t = timeline(workload);
      return sensorChart(record, t.end, timeAxis(t), [separators(t)], function (sensor) {
        const points = [];
        t.parts.forEach(function (part, i) {
          const first = part.repeat.samples[0];
          if (!first || first[1] < 0) return;
          if (i > 0) points.push([part.start - t.gap / 2, null]);
          sensor.t.forEach(function (s, k) {
            const rel = s - first[1];
            if (rel >= 0 && rel <= part.seconds) points.push([part.start + rel, sensor.v[k]]);
          });
        });
        return points;
      });
    },

    "run-sensors": function (record) {
      const end = Math.max.apply(null, record.sensors.map((s) => s.t[s.t.length - 1] || 0).concat(1e-9));
      const seconds = axis({ values: (u, s) => s.map((v) => short(v) + " s"), grid: { show: false } });
      return sensorChart(record, end, seconds, [], (sensor) => sensor.t.map((s, i) => [s, sensor.v[i]]));
    },
  };

  function quantileMarks(marks) {
    return function (u) {
      const c = u.ctx, dpr = devicePixelRatio;
      c.save();
      c.strokeStyle = c.fillStyle = color("--b");
      c.lineWidth = dpr;
      c.setLineDash([4 * dpr, 3 * dpr]);
      c.font = 11 * dpr + "px system-ui, sans-serif";
      c.textAlign = "left";
      c.textBaseline = "top";
      let free = -1;
      marks.forEach(function (m) {
        const x = Math.round(u.valToPos(m[1], "x", true));
        if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) return;
        c.beginPath(); c.moveTo(x, u.bbox.top); c.lineTo(x, u.bbox.top + u.bbox.height); c.stroke();
        const wide = c.measureText(m[0]).width;
        const left = x + wide + 6 * dpr > u.bbox.left + u.bbox.width ? x - wide - 4 * dpr : x + 4 * dpr;
        if (left > free) { c.fillText(m[0], left, u.bbox.top + 2 * dpr); free = left + wide + 2 * dpr; }
      });
      c.restore();
    };
  }

  // All sensors of the first unit found; others get scales of their own without an axis.
  function sensorChart(record, end, xAxis, draw, pick) {
    const lines = record.sensors.map((s) => ({ sensor: s, points: pick(s) })).filter((l) => l.points.some((p) => p[1] != null));
    if (!lines.length) return null;
    const xs = Array.from(new Set(lines.flatMap((l) => l.points.map((p) => p[0])))).sort((a, b) => a - b);
    const place = new Map(xs.map((x, i) => [x, i]));
    const data = [xs], series = [{ label: "at", value: (u, v) => (v == null ? "" : v.toFixed(1) + " s") }], scales = { x: { time: false, range: [0, end] } };
    const dashes = [[], [6, 4], [2, 3], [8, 3, 2, 3]];
    lines.forEach(function (l, i) {
      const ys = new Array(xs.length).fill(undefined); // undefined joins, null breaks
      l.points.forEach((p) => { ys[place.get(p[0])] = p[1]; });
      const unit = l.sensor.unit, key = unit === lines[0].sensor.unit ? "y" : "u" + unit;
      scales[key] = { range: (u, min, max) => padded(min, max, 0.15, Math.max(Math.abs(max || 1) * 0.02, 1e-9)) };
      data.push(ys);
      series.push(line(l.sensor.name, i % 2 ? "--b" : "--a", (v) => figures(v) + " " + unit, {
        scale: key, dash: dashes[i % 4], points: { show: xs.length < 40, size: 4 },
      }));
    });
    const unit = lines[0].sensor.unit;
    return {
      describe: "sensor readings", data: data,
      options: {
        scales: scales, series: series, hooks: { draw: draw },
        axes: [xAxis, axis({ size: leftSize, values: (u, s) => s.map((v) => short(v) + " " + unit) })],
      },
    };
  }

  // --- putting them into the page ------------------------------------------------------------

  const figuresInPage = Array.from(document.querySelectorAll("figure.chart"));
  const built = new Map(); // figure → { plot, mode, width }

  function build(figure) {
    const old = built.get(figure);
    const mode = old ? old.mode : "histogram";
    const record = records[+figure.dataset.record];
    const workload = record.workloads[+figure.dataset.workload];
    const made = charts[figure.dataset.chart](record, workload, mode);
    if (!made) { figure.hidden = true; return; }
    let box = figure.querySelector(".plot");
    if (!box) {
      box = document.createElement("div");
      box.className = "plot";
      box.tabIndex = 0;
      box.setAttribute("role", "img");
      figure.append(box);
      box.addEventListener("keydown", (event) => key(event, built.get(figure).plot));
      (made.modes || []).forEach(function (m) {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = m[1];
        button.dataset.mode = m[0];
        button.addEventListener("click", () => { built.get(figure).mode = m[0]; build(figure); });
        figure.querySelector("figcaption").append(button);
      });
    }
    box.setAttribute("aria-label", made.describe + "; arrow keys move the cursor, plus and minus zoom, Escape resets");
    figure.querySelectorAll("button").forEach((b) => b.setAttribute("aria-pressed", String(b.dataset.mode === mode)));
    if (old && old.plot) old.plot.destroy();
    const width = Math.max(200, Math.floor(box.clientWidth || (old && old.width) || 0));
    const time = ["rate", "latency", "sensors"].includes(figure.dataset.chart);
    const options = Object.assign({
      width: width, height: height(), padding: [8, time ? 28 : 16, 0, 0],
      cursor: {
        points: { size: 9, width: 0, fill: (u, i) => u.series[i].stroke(u, i) }, drag: { x: true, y: false },
        sync: time ? { key: figure.dataset.record + "-" + figure.dataset.workload } : undefined,
      },
      legend: { live: true, markers: { dash: (u, i) => (u.series[i].dash ? "dashed" : "solid") } },
    }, made.options);
    // A fixed first range that zooming may leave.
    const full = options.scales.x.range;
    options.scales.x.range = (u, min, max) => (min == null || u.status === 0 ? full : [min, max]);
    const plot = new uPlot(options, made.data, box);
    plot.full = full;
    plot.setScale("x", { min: full[0], max: full[1] });
    plot.over.addEventListener("dblclick", () => plot.setScale("x", { min: full[0], max: full[1] }));
    built.set(figure, { plot: plot, mode: mode, width: width });
  }

  function key(event, u) {
    const x = u.data[0], scale = u.scales.x, middle = (scale.min + scale.max) / 2, half = (scale.max - scale.min) / 2;
    const zoom = function (factor) {
      const at = u.cursor.idx == null ? middle : x[u.cursor.idx];
      u.setScale("x", { min: Math.max(u.full[0], at - half * factor), max: Math.min(u.full[1], at + half * factor) });
    };
    const move = function (step) {
      let i = u.cursor.idx == null ? (step > 0 ? -1 : x.length) : u.cursor.idx;
      do i += step; while (x[i] !== undefined && u.data[1][i] == null);
      if (x[i] === undefined) return;
      u.setCursor({ left: u.valToPos(x[i], "x"), top: u.over.clientHeight / 2 });
    };
    const actions = {
      ArrowLeft: () => move(-1), ArrowRight: () => move(1), "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2),
      Escape: () => { u.setScale("x", { min: u.full[0], max: u.full[1] }); u.setCursor({ left: -10, top: -10 }); },
    };
    if (actions[event.key]) { actions[event.key](); event.preventDefault(); }
  }

  // Few charts are drawn at once; many when they come near the screen.
  const lazy = figuresInPage.length > 80 && "IntersectionObserver" in window;
  const folded = (figure) => figure.closest("details:not([open])");
  // What is folded has no width yet: it is drawn when it is opened.
  document.querySelectorAll("details").forEach(function (details) {
    details.addEventListener("toggle", function () {
      details.querySelectorAll("figure.chart").forEach((f) => { if (!built.has(f) && !folded(f)) build(f); });
    });
  });
  if (lazy) {
    const watch = new IntersectionObserver(function (entries) {
      entries.filter((e) => e.isIntersecting).forEach(function (e) { watch.unobserve(e.target); build(e.target); });
    }, { rootMargin: "800px" });
    figuresInPage.forEach((f) => watch.observe(f));
  } else {
    figuresInPage.filter((f) => !folded(f)).forEach(build);
  }

  const rebuild = () => Array.from(built.keys()).forEach(build);
  let pending = 0;
  window.addEventListener("resize", function () {
    cancelAnimationFrame(pending);
    pending = requestAnimationFrame(function () {
      built.forEach(function (b, figure) {
        if (folded(figure)) return;
        const width = Math.max(200, Math.floor(figure.querySelector(".plot").clientWidth));
        if (width !== b.width) { b.width = width; b.plot.setSize({ width: width, height: height() }); }
      });
    });
  });

  // --- one picture after the other -----------------------------------------------------------

  const TURN = 1400, REST = 4000; // milliseconds of a frame, and of the last one
  document.querySelectorAll(".sweep").forEach(function (figure) {
    const frames = Array.from(figure.querySelectorAll(".frame"));
    const range = figure.querySelector("input"), name = figure.querySelector("output");
    const button = figure.querySelector("button");
    let timer = 0;
    function show() {
      frames.forEach((frame, i) => { frame.hidden = i !== +range.value; });
      name.textContent = frames[+range.value].dataset.name;
      range.setAttribute("aria-valuetext", name.textContent);
    }
    function stop() {
      clearTimeout(timer);
      timer = 0;
      button.textContent = "Play";
    }
    function turn() {
      const last = +range.value === frames.length - 1;
      timer = setTimeout(function () {
        range.value = last ? 0 : +range.value + 1;
        show();
        turn();
      }, last ? REST : TURN);
    }
    range.addEventListener("input", function () { stop(); show(); });
    button.addEventListener("click", function () {
      if (timer) return stop();
      button.textContent = "Pause";
      turn();
    });
    figure.querySelector(".control").hidden = false;
    show();
  });

  // --- which records, in which order -----------------------------------------------------------

  document.querySelectorAll(".tools").forEach(function (tools) {
    const select = tools.querySelector("select"), search = tools.querySelector("input"), count = tools.querySelector("output");
    const rows = Array.from(tools.parentElement.querySelector("table.summary tbody").rows);
    const sections = Array.from(document.querySelectorAll("main > details.one"));
    const bars = Array.from(document.querySelectorAll("table.bars tr"));
    const record = (row) => +row.querySelector("a").hash.slice(2);
    function key(row) {
      const cell = row.cells[+select.value];
      return +select.value < 2 ? cell.textContent.trim().toLowerCase() : parseFloat(cell.dataset.value);
    }
    function compare(a, b) {
      if (typeof a === "string") return a.localeCompare(b);
      const known = Number.isFinite; // what has no figure comes last
      if (!known(a) || !known(b)) return known(b) - known(a);
      return b - a;
    }
    function order() {
      const sorted = rows.map((row, i) => ({ row: row, i: i, key: select.value === "" ? 0 : key(row) }));
      sorted.sort((a, b) => (select.value === "" ? 0 : compare(a.key, b.key)) || a.i - b.i);
      sorted.forEach(function (entry) {
        entry.row.parentElement.append(entry.row);
        sections[entry.i].parentElement.append(sections[entry.i]);
      });
    }
    function choose() {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      // Name, id, unit and slot, and the result; a figure may hold any digit.
      const said = (row) => [row.querySelector("a"), row.querySelector("small"), row.cells[1]].map((part) => part.textContent);
      const plain = (row) => said(row).join(" ").toLowerCase().replace(/[\u00a0\u202f]/g, " ");
      const shown = rows.map((row) => words.every((word) => plain(row).includes(word)));
      rows.forEach((row, i) => { row.hidden = !shown[i]; sections[i].hidden = !shown[i]; });
      bars.forEach((row) => { row.hidden = !shown[record(row)]; });
      const left = shown.filter(Boolean).length;
      count.textContent = left === rows.length ? "" : left + " of " + rows.length;
    }
    select.addEventListener("change", order);
    search.addEventListener("input", choose);
    tools.hidden = false;
  });

  // --- light and dark, and paper -------------------------------------------------------------

  const toggle = document.getElementById("theme");
  const themes = ["system", "light", "dark"];
  function setTheme(name) {
    if (name === "system") delete root.dataset.theme; else root.dataset.theme = name;
    toggle.textContent = "Theme: " + name;
    rebuild();
  }
  toggle.hidden = false;
  toggle.addEventListener("click", () => setTheme(themes[(themes.indexOf(root.dataset.theme || "system") + 1) % 3]));
  const asked = location.hash.slice(1);
  if (asked === "dark" || asked === "light") setTheme(asked);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", rebuild);

  let before = null;
  window.addEventListener("beforeprint", function () {
    before = root.dataset.theme || "system";
    document.querySelectorAll("details").forEach((d) => { d.dataset.was = d.open ? "1" : ""; d.open = true; });
    root.classList.add("paper"); // the width of a sheet, so that charts fit it
    figuresInPage.filter((f) => !built.has(f)).forEach(build);
    setTheme("light");
  });
  window.addEventListener("afterprint", function () {
    root.classList.remove("paper");
    document.querySelectorAll("details").forEach((d) => { d.open = d.dataset.was === "1"; });
    setTheme(before || "system");
  });

  root.dataset.charts = String(built.size);
  root.dataset.ready = "1";
})();
