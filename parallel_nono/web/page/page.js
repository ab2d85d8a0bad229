// The page: reads a puzzle, has a worker solve it, shows what comes back. See solver.js, parse.js, grid.js.

"use strict";

const MAX_TEXT = 4 * 2 ** 20; // characters of a file or of a link
const LONGEST_QUERY = 1500; // servers refuse long addresses; what follows a # stays in the browser
const OPEN_CELL = 65535;
const MAX_DRAWN = 40_000; // cells that are drawn as text
const MAX_BUTTONS = 9;

const EXAMPLES = {
  hook: 'title "Hook"\nwidth 3\nheight 3\n\nrows\n2\n1\n3\n\ncolumns\n3\n1,1\n1\n',
  crossed: 'title "Crossed"\nwidth 2\nheight 2\n\nrows\n1\n1\n\ncolumns\n1\n1\n',
  umbrella:
    'title "Umbrella"\nwidth 9\nheight 9\ncolor a #c8102e\ncolor b #1f5fa8\ncolor c #5b3a1e\n\n' +
    "rows\n3a\n3a,1b,3a\n3a,3b,3a\n2a,5b,2a\n1a,1c,1a\n1c\n1c\n1c,1c\n3c\n\n" +
    "columns\n3a\n3a\n2a,1b,2c\n2a,2b,1c\n1a,3b,5c\n2a,2b\n2a,1b\n3a\n3a\n",
  contrary: 'title "No solution"\nwidth 3\nheight 3\n\nrows\n1,1\n1,1\n0\n\ncolumns\n1\n2\n1\n',
  search: "15x15:1/1/1.3/1/1.3/1/1.3/1/1.3/1/1.3/1/1.3/1/3/3/1/3.1/1/3.1/1/3.1/1/3.1/1/3.1/1/3.1/1/1\n",
};

const DECIDED_BY = {
  read: "sums and lengths alone decide it",
  line: "lines alone decide it",
  probe: "probing decides it",
  search: "the search decides it",
};

const parser = parserOf(LAYOUT);
const $ = (id) => document.getElementById(id);
const grid = new Grid($("grid"));
const plural = (n, noun, ending = "s") => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : ending}`;

// What is asked, and what is known of it.
let text = ""; // as it was read last
let chosen = null; // the puzzle that is shown
let running = null; // {worker, timer, latest} while a worker solves it
let views = []; // [name, cells, other] of the grids that can be shown

// The module.

let compiled = null;

/** The solver, compiled once. From a disk it comes as a script, since pages there may fetch nothing. */
function compiledModule() {
  if (!compiled) {
    const bytes = location.protocol === "file:" ? bytesOfScript() : bytesOfFetch();
    compiled = bytes.then((found) => WebAssembly.compile(found));
    compiled.catch(() => (compiled = null));
  }
  return compiled;
}

async function bytesOfFetch() {
  const response = await fetch("pnono.wasm");
  if (!response.ok) throw new Error(`pnono.wasm can't be loaded: ${response.status} ${response.statusText}`);
  return response.arrayBuffer();
}

function bytesOfScript() {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = "pnono.wasm.js";
    script.onload = () => resolve(Uint8Array.from(atob(globalThis.PNONO_WASM), (char) => char.charCodeAt(0)));
    script.onerror = () => reject(new Error("pnono.wasm.js can't be loaded"));
    document.head.append(script);
  });
}

// Asking.

function tooLong(found) {
  return new parser.InvalidPuzzle(`expected at most ${plural(MAX_TEXT, "character")}, found ${found}`);
}

function complain(message) {
  $("problem").textContent = message;
  $("problem").hidden = !message;
}

/** Read the text, show the puzzle (the first that can be read, or the one chosen), and solve it if `solve`. */
function read(solve) {
  stop("");
  complain("");
  text = $("text").value;
  let puzzles;
  try {
    if (text.length > MAX_TEXT) throw tooLong("more");
    ({ puzzles } = parser.parse(text));
  } catch (error) {
    return refuse(error);
  }
  const label = ({ name, error }, at) => `${at + 1}: ${name || "without a name"}${error ? " (broken)" : ""}`;
  const names = puzzles.map(label);
  const which = $("which");
  const before = Number(which.value || 0);
  which.replaceChildren(...names.map((name, at) => new Option(name, at)));
  which.value = before < puzzles.length ? before : 0;
  $("which-box").hidden = puzzles.length < 2;
  const puzzle = puzzles[Number(which.value)];
  if (puzzle.error) return refuse(new parser.InvalidPuzzle(puzzle.error));
  show(puzzle);
  if (solve) start();
}

function refuse(error) {
  if (!(error instanceof parser.InvalidPuzzle)) throw error;
  chosen = null;
  $("result").hidden = $("facts").hidden = true;
  complain(`This is no puzzle: ${error.message}.`);
}

