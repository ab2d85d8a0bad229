// The page of `pnono serve`: solve, look, save; and the runs of a folder.
// Whatever comes from a puzzle or a run goes into the page as text, never as markup.

import { Grid, OPEN, openCells } from "./grid.js";

const $ = (id) => document.getElementById(id);
const WORDS = {
  unique: ["good", "Unique: this is the only solution."],
  solved: ["good", "Solved."],
  multiple: ["warn", "Ambiguous: there are several solutions."],
  contradiction: ["bad", "Contradiction: no solution obeys the clues."],
  stalled: ["warn", "Undecided: the solver gave up."],
  timeout: ["warn", "Undecided: out of time."],
};
const STAGES = { read: "sums and lengths", line: "lines", probe: "probes", search: "search", sat: "SAT solver" };
const SECONDS = { line_s: "lines", probe_s: "probes", search_s: "search", sat_s: "SAT solver", check_s: "check" };
const COUNTS = {
  n_rounds: "rounds",
  n_lines: "visits to lines",
  n_probes: "probes",
  n_branches: "branches",
  n_depth: "most branches at a time",
  n_conflicts: "conflicts",
};
const EXAMPLES = {
  heart: "width 5\nheight 5\n\nrows\n1,1\n5\n5\n3\n1\n\ncolumns\n2\n4\n4\n4\n2\n",
  crossed: "width 4\nheight 4\n\nrows\n1,1\n1\n1\n1,1\n\ncolumns\n1,1\n1\n1\n1,1\n",
  umbrella: umbrella(),
  contrary: "width 3\nheight 3\n\nrows\n3\n1,1\n3\n\ncolumns\n3\n3\n3\n",
};
function umbrella() {
  const goal = ["..rrr..", ".ryryr.", "ryryryr", "...b...", "...b...", ".b.b...", ".bbb..."];
  const chars = ".ryb";
  const clue = (cells) =>
    [...cells.matchAll(/([^.])\1*/g)].map(([run]) => [run.length, chars.indexOf(run[0])]);
  const rows = goal.map(clue);
  const columns = [...goal[0]].map((_, column) => clue(goal.map((row) => row[column]).join("")));
  const palette = [
    ["white", ".", "#ffffff"],
    ["red", "r", "#d62828"],
    ["yellow", "y", "#f7b801"],
    ["brown", "b", "#6f4518"],
  ].map(([name, char, rgb]) => ({ name, char, rgb }));
  return JSON.stringify({ name: "Umbrella", rows, columns, palette });
}

// Small tools.

function text(tag, words, className = "") {
  const element = document.createElement(tag);
  element.textContent = words;
  if (className) element.className = className;
  return element;
}

function tableRow(cells) {
  const row = document.createElement("tr");
  row.append(...cells);
  return row;
}

/** Three digits: `3.14 ms`. */
function duration(seconds) {
  const units = [
    [60, "min"],
    [1, "s"],
    [1e-3, "ms"],
    [1e-6, "µs"],
  ];
  const [size, unit] = units.find(([size]) => seconds >= size && (size !== 60 || seconds >= 120)) ?? [1e-6, "µs"];
  const value = seconds / size;
  return `${value >= 100 ? Math.round(value) : Number(value.toPrecision(3))} ${unit}`;
}

const number = (value) => Number(value).toLocaleString("en");
const counted = (n, noun) => `${number(n)} ${noun}${n === 1 ? "" : "s"}`;

function complain(message) {
  $("problem").textContent = message;
  $("problem").hidden = !message;
  if (message) $("problem").scrollIntoView({ block: "nearest" });
}

/** Ask the server. Errors: Error with the sentence it gave; asks for the token where one is needed. */
async function ask(path, options = {}) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("the server does not answer");
  }
  if (response.ok) return response;
  if (response.status === 401 && path !== "/api/login") {
    $("login").hidden = false;
    $("token").focus();
  }
  const told = await response.json().catch(() => ({}));
  throw new Error(told.error ?? `the server says ${response.status}`);
}

