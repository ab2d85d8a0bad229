// A nonogram on a canvas: clues, cells, the line that was just settled, and where two solutions differ.
//
// puzzle  {height, width, rows: [[[length, colour], ...], ...], columns: ..., palette: ["#rrggbb", ...]}
//         background first; length 0 is a blot and is shown as `?`.
// cells   Int32Array(height * width), row by row: colour indices, OPEN where nothing is known.

const OPEN = -1;
const OPEN_SHADES = ["#d8dee6", "#ffd9a0", "#ffc2d6", "#bfe8c9"];
const MARK = "#ff00ff";
const ACTIVE = "rgba(255, 190, 0, 0.28)";
const READABLE = 11; // pixels of a cell from which clue numbers are written
const LARGEST = 30;
const MAX_PIXELS = 8192; // of a side; browsers refuse larger canvases

function channels(shade) {
  const value = parseInt(shade.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** Relative luminance as WCAG 2 defines it, 0-1. */
function luminance(shade) {
  const [red, green, blue] = channels(shade).map((channel) => {
    const value = channel / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Black or white, whichever can be read on this shade. */
function textOn(shade) {
  return luminance(shade) > 0.179 ? "#000000" : "#ffffff";
}

function distance(one, other) {
  const [a, b] = [channels(one), channels(other)];
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

/** The shade of open cells: the first that no colour of the palette comes near, else the farthest. */
function openShade(palette) {
  const nearest = (shade) => Math.min(60, ...palette.map((ink) => distance(shade, ink)));
  return OPEN_SHADES.reduce((best, shade) => (nearest(shade) > nearest(best) ? shade : best));
}

/** A grid of the size of `puzzle` of which nothing is known. */
function openCells(puzzle) {
  return new Int32Array(puzzle.height * puzzle.width).fill(OPEN);
}

class Grid {
  /** canvas  drawn at the size that its parent has room for, or at `zoom` pixels a cell. */
  constructor(canvas) {
    this.canvas = canvas;
    this.bitmap = document.createElement("canvas"); // one pixel a cell
    this.puzzle = null;
    this.zoom = 0;
    this.line = -1;
    this.other = null;
    new ResizeObserver(() => this.refit()).observe(canvas.parentElement);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  /** Show another puzzle, nothing of it known. Errors: Error if a line is too long to be drawn. */
  setPuzzle(puzzle) {
    const { height, width, palette } = puzzle;
    if (Math.max(height, width) > MAX_PIXELS) throw new Error(`${height} x ${width} is too long to be drawn here`);
    this.puzzle = puzzle;
    const every = [...puzzle.rows, ...puzzle.columns].flat();
    this.left = Math.max(0, ...puzzle.rows.map((clue) => clue.length));
    this.top = Math.max(0, ...puzzle.columns.map((clue) => clue.length));
    this.longest = every.reduce((most, [length]) => Math.max(most, String(length || "?").length), 1);
    this.open = openShade(palette);
    this.inks = palette.map((shade) => packed(channels(shade)));
    this.openInk = packed(channels(this.open));
    [this.bitmap.width, this.bitmap.height] = [width, height];
    this.image = new ImageData(width, height);
    this.words = new Uint32Array(this.image.data.buffer);
    this.setCells(openCells(puzzle), false);
    this.refit(true);
  }

  /** Show these cells; `other`: a second solution, whose differences are marked; `line`: the one to point out, or -1. */
  setCells(cells, redraw = true, { other = null, line = -1 } = {}) {
    this.cells = cells;
    this.other = other;
    this.line = line;
    for (let place = 0; place < cells.length; place++) this.ink(place);
    this.bitmap.getContext("2d").putImageData(this.image, 0, 0);
    if (redraw) this.draw();
  }

  ink(place) {
    const colour = this.cells[place];
    this.words[place] = colour < 0 ? this.openInk : this.inks[colour];
  }

  /** Pixels a cell; 0: as the room allows. */
  setZoom(pixels) {
    this.zoom = pixels;
    this.refit(true);
  }

  /** Pixels a cell as it is drawn now. */
  get scale() {
    return this.size;
  }

  refit(force = false) {
    if (!this.puzzle) return;
    const { height, width } = this.puzzle;
    const room = this.canvas.parentElement.clientWidth - 2;
    const tall = Math.max(320, Math.floor(innerHeight * 0.8));
    const sides = (margin) => [width + (margin ? this.left : 0), height + (margin ? this.top : 0)];
    const fitted = (margin) => {
      const [across, down] = sides(margin);
      return Math.floor(Math.min(LARGEST, room / across, Math.max(tall / down, READABLE)));
    };
    let size = this.zoom || fitted(true);
    let clues = size >= READABLE;
    if (!this.zoom && !clues && Math.max(...sides(true)) * READABLE <= 4 * room) {
      [size, clues] = [READABLE, true]; // it scrolls, but can be read
    } else if (!this.zoom && !clues) {
      size = fitted(false);
    }
    const most = Math.floor(MAX_PIXELS / devicePixelRatio / Math.max(...sides(clues)));
    size = Math.max(1, Math.min(size, most));
    clues = clues && size >= READABLE;
    if (!force && size === this.size && clues === this.clues) return;
    [this.size, this.clues] = [size, clues];
    const [across, down] = sides(clues);
    const ratio = devicePixelRatio || 1;
    this.canvas.width = (across * size + 1) * ratio;
    this.canvas.height = (down * size + 1) * ratio;
    this.canvas.style.width = `${across * size + 1}px`;
    this.canvas.style.height = `${down * size + 1}px`;
    this.draw();
  }

  draw() {
    if (!this.puzzle) return;
    const { size, clues, puzzle } = this;
    const pen = this.canvas.getContext("2d");
    const style = getComputedStyle(this.canvas);
    pen.setTransform(devicePixelRatio || 1, 0, 0, devicePixelRatio || 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    const [x0, y0] = clues ? [this.left * size, this.top * size] : [0, 0];
    pen.imageSmoothingEnabled = false;
    pen.drawImage(this.bitmap, x0, y0, puzzle.width * size, puzzle.height * size);
    if (size >= 8) this.drawDots(pen, x0, y0);
    if (clues) this.drawClues(pen, style.color);
    this.drawActive(pen, x0, y0, clues);
    if (size >= 4) this.drawRules(pen, x0, y0, style.borderColor || style.color);
    if (this.other) this.drawMarks(pen, x0, y0);
    pen.strokeStyle = style.borderColor || style.color;
    pen.lineWidth = 1;
    pen.strokeRect(x0 + 0.5, y0 + 0.5, puzzle.width * size, puzzle.height * size);
  }

  /** Known background cells carry a dot, as people mark them. */
  drawDots(pen, x0, y0) {
    const { size, cells, puzzle } = this;
    const dot = Math.max(1, Math.round(size / 8));
    pen.fillStyle = textOn(puzzle.palette[0]) === "#000000" ? "rgba(0, 0, 0, 0.3)" : "rgba(255, 255, 255, 0.4)";
    for (let place = 0; place < cells.length; place++) {
      if (cells[place] !== 0) continue;
      const [row, column] = [Math.floor(place / puzzle.width), place % puzzle.width];
      pen.fillRect(x0 + (column + 0.5) * size - dot / 2, y0 + (row + 0.5) * size - dot / 2, dot, dot);
    }
  }

  drawClues(pen, text) {
    const { size, puzzle } = this;
    const coloured = puzzle.palette.length > 2;
    const high = Math.min(0.72, 1.45 / this.longest) * size;
    pen.font = `${high}px system-ui, sans-serif`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    const number = (x, y, [length, colour]) => {
      pen.fillStyle = text;
      if (coloured) {
        const shade = puzzle.palette[colour];
        pen.fillStyle = shade;
        pen.fillRect(x * size + 1, y * size + 1, size - 2, size - 2);
        pen.fillStyle = textOn(shade);
      }
      pen.fillText(length ? String(length) : "?", (x + 0.5) * size, (y + 0.54) * size);
    };
    puzzle.rows.forEach((clue, line) =>
      clue.forEach((block, place) => number(this.left - clue.length + place, this.top + line, block)),
    );
    puzzle.columns.forEach((clue, line) =>
      clue.forEach((block, place) => number(this.left + line, this.top - clue.length + place, block)),
    );
  }

  drawActive(pen, x0, y0, clues) {
    if (this.line < 0) return;
    const { size, puzzle, line } = this;
    pen.fillStyle = ACTIVE;
    pen.strokeStyle = "#e09000";
    pen.lineWidth = 2;
    const box =
      line < puzzle.height
        ? [clues ? 0 : x0, y0 + line * size, puzzle.width * size + (clues ? x0 : 0), size]
        : [x0 + (line - puzzle.height) * size, clues ? 0 : y0, size, puzzle.height * size + (clues ? y0 : 0)];
    pen.fillRect(...box);
    pen.strokeRect(...box);
  }

  drawRules(pen, x0, y0, shade) {
    const { size, puzzle } = this;
    for (const bold of [false, true]) {
      pen.strokeStyle = shade;
      pen.globalAlpha = bold ? 0.85 : 0.3;
      pen.lineWidth = bold && size >= 8 ? 1.5 : 1;
      pen.beginPath();
      for (let column = 0; column <= puzzle.width; column++) {
        if ((column % 5 === 0 || column === puzzle.width) !== bold) continue;
        pen.moveTo(x0 + column * size + 0.5, y0);
        pen.lineTo(x0 + column * size + 0.5, y0 + puzzle.height * size);
      }
      for (let row = 0; row <= puzzle.height; row++) {
        if ((row % 5 === 0 || row === puzzle.height) !== bold) continue;
        pen.moveTo(x0, y0 + row * size + 0.5);
        pen.lineTo(x0 + puzzle.width * size, y0 + row * size + 0.5);
      }
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  /** A cell in which the solutions differ shows both colours, parted by its diagonal, in a frame. */
  drawMarks(pen, x0, y0) {
    const { size, puzzle, cells, other } = this;
    pen.lineWidth = Math.max(1, Math.round(size / 10));
    pen.strokeStyle = MARK;
    for (let place = 0; place < cells.length; place++) {
      if (cells[place] === other[place]) continue;
      const x = x0 + (place % puzzle.width) * size;
      const y = y0 + Math.floor(place / puzzle.width) * size;
      if (size < 4) {
        pen.fillStyle = MARK;
        pen.fillRect(x, y, size, size);
        continue;
      }
      pen.fillStyle = other[place] < 0 ? this.open : puzzle.palette[other[place]];
      pen.beginPath();
      pen.moveTo(x + size, y);
      pen.lineTo(x + size, y + size);
      pen.lineTo(x, y + size);
      pen.fill();
      const inset = pen.lineWidth / 2 + 0.5;
      pen.strokeRect(x + inset, y + inset, size - 2 * inset, size - 2 * inset);
    }
  }
}

/** A pixel of an ImageData as the word that holds it on this (little-endian) machine. */
function packed([red, green, blue]) {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

export { Grid, OPEN, openCells };