function show(puzzle) {
  chosen = puzzle;
  const { height, width, palette, name } = puzzle;
  $("result").hidden = false;
  $("facts").hidden = true;
  $("title").textContent = name || "Puzzle without a name";
  $("status").className = "";
  $("status").textContent = `${width} wide, ${height} high, ${plural(palette.length, "colour")}.`;
  $("notes").replaceChildren(...puzzle.warnings.map((warning) => item("li", warning)));
  $("legend").replaceChildren(...(palette.length > 2 ? palette.flatMap(swatch) : []));
  grid.setPuzzle({ ...puzzle, palette: palette.map(({ rgb }) => hex(rgb)) });
  setViews([["Nothing known", new Uint16Array(height * width).fill(OPEN_CELL)]]);
}

const hex = (rgb) => `#${rgb.toString(16).padStart(6, "0")}`;

function item(tag, content) {
  const element = document.createElement(tag);
  element.textContent = content;
  return element;
}

function swatch({ name, rgb }, at) {
  const box = document.createElement("span");
  box.className = "swatch";
  box.style.background = hex(rgb);
  const letter = parser.letter(at, chosen.palette.length);
  return [box, item("span", name === letter ? name : `${letter} ${name}`)];
}

// Solving.

async function start() {
  const puzzle = chosen;
  const began = performance.now();
  const job = { worker: null, timer: 0, latest: null };
  running = job;
  $("stop").disabled = false;
  $("status").textContent = "Solving…";
  let module;
  try {
    module = await compiledModule();
  } catch (error) {
    if (running === job) fail(error.message);
    return;
  }
  if (running !== job) return;
  const script = new Blob([`"use strict";(${workerMain})(${solverOf});`], { type: "text/javascript" });
  const source = URL.createObjectURL(script);
  job.worker = new Worker(source);
  URL.revokeObjectURL(source);
  const elapsed = () => (performance.now() - began) / 1000;
  job.timer = setInterval(() => ($("progress").textContent = underWay(job.latest, elapsed())), 200);
  job.worker.onmessage = ({ data }) => {
    if (running !== job) return;
    if (data.progress) {
      job.latest = data.progress;
      setViews([["So far", data.progress.cells]]);
    } else {
      finish();
      if (data.error) fail(data.error);
      else report(puzzle, data.result);
    }
  };
  job.worker.onerror = (event) => running === job && fail(event.message || "the worker ended");
  const solutions = Math.max(1, Number($("solutions").value) || 2);
  const options = { solutions, seconds: Number($("seconds").value) || Infinity };
  job.worker.postMessage({ module, layout: LAYOUT, puzzle, options });
}

function underWay(latest, seconds) {
  if (!latest) return `Lines: ${duration(seconds)}`;
  const { n_probes: probes, n_branches: branches, n_conflicts: conflicts } = latest.counts;
  const found = latest.found ? `, ${plural(latest.found, "solution")} found` : "";
  const took = `${plural(probes, "probe")}, ${plural(branches, "branch", "es")}, ${plural(conflicts, "conflict")}`;
  return `${latest.stage === "line" ? "Probes" : "Search"}: ${duration(seconds)}, ${took}${found}`;
}

/** The worker is done, or not wanted any more: it is thrown away, whatever it is at. */
function finish() {
  if (!running) return;
  clearInterval(running.timer);
  running.worker?.terminate();
  running = null;
  $("stop").disabled = true;
  $("progress").textContent = "";
}

function stop(message) {
  if (!running) return;
  finish();
  $("status").className = "warn";
  $("status").textContent = message;
}

function fail(message) {
  finish();
  $("status").textContent = "";
  complain(`The solver failed: ${message}.`);
}

// What came out.

function sentence(puzzle, result) {
  const { outcome, stage, witness, exhausted, nSolutions, solutions, nOpen } = result;
  const how = DECIDED_BY[stage];
  switch (outcome) {
    case "unique":
      return ["good", `Unique: this is the only solution; ${how}.`];
    case "solved":
      return ["good", `Solved: this solution obeys the clues; whether it is the only one was not asked; ${how}.`];
    case "multiple": {
      const [first, second] = solutions;
      const n = first.reduce((sum, cell, at) => sum + (cell !== second[at]), 0);
      const many = exhausted ? `exactly ${nSolutions}` : `at least ${nSolutions}`;
      return ["warn", `Ambiguous: ${many} solutions; the first two differ in ${plural(n, "cell")}.`];
    }
    case "contradiction":
      return ["bad", `Contradiction: no solution obeys the clues: ${witness || how}.`];
    case "timeout": {
      const known = nSolutions ? "one solution is found, whether there are more is open" : `${plural(nOpen, "cell")} open`;
      return ["warn", `Timeout after ${duration(result.seconds.solve)}: ${known}; that proves nothing.`];
    }
    default:
      return ["warn", `Stalled: ${witness || `${plural(nOpen, "cell")} open`}; that proves nothing.`];
  }
}