/** Ask for a stream of events; ends early when `signal` aborts. */
async function* events(path, options) {
  const response = await ask(path, options);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let kept = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const pieces = (kept + value).split("\n\n");
    kept = pieces.pop();
    for (const piece of pieces) yield JSON.parse(piece.slice("data: ".length));
  }
}

// Solving.

const grid = new Grid($("grid"));
const shown = { puzzle: null, frames: [], at: 0, view: "steps", verdict: null, cut: false, timer: 0, rounds: [], n_joined: 0 };
let input = null; // {name, data}: a file that was dropped or chosen; else the text counts
let abort = null;

/** Frames: what was learnt at once; frame 0 is the empty grid. A round joins the lines of its number. */
function frames() {
  if ($("every").value === "line") return shown.frames;
  for (const frame of shown.frames.slice(shown.n_joined)) {
    const before = shown.rounds.at(-1);
    if (before && frame.by === "line" && before.by === "line" && frame.round === before.round) {
      for (const place of frame.at) before.at.push(place);
      for (const colour of frame.to) before.to.push(colour);
      before.joined += 1;
    } else {
      shown.rounds.push({ ...frame, at: [...frame.at], to: [...frame.to], joined: 1 });
    }
  }
  shown.n_joined = shown.frames.length;
  return shown.rounds;
}

function cellsAt(list, at) {
  const cells = openCells(shown.puzzle);
  for (const frame of list.slice(0, at)) frame.at.forEach((place, index) => (cells[place] = frame.to[index]));
  return cells;
}

function lineName(line) {
  const { height } = shown.puzzle;
  return line < height ? `row ${line + 1}` : `column ${line - height + 1}`;
}

function stepText(frame) {
  const learnt = counted(frame.at.length, "cell");
  const { width } = shown.puzzle;
  const cell = frame.cell === null ? "" : `row ${Math.floor(frame.cell / width) + 1}, column ${(frame.cell % width) + 1}`;
  switch (frame.by) {
    case "line":
      if (frame.joined > 1) return `round ${frame.round}: ${counted(frame.joined, "line")}, ${learnt}`;
      return frame.line < 0 ? `at the start: ${learnt}` : `round ${frame.round}, ${lineName(frame.line)}: ${learnt}`;
    case "probe":
      return `probe of ${cell}: ${learnt}`;
    case "solution":
      return `the rest, by ${STAGES[shown.verdict.stage]}: ${learnt}`;
    default:
      return `contradiction in ${frame.line >= 0 ? lineName(frame.line) : cell}`;
  }
}

function draw() {
  if (!shown.puzzle) return;
  const list = frames();
  shown.at = Math.min(shown.at, list.length);
  const frame = list[shown.at - 1];
  const { verdict, view } = shown;
  let cells;
  let options = {};
  if (view === "steps") {
    cells = cellsAt(list, shown.at);
    options = { line: frame && (frame.joined ?? 1) === 1 ? frame.line : -1 };
    const what = frame ? `: ${stepText(frame)}` : "";
    const cut = shown.cut && shown.at === list.length ? " (there are more, too many to show)" : "";
    $("step").textContent = `Step ${number(shown.at)} of ${number(list.length)}${what}${cut}`;
  } else if (view === "both") {
    cells = Int32Array.from(verdict.solutions[0]);
    options = { other: Int32Array.from(verdict.solutions[1]) };
    const n = cells.reduce((sum, cell, place) => sum + (cell !== options.other[place]), 0);
    $("step").textContent = `Both solutions: they differ in ${counted(n, "cell")}, which are framed.`;
  } else {
    cells = Int32Array.from(view === "known" ? verdict.partial : verdict.solutions[view === "second" ? 1 : 0]);
    $("step").textContent = { known: "What is known for certain.", first: "The first solution.", second: "The second solution.", solution: "The solution." }[view];
  }
  grid.setCells(cells, true, options);
  const open = cells.reduce((sum, cell) => sum + (cell === OPEN), 0);
  $("grid").setAttribute("aria-label", `Grid of ${shown.puzzle.height} rows and ${shown.puzzle.width} columns, ${number(open)} cells open`);
  $("first").disabled = $("back").disabled = view === "steps" && shown.at === 0;
}

