"use strict";

// Symbols as well as colours tell the outcomes apart.
const SYMBOLS = { unique: "circle", multiple: "triangle", contradiction: "diamond", timeout: "rect", stalled: "arrow", solved: "roundRect" };
// Pictures have no colours in the rows: inks get these, in order.
const INKS = ["#ffffff", "#c0392b", "#2471a3", "#1e8449", "#b7950b", "#7d3c98", "#ba4a00", "#117a65", "#5d6d7e", "#922b21", "#d98880", "#7fb3d5"];
const ROW = 57, MORE = 8;

start((data) => {
  const of = data.columns;
  const noun = data.noun;
  const name = (row) => data.names[row] || `${place(row)}`;
  const source = (row) => data.sources[of.source[row]];
  const place = (row) => `${source(row).split("/").pop()} #${of.index[row]}`;
  const outcome = (row) => data.outcomes[of.outcome[row]];
  const stage = (row) => data.stages[of.stage[row]];
  const size = (row) => (of.width[row] ? `${of.width[row]}x${of.height[row]}` : "");
  const rating = (row) => (Number.isNaN(of.rating[row]) ? "" : of.rating[row].toFixed(1));
  const number = (column) => (row) => count(of[column][row]);
  const cells = (row) => of.height[row] * of.width[row];

  // Pictures.

  function picture(canvas, row, least) {
    const start = of.picture_at[row], length = of.picture_at[row + 1] - start;
    if (!length) return false;
    const step = Math.ceil(Math.max(of.height[row], of.width[row]) / data.picture_side);
    const height = Math.ceil(of.height[row] / step), width = Math.ceil(of.width[row] / step);
    const scale = Math.max(1, Math.floor(least / Math.max(height, width)));
    canvas.width = width * scale;
    canvas.height = height * scale;
    const context = canvas.getContext("2d");
    const black = of.n_colours[row] === 2;
    for (let i = 0; i < height * width; i++) {
      const ink = black ? (of.pictures[start + (i >> 3)] >> (7 - (i & 7))) & 1 : of.pictures[start + i];
      context.fillStyle = black ? (ink ? "#000000" : "#ffffff") : ink ? INKS[1 + ((ink - 1) % (INKS.length - 1))] : INKS[0];
      context.fillRect((i % width) * scale, Math.floor(i / width) * scale, scale, scale);
    }
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `solution of ${name(row)}, ${size(row)}`);
    return true;
  }

  // The table: only the rows in view are in the document.

  const COLUMNS = [
    { head: "picture", less: false },
    { head: noun, key: (row) => name(row), text: true },
    { head: "size", key: cells, show: size, right: true, less: true },
    { head: "colours", key: (row) => of.n_colours[row], right: true, less: true },
    { head: "outcome", key: (row) => of.outcome[row], show: outcome },
    { head: "stage", key: (row) => of.stage[row], show: stage, less: true },
    { head: "time", key: (row) => of.solve_s[row], show: (row) => duration(of.solve_s[row]), right: true, down: true },
    { head: "rating", key: (row) => (Number.isNaN(of.rating[row]) ? -1 : of.rating[row]), show: rating, right: true, down: true },
    ...[["sweeps", "n_rounds"], ["lines", "n_lines"], ["probes", "n_probes"], ["guesses", "n_branches"], ["depth", "n_depth"], ["dead ends", "n_conflicts"]].map(
      ([head, column]) => ({ head, key: (row) => of[column][row], show: number(column), right: true, less: true, down: true })),
  ];

  const table = document.getElementById("rows"), frame = document.getElementById("window");
  const body = table.tBodies[0], shown = document.getElementById("shown");
  let order = Uint32Array.from({ length: data.n }, (_, row) => row);
  let sorted = { column: 6, down: true };
  let at = 0;
  const heads = COLUMNS.map((column, place) => {
    const head = make("th", { scope: "col", className: [column.right ? "right" : "", column.less ? "less" : ""].join(" ").trim() });
    if (column.key) {
      const button = make("button", { type: "button", textContent: column.head });
      button.addEventListener("click", () => {
        sorted = { column: place, down: sorted.column === place ? !sorted.down : Boolean(column.down) };
        sort();
        render(true);
      });
      head.append(button);
    } else head.append(make("span", { textContent: column.head }));
    return head;
  });
  table.tHead.append(make("tr", {}, ...heads));
  table.setAttribute("aria-colcount", String(COLUMNS.length));

  const collator = new Intl.Collator("en", { numeric: true });
  let ranks = null;
  function nameRanks() {
    // The places of the names in their order, found once: comparing numbers is quicker than comparing texts.
    if (!ranks) {
      const rows = Array.from({ length: data.n }, (_, row) => row), names = rows.map(name);
      rows.sort((a, b) => collator.compare(names[a], names[b]) || a - b);
      ranks = new Uint32Array(data.n);
      rows.forEach((row, rank) => { ranks[row] = rank; });
    }
    return ranks;
  }

  function sort() {
    const column = COLUMNS[sorted.column];
    const key = column.text ? ((found) => (row) => found[row])(nameRanks()) : column.key;
    const keys = new Float64Array(data.n);
    for (const row of order) keys[row] = key(row);
    const sign = sorted.down ? -1 : 1;
    order.sort((a, b) => sign * (keys[a] - keys[b]) || a - b);
    heads.forEach((head, place) => {
      if (place === sorted.column) head.setAttribute("aria-sort", sorted.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
  }

  let texts = null;
  function filter() {
    const words = document.getElementById("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = document.getElementById("outcome").value, at_stage = document.getElementById("stage").value;
    texts ??= Array.from({ length: data.n }, (_, row) => `${data.names[row]} ${source(row)} #${of.index[row]} ${data.messages[row] ?? ""}`.toLowerCase());
    const rows = [];
    for (let row = 0; row < data.n; row++) {
      if (wanted && outcome(row) !== wanted) continue;
      if (at_stage && stage(row) !== at_stage) continue;
      if (words.every((word) => texts[row].includes(word))) rows.push(row);
    }
    order = Uint32Array.from(rows);
    sort();
    render(true);
  }

  function cell(row, column) {
    const td = make("td", { className: [column.right ? "right" : "", column.less ? "less" : ""].join(" ").trim() });
    if (!column.key) {
      const canvas = document.createElement("canvas");
      if (picture(canvas, row, 48)) td.append(canvas);
    } else if (column.text) {
      const button = make("button", { type: "button", className: "open", textContent: name(row) });
      td.append(button);
      if (data.names[row]) td.append(make("span", { className: "place", textContent: place(row) }));
    } else td.textContent = (column.show ?? column.key)(row);
    if (column.head === "outcome") td.classList.add(outcome(row));
    return td;
  }

  const space = (rows) => make("tr", { className: "space", ariaHidden: "true" }, make("td", { colSpan: COLUMNS.length }));
  let drawn = [-1, -1];
  function render(fresh = false) {
    if (fresh) { at = 0; frame.scrollTop = 0; drawn = [-1, -1]; say(); }
    const first = Math.max(0, Math.floor(frame.scrollTop / ROW) - MORE);
    const last = Math.min(order.length, Math.ceil((frame.scrollTop + frame.clientHeight) / ROW) + MORE);
    if (first === drawn[0] && last === drawn[1]) return;
    drawn = [first, last];
    const focused = body.contains(document.activeElement);
    const rows = [];
    for (let place = first; place < last; place++) {
      const tr = make("tr", {}, ...COLUMNS.map((column) => cell(order[place], column)));
      tr.setAttribute("aria-rowindex", String(place + 2));
      tr.dataset.place = place;
      tr.querySelector(".open").tabIndex = place === at ? 0 : -1;
      rows.push(tr);
    }
    const above = space(), below = space();
    above.firstChild.style.height = `${first * ROW}px`;
    below.firstChild.style.height = `${(order.length - last) * ROW}px`;
    body.replaceChildren(above, ...rows, below);
    if (focused) focusAt();
  }

  function say() {
    table.setAttribute("aria-rowcount", String(order.length + 1));
    const all = count(data.n);
    shown.textContent = order.length === data.n ? `${all} ${noun}s` : `${count(order.length)} of ${all} ${noun}s`;
  }

  const focusAt = () => body.querySelector(`tr[data-place="${at}"] .open`)?.focus({ preventScroll: true });
  function go(to) {
    if (!order.length) return;
    at = Math.min(Math.max(to, 0), order.length - 1);
    const head = table.tHead.offsetHeight, top = at * ROW;
    if (top < frame.scrollTop) frame.scrollTop = top;
    else if (top + ROW + head > frame.scrollTop + frame.clientHeight) frame.scrollTop = top + ROW + head - frame.clientHeight;
    drawn = [-1, -1];
    render();
    focusAt();
  }
  frame.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(frame.clientHeight / ROW) - 1);
    const steps = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: order.length - 1 };
    if (!(event.key in steps) || event.target.closest("thead") || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    go(event.target === frame ? at : steps[event.key]);
  });
  frame.addEventListener("scroll", () => render(), { passive: true });
  new ResizeObserver(() => render()).observe(frame);
  body.addEventListener("click", (event) => {
    const row = event.target.closest(".open") && event.target.closest("tr");
    if (row) { at = Number(row.dataset.place); detail(order[at]); }
  });

  const dialog = document.getElementById("detail");
  function detail(row) {
    const facts = [
      ["file", source(row)], ["number", of.index[row]], ["size", size(row)], ["colours", of.n_colours[row]],
      ["outcome", outcome(row)], ["stage", stage(row)], ["rating", rating(row) && `${rating(row)} of 10`],
      ["time to solve", duration(of.solve_s[row])], ["sweeps", number("n_rounds")(row)], ["lines visited", number("n_lines")(row)],
      ["probes", number("n_probes")(row)], ["guesses", number("n_branches")(row)], ["depth", number("n_depth")(row)],
      ["dead ends", number("n_conflicts")(row)], ["message", data.messages[row]],
    ].filter(([, value]) => value !== "" && value !== undefined);
    const close = make("button", { type: "button", textContent: "Close" });
    close.addEventListener("click", () => dialog.close());
    const canvas = document.createElement("canvas");
    const parts = [make("h2", { id: "detail-title", textContent: name(row) })];
    if (picture(canvas, row, 400)) {
      parts.push(canvas);
      const notes = [];
      if (Math.max(of.height[row], of.width[row]) > data.picture_side) notes.push("shrunk");
      if (of.n_colours[row] > 2) notes.push("the inks are not those of the puzzle");
      if (outcome(row) === "multiple") notes.push("one of several solutions");
      if (notes.length) parts.push(make("p", { className: "soft", textContent: notes.join("; ") }));
    }
    const list = make("dl", {}, ...facts.flatMap(([key, value]) => [make("dt", { textContent: key }), make("dd", { textContent: String(value) })]));
    dialog.replaceChildren(...parts, list, close);
    dialog.showModal();
  }
  dialog.addEventListener("close", focusAt);

  for (const [id, values, used] of [["outcome", data.outcomes, of.outcome], ["stage", data.stages, of.stage]]) {
    const select = document.getElementById(id), there = new Set(used);
    values.forEach((value, code) => { if (there.has(code)) select.append(make("option", { value, textContent: value || "none" })); });
    select.addEventListener("change", filter);
  }
  let waiting = 0;
  document.getElementById("search").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 120); });
  document.querySelector("form.tools").addEventListener("submit", (event) => { event.preventDefault(); filter(); });
  sort();
  render(true);

  // Plots.

  const outcomes = data.outcomes.filter((each) => data.histogram.some((bin) => bin.outcome === each));
  addPlot("histogram", () => {
    const bins = data.histogram.map((bin) => bin.bin), least = Math.min(...bins), most = Math.max(...bins);
    const names = Array.from({ length: most - least + 1 }, (_, i) => shortDuration(10 ** ((least + i) / data.bins_a_decade)));
    return base({ type: "category", name: "time to solve, from", data: names }, { type: "value", name: `${noun}s`, nameGap: 54 }, outcomes.map((each) => {
      const values = new Array(names.length).fill(0);
      for (const bin of data.histogram) if (bin.outcome === each) values[bin.bin - least] = bin.n;
      return { type: "bar", stack: "all", name: each, data: values, barCategoryGap: "8%", itemStyle: { color: colour(each) } };
    }));
  });

  addPlot("scatter", () => {
    const rows = new Map();
    for (let row = 0; row < data.n; row++) {
      if (!(of.solve_s[row] > 0) || !cells(row)) continue;
      if (!rows.has(outcome(row))) rows.set(outcome(row), []);
      rows.get(outcome(row)).push([cells(row), of.solve_s[row], row]);
    }
    const options = base({ type: "log", name: "cells", axisLabel: { formatter: (value) => count(value) } }, logTime("time to solve"),
      data.outcomes.filter((each) => rows.has(each)).map((each) => ({
        type: "scatter", name: each, data: rows.get(each), symbol: SYMBOLS[each] ?? "circle", symbolSize: data.n > 5000 ? 4 : 8,
        large: data.n > 5000, largeThreshold: 2000, itemStyle: { color: colour(each), opacity: data.n > 5000 ? 0.5 : 0.8 },
      })));
    options.tooltip.formatter = (point) => {
      const row = point.data?.[2];
      return row === undefined ? "" : `${name(row).replace(/[{}|]/g, " ")}\n${size(row)}, ${outcome(row)}\n${duration(of.solve_s[row])}`;
    };
    options.dataZoom = [{ type: "inside", xAxisIndex: 0, zoomOnMouseWheel: "ctrl" }, { type: "inside", yAxisIndex: 0, zoomOnMouseWheel: "ctrl" }];
    return options;
  });

  addPlot("cactus", () => {
    const options = base(logTime("time for one"), { type: "value", name: `${noun}s decided`, nameGap: 54 }, [
      { type: "line", step: "end", showSymbol: false, data: data.cactus, lineStyle: { width: 2.5, color: colour("accent") }, itemStyle: { color: colour("accent") } }]);
    options.tooltip.trigger = "axis";
    options.tooltip.formatter = ([point]) => `${count(point.data[1])} within ${duration(point.data[0])}`;
    return options;
  });

  addPlot("difficulty", () => {
    const names = Array.from({ length: 9 }, (_, i) => (i < 8 ? `${i + 1}-${i + 1}.9` : "9-10"));
    const shades = { lines: colour("unique"), trials: colour("multiple"), search: colour("contradiction") };
    return base({ type: "category", name: "rating", data: names }, { type: "value", name: `${noun}s`, nameGap: 54 }, Object.keys(shades).map((technique) => ({
      type: "bar", stack: "all", name: technique, barCategoryGap: "15%", itemStyle: { color: shades[technique] },
      data: names.map((_, i) => data.ratings.find((each) => each.rating === i + 1 && each.technique === technique)?.n ?? 0),
    })));
  });

  addPlot("spent", () => {
    const there = data.spent.filter(([, seconds]) => seconds > 0).reverse();
    const options = base({ type: "value", name: "seconds, all puzzles together" }, { type: "category", data: there.map(([on]) => on) }, [
      { type: "bar", data: there.map(([, seconds]) => seconds), itemStyle: { color: colour("accent") },
        label: { show: true, position: "right", color: colour("ink"), formatter: (bar) => duration(bar.value) } }]);
    options.grid.left = 90;
    options.grid.right = 70;
    options.tooltip.formatter = (bar) => `${bar.name}: ${duration(bar.value)}`;
    return options;
  });
});