function report(puzzle, result) {
  const [tone, words] = sentence(puzzle, result);
  $("status").className = tone;
  $("status").textContent = words;
  const { solutions, partial, counts, seconds } = result;
  if (solutions.length > 1) {
    const single = solutions.map((cells, at) => [`Solution ${at + 1}`, cells]);
    setViews([["Differences", solutions[0], solutions[1]], ...single, ["In common", common(solutions)]]);
  } else {
    setViews([solutions.length ? ["Solution", solutions[0]] : ["Known", partial]]);
  }
  $("facts").hidden = false;
  rows($("verdict"), {
    Verdict: result.outcome,
    "Decided by": result.stage,
    Solutions: `${result.exhausted ? "exactly" : "at least"} ${result.nSolutions.toLocaleString("en")}`,
    Size: `${puzzle.width} x ${puzzle.height}, ${plural(puzzle.palette.length, "colour")}`,
    "Open after lines": plural(result.nOpenLines ?? 0, "cell"),
    "Open after probes": plural(result.nOpen, "cell"),
    Rounds: counts.n_rounds.toLocaleString("en"),
    "Visits to lines": counts.n_lines.toLocaleString("en"),
    Probes: counts.n_probes.toLocaleString("en"),
    Branches: counts.n_branches.toLocaleString("en"),
    Conflicts: counts.n_conflicts.toLocaleString("en"),
  });
  rows($("times"), {
    Lines: duration(seconds.line),
    Probes: duration(seconds.probe),
    Search: duration(seconds.search),
    Together: duration(seconds.solve),
  });
}

function rows(body, facts) {
  const row = ([name, value]) => {
    const line = document.createElement("tr");
    const head = item("th", name);
    head.scope = "row";
    line.append(head, item("td", value));
    return line;
  };
  body.replaceChildren(...Object.entries(facts).map(row));
}

/** What all solutions agree on. */
function common(solutions) {
  return solutions[0].map((cell, at) => (solutions.every((cells) => cells[at] === cell) ? cell : OPEN_CELL));
}

/** A time with three digits; browsers blur their clocks, so nothing below a tenth of a millisecond. */
function duration(seconds) {
  if (seconds < 1e-4) return seconds > 0 ? "under 0.1 ms" : "0";
  if (seconds < 1) return `${Number((1000 * seconds).toPrecision(3))} ms`;
  if (seconds < 100) return `${Number(seconds.toPrecision(3))} s`;
  return `${Math.floor(seconds / 60)} min ${String(Math.floor(seconds % 60)).padStart(2, "0")} s`;
}

// Looking.

function setViews(found) {
  const same = views.length === found.length && views.every(([name], at) => name === found[at][0]);
  views = found;
  if (!same) {
    const single = views.length < 2 ? [] : views.map(button);
    $("views").replaceChildren(...(views.length > MAX_BUTTONS ? [choice()] : single));
  }
  look(0);
}

function button([name], at) {
  const made = item("button", name);
  made.type = "button";
  made.onclick = () => look(at);
  return made;
}

/** All views in a list, where there are too many for a button each. */
function choice() {
  const made = document.createElement("select");
  made.setAttribute("aria-label", "Solutions");
  made.append(...views.map(([name], at) => new Option(name, at)));
  made.onchange = () => look(Number(made.value));
  return made;
}

function look(at) {
  const [name, cells, other = null] = views[at];
  document.querySelectorAll("#views button").forEach((one, place) => one.setAttribute("aria-pressed", place === at));
  const signed = (array) => array && Int32Array.from(array, (cell) => (cell === OPEN_CELL ? OPEN : cell));
  grid.setCells(signed(cells), true, { other: signed(other) });
  const nOpen = cells.reduce((sum, cell) => sum + (cell === OPEN_CELL), 0);
  const size = `${chosen.width} wide, ${chosen.height} high`;
  $("grid").setAttribute("aria-label", `${name}: ${size}, ${plural(nOpen, "cell")} open; see “As text”`);
  if ($("letters").open) draw(cells, other);
  $("letters").ontoggle = () => draw(cells, other);
  if (!running) offerPicture();
}

/** The grid in letters, `?` for an open cell, `*` behind one in which the solutions differ. */
function draw(cells, other) {
  const { height, width, palette } = chosen;
  if (height * width > MAX_DRAWN) {
    $("drawn").textContent = "Too large to be drawn in letters.";
    return;
  }
  const sign = (at) => {
    const char = cells[at] === OPEN_CELL ? "?" : parser.letter(cells[at], palette.length);
    return other ? `${char}${cells[at] === other[at] ? " " : "*"}` : char;
  };
  const row = (_, r) => Array.from({ length: width }, (_, c) => sign(r * width + c)).join("").trimEnd();
  $("drawn").textContent = Array.from({ length: height }, row).join("\n");
}