function views() {
  const { verdict } = shown;
  const found = [["steps", "Steps"]];
  if (verdict?.solutions.length > 1) found.push(["both", "Both solutions"], ["first", "First"], ["second", "Second"]);
  else if (verdict?.solutions.length) found.push(["solution", "Solution"]);
  else if (verdict) found.push(["known", "What is known"]);
  const buttons = [...$("views").children];
  if (buttons.length !== found.length || found.some(([view], place) => buttons[place].value !== view)) {
    $("views").replaceChildren(
      ...found.map(([view, words]) => {
        const button = text("button", words);
        [button.type, button.value] = ["button", view];
        button.addEventListener("click", () => show(view));
        return button;
      }),
    );
  }
  for (const button of $("views").children) button.setAttribute("aria-pressed", String(shown.view === button.value));
}

function show(view) {
  if (view !== "steps") pause();
  shown.view = view;
  views();
  draw();
}

function step(by) {
  shown.view = "steps";
  shown.at = Math.max(0, Math.min(frames().length, shown.at + by));
  views();
  draw();
}

/** Milliseconds between steps: from a second to none. */
const delay = () => [1000, 600, 350, 200, 120, 70, 40, 20, 8, 2, 0][Number($("speed").value)];

function play() {
  if (shown.timer) return;
  if (shown.at >= frames().length && !abort) shown.at = 0;
  shown.view = "steps";
  views();
  $("play").textContent = "Pause";
  const turn = () => {
    const rest = frames().length - shown.at;
    if (rest > 0) {
      step(delay() ? 1 : rest);
    } else if (!abort) {
      pause();
      finish();
      return;
    }
    shown.timer = setTimeout(turn, Math.max(delay(), 4));
  };
  shown.timer = setTimeout(turn, 0);
}

function pause() {
  clearTimeout(shown.timer);
  shown.timer = 0;
  $("play").textContent = "Play";
}

/** After the last step: what there is to see. */
function finish() {
  const { verdict } = shown;
  if (!verdict || shown.view !== "steps") return;
  if (verdict.solutions.length > 1) show("both");
}

function status(words, className = "") {
  $("status").textContent = words;
  $("status").className = className;
}

function begin() {
  pause();
  Object.assign(shown, { puzzle: null, frames: [], at: 0, view: "steps", verdict: null, cut: false, rounds: [], n_joined: 0 });
  complain("");
  $("result").hidden = $("facts").hidden = true;
  $("notes").replaceChildren();
  $("legend").replaceChildren();
}

function started(puzzle) {
  shown.puzzle = puzzle;
  $("result").hidden = false;
  $("title").textContent = puzzle.title || puzzle.source;
  $("notes").replaceChildren(...[...puzzle.notes, ...puzzle.warnings.map((w) => `warning: ${w}`)].map((note) => text("li", note)));
  grid.setPuzzle(puzzle);
  if (puzzle.palette.length > 2) {
    $("legend").replaceChildren(
      ...puzzle.palette.map((shade, index) => {
        const swatch = text("span", "", "swatch");
        swatch.style.background = shade;
        const item = text("span", ` ${puzzle.names[index] || shade}`);
        item.prepend(swatch);
        return item;
      }),
    );
  }
  status(`${puzzle.height} × ${puzzle.width}, ${puzzle.palette.length} colours: solving…`);
  views();
  draw();
  play();
}

