// Text to puzzles, and back: JSON, `.non`, `.nin`, `.g` and game ids of Pattern, by the rules of parallel_nono/formats.
// A classic script, see solver.js.

"use strict";

function parserOf(layout) {
  const MAX_LINE = 200_000;
  const MAX_CELLS = 4_000_000; // fewer than elsewhere: a page draws them
  const MAX_SHOWN = 60;
  const [WHITE, BLACK] = [0xffffff, 0x000000];

  /** The text is no puzzle; the message says where, what was expected, what was found. */
  class InvalidPuzzle extends Error {}

  function wrong(line, hope, found) {
    // eslint-disable-next-line no-control-regex
    const text = String(found).slice(0, 4 * MAX_SHOWN).replace(/[\x00-\x1f\x7f-\x9f]+/g, " ");
    const short = text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}...`;
    return new InvalidPuzzle(`${line ? `line ${line}: ` : ""}expected ${hope}, found \`${short}\``);
  }

  const grouped = (number) => number.toLocaleString("en");
  const EMPTY_TEXTS = new Set(["0", ..."-\u2010\u2011\u2012\u2013\u2014\u2212", "[]", "[0]", "()", '""', "''"]);
  const EMPTY_LINE =
    /^[ \t]*(?:[\u2010-\u2014\u2212-]|\[[ \t]*0?[ \t]*\]|\([ \t]*0?[ \t]*\)|""|'')[ \t]*$/gm;

  const words = (text) => text.split(/\s+/).filter(Boolean);
  const numbered = (text) => text.replace(/\n$/, "").split("\n").map((line, at) => [at + 1, line.trim()]);

  function number(word, line, hope) {
    if (!/^[0-9]{1,9}$/.test(word)) throw wrong(line, hope, word);
    return Number(word);
  }

  function lengthOf(word, line) {
    const length = number(word, line, `block lengths up to ${grouped(MAX_LINE)}`);
    if (length > MAX_LINE) throw wrong(line, `block lengths up to ${grouped(MAX_LINE)}`, word);
    return length;
  }

  /** True for the words of a clue that are a sign for an empty line, such as `-` or `[ 0 ]`. */
  const saysEmpty = (parts) =>
    parts.length < 4 && EMPTY_TEXTS.has(parts.join("")) && (parts.length < 2 || "[(".includes(parts[0]));

  /** A clue of [length as text, colour] pairs: `?` is a blot, a lone `0` or another sign an empty line. */
  function clueOf(parts, line, text) {
    if (saysEmpty(parts.map(([word]) => word))) return [];
    const clue = parts.map(([word, colour]) => [word === "?" ? 0 : lengthOf(word, line), colour]);
    if (!parts.some(([word], at) => word !== "?" && clue[at][0] === 0)) return clue;
    if (clue.length > 1) throw wrong(line, "`0` alone or lengths from 1", text);
    return [];
  }

  const blackClue = (parts, line) => clueOf(parts.map((word) => [word, 1]), line, parts.join(" "));

  function sizes(height, width, line) {
    if (Math.min(height, width) < 1 || Math.max(height, width) > MAX_LINE || height * width > MAX_CELLS) {
      const hope = `a width and a height from 1 to ${grouped(MAX_LINE)} and at most ${grouped(MAX_CELLS)} cells`;
      throw wrong(line, hope, `${width} wide and ${height} high`);
    }
  }

  /** 0xRRGGBB of `#rrggbb`, `rgb`, `r, g, b` or a name; null if it is none of them. */
  function shade(text) {
    const found = /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6}|[0-9a-fA-F]{12})$/.exec(text.trim());
    if (found) {
      let digits = found[1];
      if (digits.length === 3) digits = digits.replace(/./g, "$&$&");
      if (digits.length === 12) digits = digits.slice(0, 2) + digits.slice(4, 6) + digits.slice(8, 10);
      return parseInt(digits, 16);
    }
    const triple = /^\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*$/.exec(text);
    if (triple) {
      const channels = triple.slice(1).map(Number);
      return Math.max(...channels) < 256 ? channels.reduce((rgb, channel) => (rgb << 8) | channel) : null;
    }
    const name = text.toLowerCase().replaceAll(" ", "");
    return Object.hasOwn(layout.shades, name) ? layout.shades[name] : null;
  }

  const distinct = (ink) => layout.apart[(ink - 1) % layout.apart.length];
  const blackAndWhite = () => [{ name: "white", rgb: WHITE }, { name: "black", rgb: BLACK }];

  function make(rows, columns, palette, name, warnings = []) {
    sizes(rows.length, columns.length, 0);
    return { height: rows.length, width: columns.length, rows, columns, palette, name: name.trim(), warnings };
  }

  /** The `wanted` lines that hold clues: those with something in them, or the first as they stand. */
  function clueLines(lines, wanted, what) {
    const full = lines.filter(([, text]) => text);
    if (full.length === wanted) return full;
    if (full.length < wanted && wanted <= lines.length && !lines.slice(wanted).some(([, text]) => text)) {
      return lines.slice(0, wanted);
    }
    const at = full.length > wanted ? full[wanted][0] : lines.length ? lines[0][0] : 0;
    throw wrong(at, `${wanted} lines of ${what} clues`, `${full.length} lines`);
  }

  const clueWords = (text) => words(text.replaceAll(",", " "));

  // `.nin`: `W H`, row clues, column clues.

  function sniffNin(text) {
    if (text.includes("#")) return false;
    const found = /^\s*([0-9]{1,6})[ \t]+([0-9]{1,6})[ \t]*\n[0-9 \t,?]*(\n|$)/.exec(text);
    if (!found) return false;
    const wanted = Number(found[1]) + Number(found[2]);
    const lines = text.replace(/^\s+/, "").split("\n").slice(1);
    const full = lines.filter((line) => line.trim()).length;
    return lines.length - (lines.at(-1) === "") === wanted || (lines.length + 1 >= wanted && full === wanted);
  }

  function* parseNin(text) {
    const lines = numbered(text);
    const start = lines.findIndex(([, line]) => line);
    if (start < 0) throw wrong(0, "a puzzle", "an empty file");
    const [[place, header], ...rest] = lines.slice(start);
    const hope = "the width and the height";
    if (words(header).length !== 2) throw wrong(place, hope, header);
    const [width, height] = words(header).map((word) => number(word, place, hope));
    sizes(height, width, place);
    const full = rest.filter(([, line]) => line);
    const read = (some) => some.map(([at, line]) => blackClue(clueWords(line), at));
    const warnings = [];
    let clues;
    if (full.length > height + width) {
      clues = read(full.slice(0, height + width));
      const sum = (side) => side.flat().reduce((total, [length]) => total + length, 0);
      if (sum(clues.slice(0, height)) !== sum(clues.slice(height))) {
        throw wrong(full[height + width][0], `the end after ${height} + ${width} clues`, "more lines");
      }
      warnings.push(`${full.length - height - width} lines after the last clue are left aside`);
    } else {
      clues = read(clueLines(rest, height + width, `row and column (${height} + ${width})`));
    }
    yield make(clues.slice(0, height), clues.slice(height), blackAndWhite(), "", warnings);
  }

  // Game ids of Pattern: `WxH:` column clues, row clues.

  const sniffSgt = (text) =>
    /([ \t]*(#[^\n]*)?\n)*([^\t\n]*\t)?[ ]*[0-9]+(x[0-9]+)?(:[0-9?./]*(,[a-zA-Z]*)?|#[^\n]*)[ \t]*$/my.test(text);

  function* parseSgt(text) {
    for (const [place, line] of numbered(text)) {
      if (!line || line.startsWith("#")) continue;
      yield attempt(line.includes("\t") ? line.slice(0, line.lastIndexOf("\t")) : "", () => gameId(line, place));
    }
  }

  function gameId(line, place) {
    const at = line.lastIndexOf("\t");
    const id = line.slice(at + 1).trim();
    const [size, ...tail] = id.split(":");
    if (!tail.length && id.includes("#")) {
      throw wrong(place, "a descriptive id `WxH:clues` (a seed only tells the game how to make one)", id);
    }
    if (!tail.length) throw wrong(place, "a game id such as `3x2:1/1/1/2/1`", id);
    const [first, ...second] = size.split("x");
    const width = number(first, place, "a size such as `5x4`");
    const height = second.length ? number(second.join("x"), place, "a size such as `5x4`") : width;
    sizes(height, width, place);
    const body = tail.join(":").replace(/,[a-zA-Z]*$/, "");
    const parts = body.split("/");
    if (parts.length !== width + height) {
      throw wrong(place, `${width} column and ${height} row clues`, `${parts.length} clues`);
    }
    const clues = parts.map((part) => blackClue(part ? part.split(".") : [], place));
    const given = body === tail.join(":") ? [] : ["the given cells after the comma are left aside"];
    return make(clues.slice(width), clues.slice(0, width), blackAndWhite(), line.slice(0, Math.max(at, 0)), given);
  }

  // `.g`: `#d` colours, `:` row clues, `:` column clues, `:`.

  function sniffGrid(text) {
    const lines = text.split("\n");
    const starts = lines.flatMap((line, at) => (line[0] === ":" ? [at] : []));
    if (starts.length < 2) return starts.length > 0 && lines.some((line) => /^#[dDtT]/.test(line));
    return !lines.slice(starts[0] + 1, starts[1]).some((line) => /^[ \t]*\p{L}/u.test(line));
  }

  function* parseGrid(text) {
    const lines = text.split("\n").map((line) => (line[0] === ":" ? line.trimEnd() : line));
    const ends = lines.flatMap((line, at) => (line[0] === ":" ? [at] : []));
    const head = lines.slice(0, ends[0] ?? lines.length);
    head.forEach((line, at) => {
      if (/^#[tT]/.test(line)) {
        const why = "triddlers (`#t`, triangular cells) are not supported, only rows and columns";
        throw new InvalidPuzzle(`line ${at + 1}: ${why}`);
      }
    });
    if (!ends.length) throw wrong(0, "a line that starts with `:` before the row clues", "none");
    const [suffixes, palette] = gridColours(head);
    if (ends.length < 2) throw wrong(ends[0] + 1, "a second line that starts with `:` before the column clues", "none");
    if (ends.length > 3) {
      const third = lines.slice(ends[2] + 1, ends[3]).findIndex((line) => /^([0-9]+|\?)/.test(line.trim()));
      if (third >= 0) throw new InvalidPuzzle(`line ${ends[2] + 2 + third}: triddlers (more than two sides) are not supported`);
    }
    let last = ends[2] ?? lines.length;
    while (ends.length === 2 && last > ends[1] + 1 && !lines[last - 1].trim()) last--;
    sizes(ends[1] - ends[0] - 1, last - ends[1] - 1, ends[0] + 1);
    const clue = (start) => (line, at) => gridClue(line, start + 2 + at, suffixes);
    const side = (start, end) => lines.slice(start + 1, end).map(clue(start));
    const [rows, columns] = [side(ends[0], ends[1]), side(ends[1], last)];
    yield make(...used(rows, columns, palette), "");
  }

  function gridColours(head) {
    const start = head.findIndex((line) => /^#[dD]/.test(line));
    const suffixes = new Map();
    const palette = [{ name: "white", rgb: WHITE }];
    head.slice(start + 1).forEach((line, at) => {
      if (start < 0 || !line.trim()) return;
      const place = start + 2 + at;
      const found = /^[ \t]*([^\s:]|:(?=:)):(.)[ \t]*(\S+)[ \t]*(.*)$/u.exec(line.replace(/\s+$/, " "));
      if (!found) throw wrong(place, "a colour such as `a:#  #ff0000  red`", line.trim());
      const [, suffix, , word, comment] = found;
      if (/[/\\]/.test(word) || "/\\".includes(suffix)) {
        throw new InvalidPuzzle(`line ${place}: triangles (cells of two colours) are not supported`);
      }
      const rgb = shade(word);
      const name = word.startsWith("#") && words(comment).length ? words(comment)[0] : word;
      if (suffix === "0") {
        palette[0] = { name, rgb: rgb ?? WHITE };
        return;
      }
      const key = suffix === "1" ? "" : suffix;
      if (suffixes.has(suffix) || suffixes.has(key) || /[02-9]/.test(suffix)) {
        throw wrong(place, "another character before each colon, no digit but 0 and 1", line.trim());
      }
      suffixes.set(key, palette.length);
      palette.push({ name, rgb: rgb ?? BLACK });
    });
    return palette.length > 1 ? [suffixes, palette] : [new Map([["", 1]]), blackAndWhite()];
  }

  function gridClue(text, place, suffixes) {
    const line = text.replaceAll(",", " ").trim();
    if (saysEmpty(words(line))) return [];
    const parts = [];
    const token = /([0-9]+|\?)([^\s0-9,?]?)[ \t]*/uy;
    while (token.lastIndex < line.length) {
      const found = token.exec(line);
      if (!found) throw wrong(place, "numbers with the suffix of a colour", line);
      const [whole, length, suffix] = found;
      if (!suffixes.has(suffix)) {
        if (suffix && "/\\".includes(suffix)) {
          throw new InvalidPuzzle(`line ${place}: triangles (cells of two colours) are not supported`);
        }
        const known = [...suffixes.keys()].filter(Boolean).join(", ") || "none";
        throw wrong(place, `a colour among ${known} behind each number`, whole.trim());
      }
      parts.push([length, suffixes.get(suffix)]);
    }
    return clueOf(parts, place, line);
  }

  /** [rows, columns, palette] without the inks that no clue uses. */
  function used(rows, columns, palette) {
    const inks = new Set([...rows, ...columns].flat().map(([, colour]) => colour));
    const kept = [...palette.keys()].filter((colour) => colour === 0 || inks.has(colour));
    if (kept.length === 1 && palette.length > 1) kept.push(1);
    const turned = (clues) => clues.map((clue) => clue.map(([length, colour]) => [length, kept.indexOf(colour)]));
    return [turned(rows), turned(columns), kept.map((colour) => palette[colour])];
  }

  // `.non`: words and sections; colours; bundles with `====` between puzzles.

  function sniffNon(text) {
    const found = text.match(/^(?:(width|height|rows|columns)[ \t]+[0-9]+|rows|columns)[ \t]*$/gm) ?? [];
    return found.length >= 3 || (found.length === 2 && /^(?:width|height)[ \t]+\S/m.test(text));
  }

  function* parseNon(text) {
    let chunks = [[]];
    for (const line of numbered(text)) {
      if (/^={4,}$/.test(line[1])) chunks.push([]);
      else chunks.at(-1).push(line);
    }
    chunks = chunks.filter((chunk) => chunk.some(([, line]) => line && !line.startsWith("#")));
    if (!chunks.length) throw wrong(0, "a puzzle", "none in the file");
    for (const chunk of chunks) yield attempt("", () => nonPuzzle(chunk));
  }

  function nonPuzzle(lines) {
    const inks = { colours: [{ name: "white", rgb: WHITE }], places: new Map(), declared: new Set() };
    const sized = {};
    const sections = {};
    let name = "";
    let at = 0;
    const goesOn = (line) => /^[0-9a-zA-Z. ]+$/.test(line) && /[01.]/.test(line);
    const ends = (line) => /^\p{L}/u.test(line) && !inks.declared.has(words(line)[0]);
    while (at < lines.length) {
      const [place, line] = lines[at++];
      if (!line || line.startsWith("#")) continue;
      const word = words(line)[0];
      const value = line.slice(word.length).trim();
      let key = word.toLowerCase();
      if (["rows", "columns", "row", "column", "cols"].includes(key) && !value) {
        key = key.startsWith("r") ? "rows" : "columns";
        if (sections[key]) throw wrong(place, `one section \`${key}\``, "a second one");
        sections[key] = [];
        for (; at < lines.length && !ends(lines[at][1]); at++) {
          if (!lines[at][1].startsWith("#")) sections[key].push(lines[at]);
        }
      } else if (["width", "columns", "height", "rows"].includes(key) && value) {
        sized[key === "width" || key === "columns" ? "width" : "height"] = number(value, place, `a ${key}`);
      } else if (key === "color" || key === "colour") {
        declare(inks, value, place);
      } else if (key === "goal") {
        while (!value.startsWith('"') && at < lines.length && goesOn(lines[at][1])) at++;
      } else if (key === "title") {
        name = unquoted(value) || name;
      } else if (!/^\p{L}/u.test(word)) {
        throw wrong(place, "a word such as `title` or `rows` before its value, or clues behind it", line);
      }
    }
    const missing = ["width", "height"].filter((key) => !(key in sized));
    if (missing.length) throw new InvalidPuzzle(`expected \`width\` and \`height\`, found no ${missing.join(" and ")}`);
    const { width, height } = sized;
    sizes(height, width, 0);
    const body = Object.values(sections).flat().map(([, line]) => line).join("\n");
    const coloured = inks.colours.length > 1 || /[0-9?][A-Za-z]/.test(body);
    const warnings = [];
    const sides = [["rows", height], ["columns", width]].map(([key, wanted]) => {
      if (!sections[key]) throw new InvalidPuzzle(`expected a section \`${key}\`, found none`);
      const chosen = clueLines(sections[key], wanted, key.slice(0, -1));
      return chosen.map(([place, line]) => nonClue(line, place, inks, coloured, warnings));
    });
    const palette = coloured && inks.colours.length > 1 ? inks.colours : blackAndWhite();
    return make(sides[0], sides[1], palette, name, warnings);
  }

  function declare(inks, value, place) {
    const [sign, word] = words(value);
    const rgb = word === undefined ? null : shade(word);
    if (rgb === null) throw wrong(place, "a colour such as `color a #ff0000`", `color ${value}`);
    if (sign === "0" || sign === ".") {
      inks.colours[0] = { name: "white", rgb };
      return;
    }
    if (inks.places.has(sign)) throw wrong(place, "each colour once", `color ${value}`);
    inks.places.set(sign, inks.colours.length);
    inks.declared.add(sign);
    inks.colours.push({ name: sign, rgb });
  }

  function inkOf(inks, sign) {
    if (!inks.places.has(sign)) {
      const rgb = sign === "1" ? BLACK : distinct(inks.colours.length);
      inks.places.set(sign, inks.colours.length);
      inks.colours.push({ name: sign === "1" ? "black" : sign, rgb });
    }
    return inks.places.get(sign);
  }

  function nonClue(text, place, inks, coloured, warnings) {
    const parts = clueWords(text);
    if (!coloured) return blackClue(parts.map((word) => /^([0-9]+)[^0-9?]*$/.exec(word)?.[1] ?? word), place);
    if (saysEmpty(parts)) return [];
    const pairs = [];
    let current = "";
    for (const word of parts) {
      if (inks.declared.has(word)) {
        current = word;
        continue;
      }
      const found = /^([0-9]+|\?)([^0-9]?)/u.exec(word);
      if (!found) throw wrong(place, "lengths such as `2a` or `2`", word);
      const sign = /[\p{L}\p{N}]/u.test(found[2]) || inks.places.has(found[2]) ? found[2] : "";
      const note = "a number without a colour among others with one: taken as black";
      if (!sign && !current && !warnings.includes(note)) warnings.push(note);
      pairs.push([found[1], inkOf(inks, sign || current || "1")]);
    }
    return clueOf(pairs, place, text);
  }

  function unquoted(value) {
    if (value.length < 2 || !value.startsWith('"')) return value;
    const end = value.lastIndexOf('"');
    const inside = (end > 0 ? value.slice(1, end) : value.slice(1)).replace(/\\(.)/g, "$1");
    return inside.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&");
  }

  // JSON.

  function* parseJson(text) {
    let data;
    try {
      data = JSON.parse(text);
    } catch (error) {
      throw new InvalidPuzzle(`expected JSON, found a mistake: ${error.message}`);
    }
    if (Array.isArray(data?.puzzles)) data = data.puzzles;
    const items = Array.isArray(data) ? data : [data];
    if (!items.length) throw wrong(0, "a puzzle", "an empty list");
    for (const item of items) {
      const title = item?.name ?? item?.title;
      yield attempt(typeof title === "string" ? title : "", () => jsonPuzzle(item));
    }
  }

  const shownJson = (item) => (typeof item === "string" ? item : JSON.stringify(item) ?? String(item));
  const wrongJson = (hope, found) => wrong(0, hope, shownJson(found));

  function jsonPuzzle(item) {
    if (item === null || typeof item !== "object" || Array.isArray(item)) {
      throw wrongJson('an object such as {"rows": [[1]], "columns": [[1]]}', item);
    }
    const inks = jsonPalette(item.palette);
    const isSide = (side) => Array.isArray(side) || typeof side === "string";
    const pair = layout.pairs.find((keys) => keys.every((key) => Object.hasOwn(item, key) && isSide(item[key])));
    const title = item.name ?? item.title;
    const name = typeof title === "string" ? title : "";
    if (!pair) {
      const keys = Object.keys(item).slice(0, 8).join(", ") || "none";
      throw wrong(0, "clues under two names such as `rows` and `columns`", keys);
    }
    const warnings = [];
    const cut = (side) => side.trim().split(/[\n/;]/).map((part) => part.trim());
    let sides = pair.map((key) => (typeof item[key] === "string" ? cut(item[key]) : item[key]));
    const [read, doubt] = zerosRead(sides, pair.some((key) => /hint|clue/i.test(key)));
    sides = read;
    if (doubt) warnings.push(doubt);
    sizes(sides[0].length, sides[1].length, 0);
    const [rows, columns] = sides.map((side, which) =>
      side.map((line, at) => {
        try {
          return jsonClue(line, inks);
        } catch (error) {
          if (!(error instanceof InvalidPuzzle)) throw error;
          throw new InvalidPuzzle(`${which ? "column" : "row"} ${at + 1}: ${error.message}`);
        }
      }),
    );
    return make(rows, columns, inks.palette, name, warnings);
  }

  const AS_RUNS = "clues of 0 and 1 are read as runs";
  const AS_PADDING = "zeros beside other numbers are read as padding of clues";

  /** [sides, warning]: zeros taken for padding of clues, or for runs spelt out in 0 and 1; see formats/zeros.py. */
  function zerosRead(sides, areClues) {
    const numbers = (line) => Array.isArray(line) && line.every((n) => Number.isInteger(n) && n >= 0);
    const lines = sides.flat();
    if (!lines.some((line) => Array.isArray(line) && line.length > 1 && line.includes(0))) return [sides, ""];
    if (!lines.every(numbers)) return [sides, ""];
    const clues = sides.map(unpadded).filter(Boolean);
    const runs = (line) => line.join("").split("0").filter(Boolean).map((run) => run.length);
    const spelt = lines.flat().every((n) => n < 2) ? sides.map((side) => side.map(runs)) : null;
    if (clues.length < 2) return spelt ? [spelt, AS_RUNS] : [sides, ""];
    if (!spelt) return [clues, AS_PADDING];
    const [cluesFit, runsFit] = [clues, spelt].map(fit);
    if (runsFit && (!cluesFit || (!areClues && isPicture(...sides)))) return [spelt, AS_RUNS];
    return [clues, AS_PADDING + (runsFit ? " (they could also be runs of 0 and 1)" : "")];
  }

  /** The clues of a side without zeros; null if they are no padding to one length. */
  function unpadded(side) {
    const mixed = side.some((line) => line.length > 1 && line.includes(0));
    if (mixed && new Set(side.map((line) => line.length)).size > 1) return null;
    const first = (line) => line.slice(Math.max(line.findIndex(Boolean), 0));
    const bare = (line) => (line.some(Boolean) ? line : []);
    const last = (line) => line.slice(0, line.findLastIndex(Boolean) + 1);
    const short = [first, last].map((cut) => side.map((line) => cut(bare(line))));
    return short.find((clues) => !clues.some((clue) => clue.includes(0))) ?? null;
  }

  /** Whether sums and lengths of black clues fit. */
  function fit(sides) {
    const sum = (clue) => clue.reduce((total, length) => total + length, 0);
    const sums = sides.map((side) => sum(side.map(sum)));
    const rooms = [sides[1].length, sides[0].length];
    return sums[0] === sums[1] && sides.every((side, at) => side.every((c) => sum(c) + c.length - 1 <= rooms[at]));
  }

  const isPicture = (rows, columns) =>
    columns.every((column) => column.length === rows.length) &&
    rows.every((row, y) => row.length === columns.length && row.every((cell, x) => cell === columns[x][y]));

  function jsonPalette(given) {
    if (given === undefined || given === null) {
      return { palette: blackAndWhite(), places: new Map([["#", 1], ["black", 1]]), fixed: false };
    }
    if (!Array.isArray(given) || given.length < 2 || given.length > 65536) {
      throw wrongJson("a palette of 2 to 65,536 colours, the background first", given);
    }
    const entries = given.map((colour, at) => {
      const entry = typeof colour === "string" ? { rgb: colour, name: colour } : colour;
      const isObject = entry !== null && typeof entry === "object" && !Array.isArray(entry);
      const rgb = isObject ? shade(String(entry.rgb ?? "")) : null;
      if (rgb === null) throw wrongJson('colours such as {"name": "red", "char": "r", "rgb": "#ff0000"}', colour);
      const own = typeof entry.char === "string" && [...entry.char].length === 1;
      return { name: String(entry.name ?? `colour ${at}`), char: own ? entry.char : letter(at, given.length), rgb };
    });
    const places = new Map();
    for (const key of ["char", "name"]) {
      entries.forEach((entry, at) => places.has(entry[key]) || places.set(entry[key], at));
    }
    return { palette: entries.map(({ name, rgb }) => ({ name, rgb })), places, fixed: true };
  }

  const LETTERS = "#abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

  function letter(colour, nColours) {
    if (colour === 0) return ".";
    if (nColours === 2) return "#";
    return colour < LETTERS.length ? LETTERS[colour] : String.fromCodePoint(0x100 + colour - LETTERS.length);
  }

  function jsonInk(inks, sign) {
    if (!inks.places.has(sign)) {
      if (inks.fixed || [...sign].length !== 1) throw wrong(0, "a colour of the palette", sign);
      inks.places.set(sign, inks.palette.length);
      inks.palette.push({ name: sign, rgb: Number((BigInt(inks.palette.length) * 2654435761n) % 0xe00000n) });
    }
    return inks.places.get(sign);
  }

  function jsonClue(line, inks) {
    if (line === null) {
      const why = "a line whose clue is not given is not supported";
      throw new InvalidPuzzle(`expected a clue such as [2, 1], found \`null\`: ${why}`);
    }
    if (line === "" || line === 0) return [];
    let blocks = line;
    if (typeof line === "string") blocks = clueWords(line);
    else if (Number.isInteger(line)) blocks = [line];
    if (!Array.isArray(blocks)) throw wrongJson("a clue such as [2, 1]", line);
    const isText = blocks.length > 0 && blocks.every((word) => typeof word === "string");
    if (isText && ((blocks.length === 1 && blocks[0] === "") || saysEmpty(blocks))) return [];
    const clue = blocks.map((block) => jsonBlock(block, inks));
    if (!clue.some(([length]) => length === 0)) return clue.map(([length, colour]) => [length ?? 0, colour]);
    if (clue.length > 1) throw wrongJson("`0` alone or lengths from 1", blocks);
    return [];
  }

  /** [length, colour]; the length is null for a blot. */
  function jsonBlock(given, inks) {
    let [block, colour] = [given, 1];
    if (Array.isArray(given) && given.length === 2) {
      [block, colour] = given;
      if (typeof colour === "string") colour = jsonInk(inks, colour);
      if (!Number.isInteger(colour) || colour < 1 || colour >= inks.palette.length) {
        throw wrongJson(`a colour from 1 to ${inks.palette.length - 1}`, colour);
      }
    }
    if (block === null || block === "?") return [null, colour];
    if (typeof block === "string") {
      const found = /^\s*([0-9]+|\?)\s*(\S*)\s*$/.exec(block);
      if (!found || block.length > MAX_SHOWN || found[1].length > 9) throw wrong(0, "a number", block);
      if (found[2]) {
        colour = jsonInk(inks, found[2]);
        if (colour === 0) throw wrong(0, "a colour that is not the background", block);
      }
      if (found[1] === "?") return [null, colour];
      block = Number(found[1]);
    }
    if (!Number.isInteger(block) || block < 0 || block > MAX_LINE) {
      throw wrongJson(`block lengths from 0 to ${grouped(MAX_LINE)}`, block);
    }
    return [block, colour];
  }

  // All formats together.

  /** A puzzle, or {name, error} in its place. */
  function attempt(name, read) {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof InvalidPuzzle)) throw error;
      return { name, error: error.message };
    }
  }

  const FORMATS = [
    ["json", (text) => /^\s*[[{]/.test(text), parseJson],
    ["sgt", sniffSgt, parseSgt],
    ["non", sniffNon, parseNon],
    ["nin", sniffNin, parseNin],
    ["olsak", sniffGrid, parseGrid],
  ];

  /** {format, puzzles}: every puzzle of a text, or {name, error} in its place. Errors: InvalidPuzzle. */
  function parse(given) {
    const text = given.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
    if (!text.trim()) throw new InvalidPuzzle("expected a puzzle, found nothing");
    const plain = text.replace(EMPTY_LINE, "0");
    const format = FORMATS.find(([, sniff]) => sniff(text)) ?? FORMATS.find(([, sniff]) => sniff(plain));
    if (!format) {
      throw wrong(0, "a puzzle as .non, .nin, .g, JSON or a game id `WxH:...`", text.trim().split("\n")[0]);
    }
    return { format: format[0], puzzles: [...format[2](text)] };
  }

  /** One puzzle as `.non`, which the command line reads too. */
  function write(puzzle) {
    const { height, width, rows, columns, palette, name } = puzzle;
    const plain = palette.length === 2 && palette[0].rgb === WHITE && palette[1].rgb === BLACK;
    const signs = "0abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const most = signs.length - 1;
    if (palette.length > most + 1) throw new InvalidPuzzle(`expected at most ${most} colours, found more`);
    const hex = (rgb) => `#${rgb.toString(16).padStart(6, "0")}`;
    const block = ([length, colour]) => `${length || "?"}${plain ? "" : signs[colour]}`;
    const clue = (blocks) => blocks.map(block).join(",") || "0";
    const title = name.replace(/\s+/g, " ").replaceAll("&", "&amp;").replaceAll("\\", "\\\\").replaceAll('"', '\\"');
    const shades = plain ? [] : palette.map(({ rgb }, at) => `color ${signs[at]} ${hex(rgb)}`);
    const heading = [...(name ? [`title "${title}"`] : []), `width ${width}`, `height ${height}`, ...shades];
    return [...heading, "rows", ...rows.map(clue), "columns", ...columns.map(clue), ""].join("\n");
  }

  return { parse, write, letter, InvalidPuzzle };
}

if (typeof module !== "undefined") module.exports = { parserOf };
