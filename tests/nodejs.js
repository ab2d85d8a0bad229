// Runs the scripts of the page in node: one JSON task a line on stdin, one solution a line on stdout.
// node nodejs.js FOLDER, where FOLDER is what `pnono web build` writes.

"use strict";

const fs = require("node:fs");
const path = require("node:path");

const folder = process.argv[2];
const { solverOf } = require(path.join(folder, "solver.js"));
const { parserOf } = require(path.join(folder, "parse.js"));
const layout = JSON.parse(fs.readFileSync(path.join(folder, "layout.js"), "utf8").replace(/^[^{]*|;\s*$/g, ""));
const module_ = new WebAssembly.Module(fs.readFileSync(path.join(folder, "pnono.wasm")));
const solver = solverOf(new WebAssembly.Instance(module_, {}), layout);
const parser = parserOf(layout);

const DO = {
  module: () => ({
    imports: WebAssembly.Module.imports(module_),
    exports: WebAssembly.Module.exports(module_).map(({ name }) => name),
  }),
  solve: ({ puzzle, options }) => {
    let n_rests = 0;
    const steps = solver.solving(puzzle, options);
    let step = steps.next();
    for (; !step.done; step = steps.next()) n_rests++;
    const result = step.value;
    result.solutions = result.solutions.map((cells) => [...cells]);
    return { ...result, partial: [...result.partial], nRests: n_rests };
  },
  line: ({ clue, cells, nColours }) => {
    const settled = solver.settle(clue, cells, nColours);
    return settled && [...settled];
  },
  parse: ({ text }) => {
    try {
      return parser.parse(text);
    } catch (error) {
      if (!(error instanceof parser.InvalidPuzzle)) throw error;
      return { error: error.message };
    }
  },
  write: ({ text }) => parser.write(parser.parse(text).puzzles[0]),
};

for (const line of fs.readFileSync(0, "utf8").split("\n")) {
  if (!line) continue;
  const task = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(DO[task.do](task))}\n`);
}