function decided(verdict) {
  shown.verdict = verdict;
  const [className, words] = WORDS[verdict.outcome] ?? ["", verdict.outcome];
  status(`${words}${verdict.witness ? ` ${verdict.witness}` : ""}`, className);
  const rows = [
    ["Outcome", verdict.outcome],
    ["Solutions", verdict.exhausted ? number(verdict.n_solutions) : `at least ${number(verdict.n_solutions)}`],
    ["Decided by", STAGES[verdict.stage] ?? verdict.stage],
    ...(verdict.rating ? [["Difficulty", verdict.rating]] : []),
    ...Object.entries(COUNTS).map(([name, words]) => [words, number(verdict.counts[name])]),
  ];
  $("verdict").replaceChildren(
    ...rows.map(([name, value]) => {
      const head = text("th", name);
      head.scope = "row";
      return tableRow([head, text("td", value, "number")]);
    }),
  );
  const most = Math.max(...Object.keys(SECONDS).map((name) => verdict.seconds[name]), 1e-9);
  $("times").replaceChildren(
    ...Object.entries(SECONDS).map(([name, words]) => {
      const head = text("th", words);
      head.scope = "row";
      const meter = document.createElement("meter");
      [meter.max, meter.value] = [most, verdict.seconds[name]];
      meter.setAttribute("aria-label", `${words}: share of the longest`);
      const bar = document.createElement("td");
      bar.append(meter);
      return tableRow([head, text("td", duration(verdict.seconds[name]), "number"), bar]);
    }),
  );
  $("facts").hidden = false;
  views();
}

/** All is there: the solution as a last step, where lines and probes left cells open. */
function ended() {
  const { verdict, frames: list } = shown;
  if (verdict?.outcome === "unique") {
    const cells = cellsAt(list, list.length);
    const at = [...cells.keys()].filter((place) => cells[place] === OPEN);
    if (at.length) list.push({ by: "solution", round: 0, line: -1, cell: null, at, to: at.map((place) => verdict.solutions[0][place]) });
  }
}

async function solve() {
  if (abort) abort.abort();
  begin();
  const own = (abort = new AbortController());
  const query = new URLSearchParams({
    name: input?.name ?? "pasted",
    number: $("which-box").hidden ? 1 : $("which").value || 1,
    format: $("format").value,
    image: JSON.stringify({
      size: Number($("size").value),
      colours: Number($("colours").value),
      threshold: Number($("threshold").value),
      dither: $("dither").checked,
      trim: $("trim").checked,
    }),
  });
  $("stop").disabled = false;
  status("asking…");
  let several = false;
  const began = performance.now();
  try {
    for await (const event of events(`/api/solve?${query}`, { method: "POST", body: input?.data ?? $("text").value, signal: own.signal })) {
      if (own !== abort) return;
      switch (event.type) {
        case "queued":
          $("result").hidden = false;
          status(`waiting: ${counted(event.ahead, "job")} ahead`);
          break;
        case "compiling":
          $("result").hidden = false;
          status("compiling the solver: some seconds, only this first time");
          break;
        case "file":
          several = true;
          $("which").replaceChildren(
            ...event.titles.map((title, index) => new Option(`${index + 1}: ${title}`, index + 1, false, index + 1 === event.number)),
          );
          $("which-box").hidden = false;
          break;
        case "puzzle":
          started(event);
          break;
        case "steps":
          shown.frames.push(...event.steps);
          shown.cut ||= Boolean(event.cut);
          break;
        case "verdict":
          decided(event);
          break;
        case "error":
          complain(event.message);
          status("");
          break;
        case "tick":
          if (shown.puzzle && !shown.verdict) status(`solving for ${duration((performance.now() - began) / 1000)}…`);
          break;
      }
    }
    ended();
  } catch (error) {
    own.abort(); // whatever it was: the server need not go on
    if (own !== abort) return;
    if (error.name === "AbortError") status(`Stopped after ${duration((performance.now() - began) / 1000)}.`, "warn");
    else complain(error.message);
  }
  if (!several) $("which-box").hidden = true;
  abort = null;
  $("stop").disabled = true;
  if (shown.puzzle) draw();
}

function choose(file) {
  file.arrayBuffer().then((data) => {
    input = { name: file.name, data };
    $("chosen").textContent = `${file.name}, ${number(data.byteLength)} bytes`;
    $("chosen").hidden = false;
    $("text").value = "";
    $("which-box").hidden = true;
    solve();
  });
}

function useText() {
  input = null;
  $("chosen").hidden = true;
  $("which-box").hidden = true;
}