function offerPicture() {
  $("grid").toBlob((blob) => {
    if (!blob) return;
    URL.revokeObjectURL($("picture").href);
    $("picture").href = URL.createObjectURL(blob);
    $("picture").download = `${(chosen?.name || "nonogram").replace(/[^\p{L}\p{N}_-]+/gu, "-")}.png`;
    $("picture").hidden = false;
  });
}

// Links: `?s=` or `#s=` with the puzzle in it, as text, or `~` and its deflated bytes in base64url.

async function pumped(bytes, stream) {
  const parts = [];
  let size = 0;
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(parts).arrayBuffer());
    size += value.length;
    if (size > MAX_TEXT) throw new parser.InvalidPuzzle("expected a puzzle in the link, found one too large");
    parts.push(value);
  }
}

async function deflated(plain) {
  const bytes = await pumped(new TextEncoder().encode(plain), new CompressionStream("deflate-raw"));
  const chars = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return `~${btoa(chars).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

async function inflated(value) {
  if (!value.startsWith("~")) return value;
  try {
    const chars = atob(value.slice(1).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(chars, (char) => char.charCodeAt(0));
    const found = await pumped(bytes, new DecompressionStream("deflate-raw"));
    return new TextDecoder("utf-8", { fatal: true }).decode(found);
  } catch (error) {
    if (error instanceof parser.InvalidPuzzle) throw error;
    throw new parser.InvalidPuzzle("expected a puzzle in the link, found a damaged one");
  }
}

async function share() {
  read(false);
  if (!chosen) return;
  const link = new URL(location.href);
  link.search = link.hash = "";
  const value = await deflated(parser.write(chosen));
  if (value.length <= LONGEST_QUERY) link.searchParams.set("s", value);
  else link.hash = `s=${value}`;
  if (location.protocol !== "file:") history.replaceState(null, "", link);
  try {
    await navigator.clipboard.writeText(link.href);
    $("shared").textContent = "The link is in the clipboard; the puzzle is in it.";
  } catch {
    $("shared").textContent = `The puzzle is in this link: ${link.href}`;
  }
}

async function openLink() {
  const query = new URLSearchParams(location.search);
  const fragment = new URLSearchParams(location.hash.slice(1));
  const value = query.get("s") ?? fragment.get("s");
  if (value === null) return;
  const wanted = Number(query.get("solutions") ?? fragment.get("solutions"));
  if (Number.isInteger(wanted) && wanted > 0) $("solutions").value = Math.min(wanted, 1000);
  try {
    take(await inflated(value));
  } catch (error) {
    refuse(error);
  }
}

// Input.

/** Put a text in, solve it. */
function take(given) {
  $("text").value = given;
  $("which").replaceChildren();
  $("shared").textContent = "";
  read(true);
}

async function takeFile(file) {
  if (file.size > MAX_TEXT) return refuse(tooLong(plural(file.size, "byte")));
  take(await file.text());
}

$("ask").onsubmit = (event) => {
  event.preventDefault();
  read(true);
};
$("stop").onclick = () => stop("Stopped: that proves nothing.");
$("share").onclick = share;
$("which").onchange = () => read(true);
$("text").oninput = () => $("which").replaceChildren();
$("file").onchange = ({ target }) => target.files[0] && takeFile(target.files[0]).finally(() => (target.value = ""));
$("example").onchange = ({ target }) => {
  if (target.value) take(EXAMPLES[target.value]);
  target.value = "";
};
$("smaller").onclick = () => grid.setZoom(Math.max(1, Math.floor(grid.scale * 0.8)));
$("larger").onclick = () => grid.setZoom(Math.min(60, Math.ceil(grid.scale * 1.25)));
$("fit").onclick = () => grid.setZoom(0);
document.onkeydown = (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    read(true);
  } else if (event.key === "Escape") {
    $("stop").click();
  }
};
document.onpaste = (event) => {
  if (event.target.closest?.("textarea, input")) return;
  const pasted = event.clipboardData.getData("text");
  if (pasted) take(pasted);
};
document.ondragover = (event) => {
  event.preventDefault();
  document.body.classList.add("dropping");
};
document.ondragleave = () => document.body.classList.remove("dropping");
document.ondrop = (event) => {
  event.preventDefault();
  document.body.classList.remove("dropping");
  const [file] = event.dataTransfer.files;
  const dropped = event.dataTransfer.getData("text");
  if (file) takeFile(file);
  else if (dropped) take(dropped);
};

openLink();
