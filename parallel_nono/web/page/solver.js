// The solver: what the WebAssembly module does, and how a worker runs it. A classic script, since pages that are opened
// from disk may load no other; `solverOf` refers to nothing outside itself, so that its text can be sent to a worker.
//
// puzzle  {height, width, rows: [[[length, colour], ...], ...], columns: ..., palette: [...]}; length 0 is a blot.
// cells   Uint16Array, row by row: colour indices, 65535 where nothing is known.

"use strict";

/** A solver on an instance of the module; `layout` says where things stand (layout.js). */
function solverOf(instance, layout) {
  const { memory, measure, begin, go_on, look, line, __heap_base } = instance.exports;
  const { places, status: STATUS, stages: STAGES, counts: COUNTS, families: FAMILIES } = layout;
  const OPEN_CELL = 65535;
  const PAGE = 65536;
  const MAX_KEPT = 1000; // solutions
  const SLICE = 60; // milliseconds that the search goes on before it is asked how far it is
  const now = () => performance.now();

  /** What the module needs does not fit into memory. */
  class OutOfMemory extends Error {}

  let next = 0; // the first free byte

  function room(bytes) {
    const at = Math.ceil(next / 8) * 8;
    next = at + bytes;
    const missing = Math.ceil((next - memory.buffer.byteLength) / PAGE);
    if (missing > 0) {
      try {
        memory.grow(missing);
      } catch {
        throw new OutOfMemory(`needs ${(next / 2 ** 30).toFixed(1)} GiB of memory to work in`);
      }
    }
    return at;
  }

  function place(array) {
    const at = room(array.byteLength);
    new Uint8Array(memory.buffer).set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at);
    return at;
  }

  /** The workspace of one puzzle, and what stands behind it. */
  class Workspace {
    constructor(puzzle, asked) {
      const { height, width, rows, columns, palette } = puzzle;
      const clues = [...rows, ...columns];
      const firsts = new Int32Array(clues.length + 1);
      clues.forEach((clue, at) => (firsts[at + 1] = firsts[at] + clue.length));
      const nBlocks = firsts[clues.length];
      const [lengths, colours] = [new Int32Array(nBlocks), new Uint16Array(nBlocks)];
      let at = 0;
      for (const clue of clues) for (const [length, colour] of clue) [lengths[at], colours[at++]] = [length, colour];
      next = __heap_base.value;
      this.at = room(8 * layout.size);
      new Uint8Array(memory.buffer, this.at, 8 * layout.size).fill(0);
      this.set({ height, width, n_colours: palette.length, n_lines: clues.length, n_blocks: nBlocks, ...asked });
      this.set({ blocks: place(firsts), lengths: place(lengths), colours: place(colours) });
      this.set({ sums: room(16 * Math.max(palette.length, 2)) });
      this.cells = height * width;
      this.set({ cells: room(2 * this.cells * (2 + asked.more)), view: room(2 * this.cells) });
      this.work = next;
    }

    set(numbers) {
      const view = new BigInt64Array(memory.buffer, this.at, layout.size);
      for (const [name, number] of Object.entries(numbers)) view[places[name]] = BigInt(number);
    }

    get(name, offset = 0) {
      return Number(new BigInt64Array(memory.buffer, this.at, layout.size)[places[name] + offset]);
    }

    /** How much room so many levels of search take; false: no clue fits (see `misfit`). */
    measure(levels) {
      this.set({ levels });
      measure(this.at);
      if (this.get("verdict") !== STATUS.FITS) return false;
      this.findRoom();
      return true;
    }

    findRoom() {
      next = this.work;
      this.set({ words: room(8 * this.get("n_words")), numbers: room(8 * this.get("n_numbers")) });
    }

    grid(name, index = 0) {
      const start = this.get(name) + 2 * this.cells * index;
      return new Uint16Array(memory.buffer, start, this.cells).slice();
    }

    counts() {
      return countsOf((at) => this.get("counts", at));
    }

    begin(stages, mostVisits) {
      this.set({ stages, max_visits: mostVisits });
      begin(this.at);
      return this.get("status");
    }

    goOn(mostVisits) {
      this.set({ max_visits: mostVisits });
      go_on(this.at);
      return this.get("status");
    }

    look() {
      look(this.at);
      return this.grid("view");
    }
  }

  const countsOf = (number) => Object.fromEntries(COUNTS.map((name, at) => [name, number(at)]));
  const lineName = (line, height) => (line < height ? `row ${line + 1}` : `column ${line - height + 1}`);

  function misfit(workspace, height) {
    const [verdict, first, second] = ["verdict", "needed", "there"].map((name) => workspace.get(name));
    if (verdict >= 0) return `${lineName(verdict, height)}: the clue needs ${first} cells, the line has ${second}`;
    const [rows, columns] = [first, second].map((count) => (count < 0 ? `at least ${-count}` : `${count}`));
    return `colour ${-1 - verdict}: the rows hold ${rows} cells, the columns ${columns}`;
  }

  /** Whether a finished line shows its clue. */
  function shows(cells, clue) {
    let at = 0;
    let start = 0;
    for (let cell = 1; cell <= cells.length; cell++) {
      if (cell < cells.length && cells[cell] === cells[start]) continue;
      if (cells[start] !== 0) {
        if (at === clue.length) return false;
        const [length, colour] = clue[at++];
        if (colour !== cells[start] || (length !== 0 && length !== cell - start)) return false;
      }
      start = cell;
    }
    return at === clue.length;
  }

  /** Whether a grid obeys all clues: written apart from the kernels, and asked about every solution. */
  function obeys(puzzle, cells) {
    const { width, rows, columns } = puzzle;
    return (
      rows.every((clue, row) => shows(cells.subarray(row * width, (row + 1) * width), clue)) &&
      columns.every((clue, column) => shows(Uint16Array.from(rows, (_, row) => cells[row * width + column]), clue))
    );
  }

  /**
   * Decide one puzzle; a generator of progress {stage, counts, seconds, cells, found} that returns the result
   * {outcome, stage, witness, solutions, nSolutions, exhausted, partial, counts, seconds, nOpen, family}.
   * Whoever iterates decides how long: the search rests every SLICE milliseconds, after a node at least.
   */
  function* solving(puzzle, { seconds: most = Infinity, solutions: wanted = 2, probes = layout.probes } = {}) {
    const began = now();
    const more = Math.min(Math.max(wanted, 2), MAX_KEPT) - 2;
    const times = { line: 0, probe: 0, search: 0, solve: 0 };
    let family = "";
    const result = (outcome, rest = {}) => {
      times.solve = times.line + times.probe + times.search;
      return { outcome, witness: "", solutions: [], nSolutions: 0, exhausted: false, seconds: times, family, ...rest };
    };
    const early = (outcome, witness, exhausted) => {
      const [partial, counts] = [new Uint16Array(puzzle.height * puzzle.width).fill(OPEN_CELL), countsOf(() => 0)];
      return result(outcome, { stage: "read", witness, exhausted, partial, counts, nOpen: 0, nOpenLines: 0 });
    };
    try {
      const workspace = new Workspace(puzzle, { wanted, max_probes: probes, more });
      if (!workspace.measure(layout.levels)) return early("contradiction", misfit(workspace, puzzle.height), true);
      family = FAMILIES[workspace.get("family")];
      let start = now();
      const passed = () => (now() - start) / 1000;
      let status = workspace.begin(layout.lines, 0);
      times.line = passed();
      const progress = (stage) => ({
        stage, counts: workspace.counts(), found: workspace.get("found"), seconds: (now() - began) / 1000, cells: workspace.look(),
      });
      let levels = layout.levels;
      while (status === STATUS.OPEN || status === STATUS.FULL_STACK) {
        yield progress("line");
        if (status === STATUS.FULL_STACK && !workspace.measure((levels *= 8))) break;
        start = now();
        status = workspace.begin(layout.all, 0);
        times.probe = Math.max(passed() - times.line, 0);
        let visits = 500;
        times.search = 0;
        while (status === STATUS.SPENT) {
          yield progress("search");
          if ((now() - began) / 1000 > most) break;
          start = now();
          status = workspace.goOn(visits);
          times.search += passed();
          visits = Math.max(1, Math.round(visits * Math.min(Math.max(SLICE / (1000 * passed() + 0.1), 0.25), 4)));
        }
      }
      return result(...ending(workspace, puzzle, status, more));
    } catch (error) {
      if (!(error instanceof OutOfMemory)) throw error;
      return early("stalled", error.message, false);
    }
  }

  /** The outcome as solve.pipeline reckons it, and what goes with it. */
  function ending(workspace, puzzle, status, more) {
    const found = workspace.get("found");
    const exhausted = status === STATUS.CONTRADICTION;
    const solutions = Array.from({ length: Math.min(found, 2 + more) }, (_, at) => workspace.grid("cells", at));
    if (!solutions.every((cells) => obeys(puzzle, cells))) throw new Error("the checker refuses a solution");
    let outcome = "stalled";
    if (status === STATUS.SPENT) outcome = "timeout";
    if (found >= 2) outcome = "multiple";
    if (status === STATUS.SOLVED && found === 1) outcome = "solved";
    if (exhausted && found < 2) outcome = found ? "unique" : "contradiction";
    const stage = STAGES[workspace.get("stage")];
    const counts = workspace.counts();
    let witness = "";
    if (outcome === "contradiction" && stage === "line") {
      witness = `${lineName(counts.witness, puzzle.height)}: no layout agrees with the crossing lines`;
    }
    delete counts.witness;
    const nOpen = Math.max(workspace.get("left"), 0);
    const nOpenLines = Math.max(workspace.get("lined"), 0);
    const partial = exhausted && !found ? new Uint16Array(workspace.cells).fill(OPEN_CELL) : workspace.grid("cells");
    return [outcome, { stage, witness, solutions, nSolutions: found, exhausted, partial, counts, nOpen, nOpenLines }];
  }

  /** All of `solving` at once. */
  function solve(puzzle, options) {
    const steps = solving(puzzle, options);
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
    }
  }

  /** One line by itself: the colours that each cell may take, as bits; null when there is no layout. */
  function settle(clue, may, nColours) {
    const columns = Array.from(may, () => []);
    const puzzle = { height: 1, width: may.length, rows: [clue], columns, palette: Array(nColours) };
    const workspace = new Workspace(puzzle, { wanted: 2, max_probes: 0, more: 0 });
    workspace.measure(1);
    if (workspace.get("verdict") >= 0) return null;
    workspace.findRoom(); // the sums of rows and columns differ here, which does not matter
    new Uint16Array(memory.buffer, workspace.get("view"), may.length).set(may);
    line(workspace.at);
    return workspace.get("status") ? workspace.grid("view") : null;
  }

  return { solving, solve, settle, obeys };
}

/** What the worker does: one puzzle; then it waits to be thrown away. `solverOf` is the function above. */
function workerMain(solverOf) {
  onmessage = async ({ data: { module, layout, puzzle, options } }) => {
    try {
      const instance = await WebAssembly.instantiate(module, {});
      const steps = solverOf(instance, layout).solving(puzzle, options);
      let { done, value } = steps.next();
      while (!done) {
        postMessage({ progress: value });
        ({ done, value } = steps.next());
      }
      postMessage({ result: value });
    } catch (error) {
      postMessage({ error: String(error?.message ?? error) });
    }
  };
}

if (typeof module !== "undefined") module.exports = { solverOf, workerMain };