async function save() {
  const { puzzle, verdict } = shown;
  const body = JSON.stringify({
    to: $("to").value,
    show: $("show").value,
    puzzle: puzzle.text,
    solutions: verdict.solutions,
    outcome: verdict.outcome,
  });
  try {
    const response = await ask("/api/export", { method: "POST", body });
    const name = decodeURIComponent(response.headers.get("content-disposition").split("''")[1]);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await response.blob());
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    complain("");
  } catch (error) {
    complain(error.message);
  }
}

// Runs.

let following = null;

async function listRuns() {
  try {
    const { runs } = await (await ask("/api/runs")).json();
    $("no-runs").hidden = runs.length > 0;
    $("runs-table").hidden = runs.length === 0;
    $("runs-rows").replaceChildren(
      ...runs.map((run) => {
        const name = text("th", run.name);
        name.scope = "row";
        if (run.refused) {
          const refused = text("td", `refused: ${run.refused}`, "bad");
          refused.colSpan = 4;
          return tableRow([name, refused]);
        }
        const look = document.createElement("td");
        const report = text("a", "report");
        report.href = `/runs/${encodeURIComponent(run.name)}/report`;
        report.setAttribute("aria-label", `report of ${run.name}`);
        look.append(report);
        if (run.running) {
          const follow = text("button", "follow");
          follow.type = "button";
          follow.setAttribute("aria-label", `follow ${run.name}`);
          follow.addEventListener("click", () => followRun(run.name));
          look.append(" ", follow);
        }
        const started = run.started ? new Date(run.started).toLocaleString() : "";
        return tableRow([
          name,
          text("td", started),
          text("td", number(run.rows), "number"),
          text("td", run.running ? "running" : "ended", run.running ? "good" : ""),
          look,
        ]);
      }),
    );
  } catch (error) {
    complain(error.message);
  }
}

function unfollow() {
  following?.abort();
  following = null;
  $("live").hidden = true;
}

async function followRun(name) {
  unfollow();
  const own = (following = new AbortController());
  $("live").hidden = false;
  $("live-title").textContent = name;
  $("live-status").textContent = "";
  try {
    for await (const state of events(`/api/runs/${encodeURIComponent(name)}/live`, { signal: own.signal })) {
      if (own !== following) return;
      if (state.type === "error") complain(state.message);
      else drawLive(state);
    }
    listRuns();
  } catch (error) {
    if (error.name !== "AbortError") complain(error.message);
  }
}

function drawLive(state) {
  const left = state.left;
  const rate = state.rate ? `, ${number(Math.round(state.rate))} a second` : "";
  const rest = left ? `, about ${duration(left[1])} left` : "";
  $("live-status").textContent = `${state.running ? "Running" : "Ended"}: ${counted(state.rows, state.noun)}${state.running ? rate + rest : ""}`;
  const bar = $("live-bar");
  if (left || !state.running) [bar.max, bar.value] = [Math.max(1, state.rows + (left?.[0] ?? 0)), state.rows];
  else bar.removeAttribute("value");
  const pairs = (id, rows) =>
    $(id).replaceChildren(
      ...rows.map(([name, value]) => {
        const head = text("th", name);
        head.scope = "row";
        return tableRow([head, text("td", value, "number")]);
      }),
    );
  pairs("live-outcomes", Object.entries(state.outcomes).map(([name, n]) => [name, number(n)]));
  pairs("live-heaviest", state.heaviest.map((row) => [`${row.name} (${row.source} #${row.index})`, duration(row.work_s)]));
  const table = $("live-workers");
  table.hidden = !state.workers?.length;
  $("live-hint").hidden = Boolean(state.workers) || !state.running;
  table.tBodies[0].replaceChildren(
    ...(state.workers ?? []).map((worker) =>
      tableRow([
        text("td", worker.worker),
        text("td", worker.what || "waits"),
        text("td", worker.size),
        text("td", worker.seconds === null ? "" : duration(worker.seconds), "number"),
        text("td", number(worker.done), "number"),
        text("td", number(Math.round(worker.rate)), "number"),
      ]),
    ),
  );
}

// Pages, token, and what connects it all.

function turn() {
  const page = location.hash === "#runs" ? "runs" : "solve";
  for (const name of ["solve", "runs"]) {
    $(`page-${name}`).hidden = name !== page;
    if (name === page) $(`to-${name}`).setAttribute("aria-current", "page");
    else $(`to-${name}`).removeAttribute("aria-current");
  }
  document.title = `${page === "runs" ? "Runs" : "Solve"} · pnono`;
  if (page === "runs") listRuns();
  else unfollow();
}

async function login(token) {
  await ask("/api/login", { method: "POST", body: JSON.stringify({ token }) });
  $("login").hidden = true;
  complain("");
  await open();
}

async function open() {
  const about = await (await ask("/api/about")).json();
  $("bounds").textContent = `At most ${number(about.cells)} cells, ${number(about.bytes >> 20)} MiB and ${about.seconds} seconds a puzzle.`;
  const options = (list) => list.map((form) => new Option(`${form.name}: ${form.title}`, form.name));
  $("format").append(...options(about.read));
  const pictures = document.createElement("optgroup");
  pictures.label = "Pictures";
  pictures.append(...about.pictures.map((name) => new Option(name === "gif" ? "gif (the solving)" : name, name)));
  const formats = document.createElement("optgroup");
  formats.label = "Formats";
  formats.append(...options(about.write.filter((form) => !about.pictures.includes(form.name))));
  $("to").replaceChildren(pictures, formats);
  turn();
}

function listen() {
  $("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    if (!input && !$("text").value.trim()) complain("expected a puzzle, found nothing: paste one, or drop a file");
    else solve();
  });
  $("stop").addEventListener("click", () => abort?.abort());
  $("text").addEventListener("input", useText);
  $("file").addEventListener("change", (event) => event.target.files[0] && choose(event.target.files[0]));
  $("which").addEventListener("change", solve);
  $("example").addEventListener("change", (event) => {
    if (!event.target.value) return;
    useText();
    $("text").value = EXAMPLES[event.target.value];
    event.target.value = "";
    solve();
  });
  $("play").addEventListener("click", () => (shown.timer ? pause() : play()));
  const move = (by) => () => {
    pause();
    step(by);
  };
  for (const [id, by] of [["first", -Infinity], ["back", -1], ["next", 1], ["last", Infinity]]) $(id).addEventListener("click", move(by));
  const keys = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
  document.querySelector(".board").addEventListener("keydown", (event) => {
    if (event.key === " ") shown.timer ? pause() : play();
    else if (event.key in keys) move(keys[event.key])();
    else return;
    event.preventDefault();
  });
  $("every").addEventListener("change", () => {
    shown.at = 0;
    step(0);
  });
  $("smaller").addEventListener("click", () => grid.setZoom(Math.max(1, Math.floor(grid.scale / 1.25))));
  $("larger").addEventListener("click", () => grid.setZoom(Math.min(80, Math.ceil(grid.scale * 1.25))));
  $("fit").addEventListener("click", () => grid.setZoom(0));
  $("export").addEventListener("submit", (event) => {
    event.preventDefault();
    save();
  });
  $("login").addEventListener("submit", (event) => {
    event.preventDefault();
    login($("token").value).catch((error) => complain(error.message));
  });
  $("unfollow").addEventListener("click", unfollow);
  for (const name of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(name, (event) => {
      event.preventDefault();
      document.body.classList.toggle("dropping", name === "dragover");
      if (name !== "drop") return;
      const file = event.dataTransfer.files[0];
      if (file) choose(file);
      else if (event.dataTransfer.getData("text")) {
        useText();
        $("text").value = event.dataTransfer.getData("text");
        solve();
      }
    });
  }
  document.addEventListener("paste", (event) => {
    const file = event.clipboardData?.files[0];
    if (file) choose(file); // a picture; text goes where the cursor is
  });
  window.addEventListener("hashchange", turn);
}

listen();
const token = new URLSearchParams(location.hash.slice(1)).get("token");
if (token) {
  history.replaceState(null, "", "/");
  login(token).catch((error) => complain(error.message));
} else {
  open().catch((error) => complain(error.message));
}
