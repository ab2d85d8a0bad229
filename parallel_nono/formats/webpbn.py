"""webpbn's XML (`pbn` DTD 0.1 to 0.3): puzzles with colours, one or many in a `<puzzleset>`.

No DTD is loaded and no entity may be declared; named characters such as `&eacute;` are put in by us. Colours go by
name: 0 is `backgroundcolor`, numbers without a colour have `defaultcolor`. An empty line is `<line/>`;
`<count>0</count>` is a blot, a block of unknown length, though some programs mean an empty line by a lone one. A puzzle
with a goal only gets its clues from it. Saved games are no solutions. What the DTD does not know is an error among the
clues; elsewhere it is a fact if it is text, else a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ..puzzle import BLACK_AND_WHITE, BLOT, Block, Clue, Colour, Grid, InvalidPuzzle, Palette, Puzzle, letter
from . import Format, Packed, Parsed
from .common.safexml import Element, Events, Unknown, escaped
from .common.shades import shade
from .common.text import BLOT_TEXT, clues_of_goal, labelled, length_of, make, shown, sizes, used, wrong

TITLE = "webpbn XML"
START = re.compile(r"<(?:puzzleset|puzzle|!DOCTYPE\s+pbn|nonogram\s+matrix)\b", re.IGNORECASE)
FACTS = ("source", "id", "title", "author", "authorid", "copyright", "description", "note")
COLOUR = re.compile(r"<color name=\"([^\"]*+)\" char=\"([^\"]*+)\">([^<]*+)<")
ATTRIBUTE = re.compile(r"([a-z]+)=\"([^\"]*+)\"")

LEAST = len("<puzzle>" + 2 * '<clues type="rows"><line/></clues>')
"""Characters of less than the shortest puzzle."""

_FACT, _CLUES = Element(text=True), frozenset(("rows", "columns", "row", "column"))
GRAMMAR = dict.fromkeys(FACTS, _FACT) | {
    "puzzleset": Element(frozenset((*FACTS, "puzzle"))),
    "puzzle": Element(
        frozenset((*FACTS, "color", "clues", "solution")),
        frozenset(("type", "backgroundcolor", "defaultcolor")),
    ),
    "color": Element(attributes=frozenset(("name", "char")), text=True),
    "clues": Element(frozenset(("line",)), frozenset(("type",)), strict=True),
    "line": Element(frozenset(("count",)), strict=True),
    "count": Element(attributes=frozenset(("color",)), text=True, strict=True),
    "solution": Element(frozenset(("image", "note")), frozenset(("type", "id"))),
    "image": Element(text=True),
}


def sniff(text: str) -> bool:
    return START.search(text[:4000]) is not None


def pack(texts: Sequence[bytes]) -> Packed:
    from ..kernels.xml import NAMES, webpbn
    from .common.quick import pack

    return pack(webpbn, texts, LEAST, NAMES, labels=True, facts=True, said=_said, declared=_declared)


def _said(text: str) -> str:
    """The text of an element."""
    if "&" in text:
        from html import unescape

        text = unescape(text)
    return " ".join(text.split())


def _declared(attributes: str, colours: str) -> Palette | None:
    """The colours of a puzzle, of the attributes of `<puzzle>` and of its elements `<color>`."""
    draft = _Draft(0, dict(ATTRIBUTE.findall(attributes)))
    draft.colours = [(0, {"name": name, "char": char}, shade) for name, char, shade in COLOUR.findall(colours)]
    try:
        return _palette(draft, "")[0]
    except InvalidPuzzle:
        return None


@dataclass(slots=True)
class _Draft:
    """A `<puzzle>` as it stands in the file."""

    line: int
    attributes: dict[str, str]
    facts: dict[str, str] = field(default_factory=dict)
    colours: list[tuple[int, dict[str, str], str]] = field(default_factory=list)
    sides: dict[str, list[list[tuple[int, str | None, str]]]] = field(default_factory=dict)
    goals: list[tuple[int, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    problem: InvalidPuzzle | None = None


class _Reader:
    """Collects drafts from the events of the XML parser."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.drafts: list[_Draft | InvalidPuzzle] = []
        self.facts: dict[str, str] = {}
        self.warnings: list[str] = []
        self.open: list[str] = []
        self.attributes: list[dict[str, str]] = []
        self.draft: _Draft | None = None
        self.side: list[list[tuple[int, str | None, str]]] | None = None
        self.events = Events(source, self.start, self.end, GRAMMAR, self.unknown)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        line = self.events.place
        if not self.open and name == "nonogram":
            raise InvalidPuzzle(
                f"{self.source}:{line}: Simpson's XML draft (<nonogram>) is not supported, only his .non"
            )
        if not self.open and name not in ("puzzleset", "puzzle"):
            raise wrong(self.source, line, "<puzzleset> or <puzzle>", f"<{name}>")
        self.open.append(name)
        self.attributes.append(attributes)
        if name == "puzzle":
            self.draft = _Draft(line, attributes)
        elif name == "clues" and self.draft is not None:
            self.side = self._side(self.draft, attributes.get("type", ""), line)
        elif name == "line" and self.side is not None:
            self.side.append([])

    def _side(self, draft: _Draft, kind: str, line: int) -> list[list[tuple[int, str | None, str]]]:
        """The clues of one side, to be filled."""
        key = kind.lower().removesuffix("s") + "s"
        if kind.lower() not in _CLUES:
            problem = wrong(self.source, line, '<clues type="rows"> or <clues type="columns">', kind or "no type")
            draft.problem = draft.problem or problem
        elif key in draft.sides:
            draft.problem = draft.problem or wrong(self.source, line, f'one <clues type="{key}">', "a second one")
        return draft.sides.setdefault(key, [])

    def end(self, name: str, text: str) -> None:
        self.open.pop()
        attributes = self.attributes.pop()
        parent = self.open[-1] if self.open else ""
        line = self.events.place
        draft = self.draft
        if draft is None:
            if parent == "puzzleset" and name in FACTS:
                self.facts[name] = " ".join(text.split())
        elif name == "puzzle":
            self.drafts.append(draft)
            self.draft = self.side = None
        elif name == "clues":
            self.side = None
        elif name == "count" and self.side:
            self.side[-1].append((line, attributes.get("color"), text.strip()))
        elif name == "color" and parent == "puzzle":
            draft.colours.append((line, attributes, text.strip()))
        elif name == "image" and parent == "solution":
            kind = self.attributes[-1].get("type", "goal")
            if kind.lower() in ("goal", "solution"):
                draft.goals.append((line, text))
            elif kind.lower() != "saved":
                draft.warnings.append(f"line {line}: a solution of type {shown(kind)} is not known: left aside")
        elif parent == "puzzle" and name in FACTS:
            draft.facts[name] = " ".join(text.split())

    def unknown(self, found: Unknown) -> None:
        """An error among clues, and where a whole puzzle may be meant; else a fact or a warning."""
        draft = self.draft
        if found.strict and draft is not None:
            draft.problem = draft.problem or found.problem(self.source, GRAMMAR)
        elif found.fact and found.parent in ("puzzle", "puzzleset"):
            facts = self.facts if draft is None else draft.facts
            facts.setdefault(*found.fact)
        elif draft is None and found.has_children:
            self.drafts.append(found.problem(self.source, GRAMMAR))
        else:
            (self.warnings if draft is None else draft.warnings).append(found.warning())


def parse(text: str, source: str) -> Parsed:
    reader = _Reader(source)
    index = 0
    for problem in reader.events.feed(text):
        for draft in reader.drafts:
            index += 1
            if isinstance(draft, InvalidPuzzle):
                yield InvalidPuzzle(str(draft), name=labelled(source, "", index, False), index=index)
                continue
            name = draft.facts.get("title") or labelled(source, draft.facts.get("id", ""), index, index == 1)
            draft.warnings += reader.warnings
            try:
                yield _puzzle(draft, reader.facts, source, name, index)
            except InvalidPuzzle as error:
                yield InvalidPuzzle(str(error), name=name, index=index)
        reader.drafts.clear()
        if problem:
            raise problem
    if not index:
        raise wrong(source, 0, "a <puzzle>", "none in the file")


def _puzzle(draft: _Draft, common: dict[str, str], source: str, name: str, index: int) -> Puzzle:
    kind = draft.attributes.get("type", "grid").lower()
    if kind != "grid":
        raise InvalidPuzzle(f"{source}:{draft.line}: puzzles of type {shown(kind)} are not supported, only `grid`")
    if draft.problem:
        raise draft.problem
    palette, places, default = _palette(draft, source)
    warnings = draft.warnings
    background = palette[0].name
    if all(attributes.get("name") != background for _, attributes, _ in draft.colours) and shade(background) is None:
        warnings.append(f"no <color> declares the background {shown(background)}: shown as white")
    goal = _goal(draft, palette, source, warnings)
    sides: dict[str, list[Clue] | None] = {}
    zeros: list[int] = []
    for key in ("rows", "columns"):
        lines = draft.sides.get(key)
        sides[key] = None if lines is None else [_clue(line, places, default, source) for line in lines]
        zeros += [line[0][0] for line in lines or () if len(line) == 1 and line[0][2].strip("0") == ""]
    if zeros:
        more = f" and {len(zeros) - 1} more" if len(zeros) > 1 else ""
        read = "a lone count of 0 is read as a block of unknown length, though some programs mean an empty line"
        warnings.append(f"line {min(zeros)}{more}: {read}")
    rows, columns = sides["rows"], sides["columns"]
    if not rows and not columns and goal is not None:
        rows, columns = (list(side) for side in clues_of_goal(goal))
    if not rows or not columns:
        missing = "rows" if not rows else "columns"
        raise wrong(source, draft.line, f'<clues type="{missing}"> with lines, or a goal', "none")
    sizes(len(rows), len(columns), source, draft.line)
    if goal is not None and (len(goal), len(goal[0])) != (len(rows), len(columns)):
        raise wrong(
            source,
            draft.line,
            f"a goal {len(columns)} wide and {len(rows)} high",
            f"one {len(goal[0])} wide and {len(goal)} high",
        )
    palette, rows, columns, goal = used(palette, rows, columns, goal)
    facts = tuple((common | draft.facts).items())
    return make(
        rows, columns, source, palette=palette, name=name, index=index, metadata=facts, goal=goal, warnings=warnings
    )


def _palette(draft: _Draft, source: str) -> tuple[tuple[Colour, ...], dict[str, int], str]:
    """Colours, background first, then the default; their places by name; the name of the default."""
    background = draft.attributes.get("backgroundcolor", "white")
    default = draft.attributes.get("defaultcolor", "black")
    known: dict[str, Colour] = {}
    for line, attributes, text in draft.colours:
        title = attributes.get("name", "")
        if "/" in text or "\\" in text:
            raise InvalidPuzzle(f"{source}:{line}: triangles (cells of two colours) are not supported")
        rgb = shade(text)
        if rgb is None:
            raise wrong(source, line, "a shade of 3 or 6 hex digits", text)
        if not title:
            raise wrong(source, line, 'a colour with a name, <color name="red">', "none")
        char = attributes.get("char", "")
        known.setdefault(title, Colour(title, char[:1], rgb))
    for title, given in ((background, BLACK_AND_WHITE[0]), (default, Colour("black", "X", 0))):
        if title not in known and (title == given.name or title == background):
            rgb = shade(title)
            known[title] = Colour(title, given.char, given.rgb if rgb is None else rgb)
    names = list(dict.fromkeys(title for title in (background, default, *known) if title in known))
    places = {title: place for place, title in enumerate(names)}
    palette = []
    for place, title in enumerate(names):
        colour = known[title]
        palette.append(colour if colour.char else colour._replace(char=letter(place, len(names))))
    return tuple(palette), places, default


def _clue(counts: list[tuple[int, str | None, str]], places: dict[str, int], default: str, source: str) -> Clue:
    clue = []
    for line, title, text in counts:
        title = default if title is None else title
        place = places.get(title)
        if place is None:
            raise wrong(source, line, "a colour that some <color> declares", title)
        length = BLOT if text == BLOT_TEXT else length_of(text, source, line)  # a count of 0 is a blot too
        if place == 0:
            raise wrong(source, line, "a colour that is not the background", title)
        clue.append(Block(length, place))
    return tuple(clue)


def _goal(draft: _Draft, palette: tuple[Colour, ...], source: str, warnings: list[str]) -> Grid | None:
    """The first goal; None, with a warning, where it leaves cells open."""
    if not draft.goals:
        return None
    line, text = draft.goals[0]
    if len(draft.goals) > 1:
        warnings.append(f"{len(draft.goals)} goals in the file: the first is kept")
    chars: dict[str, int] = {}
    for place, colour in enumerate(palette):
        chars.setdefault(colour.char, place)
    rows = []
    for piece in _rows(text, " " in chars):
        row = []
        for cell in re.findall(r"\[([^\]]*)\]|(.)", piece, re.DOTALL):
            options = cell[0] or cell[1]
            known = chars.get(options) if len(options) == 1 else None
            if known is None and options != "?" and len(options) == 1:
                raise wrong(source, line, "characters of colours in the goal", options)
            row.append(-1 if known is None else known)
        rows.append(tuple(row))
    if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        raise wrong(source, line, "a goal with rows of one length between `|`", f"{len(rows)} rows")
    if any(-1 in row for row in rows):
        warnings.append("the goal leaves cells open: left aside")
        return None
    return tuple(rows)


def _rows(text: str, blank_is_cell: bool) -> Iterator[str]:
    """The rows of an image: what stands between bars, white space taken out unless a blank is a colour."""
    pieces = text.split("|")
    inside = pieces[1::2] if not any(piece.strip() for piece in pieces[::2]) else pieces
    for piece in inside:
        row = re.sub(r"[\n\t]", "", piece) if blank_is_cell else "".join(piece.split())
        if row:
            yield row


def write(puzzles: Iterable[Puzzle]) -> str:
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<!DOCTYPE pbn SYSTEM "https://webpbn.com/pbn-0.3.dtd">']
    lines.append("<puzzleset>")
    for puzzle in puzzles:
        names, chars = _distinct(puzzle)
        lines.append(f'<puzzle type="grid" backgroundcolor="{escaped(names[0])}" defaultcolor="{escaped(names[1])}">')
        facts = {key: value for key, value in puzzle.metadata if key in FACTS}
        facts.setdefault("author", dict(puzzle.metadata).get("by", ""))
        facts["title"] = puzzle.name
        lines += [f"<{key}>{escaped(facts[key])}</{key}>" for key in FACTS if facts.get(key)]
        for name, char, colour in zip(names, chars, puzzle.palette, strict=True):
            lines.append(f'<color name="{escaped(name)}" char="{escaped(char)}">{colour.rgb:06x}</color>')
        counts = [
            f"<count{'' if c == 1 else f' color={chr(34)}{escaped(name)}{chr(34)}'}>" for c, name in enumerate(names)
        ]
        for kind, clues in (("columns", puzzle.columns), ("rows", puzzle.rows)):
            lines.append(f'<clues type="{kind}">')
            for clue in clues:
                lines.append("<line>" + "".join(f"{counts[b.colour]}{b.length}</count>" for b in clue) + "</line>")
            lines.append("</clues>")
        if puzzle.goal is not None:
            lines += ['<solution type="goal">', "<image>"]
            lines += ["|" + "".join(escaped(chars[cell]) for cell in row) + "|" for row in puzzle.goal]
            lines += ["</image>", "</solution>"]
        lines.append("</puzzle>")
    lines.append("</puzzleset>")
    return "\n".join(lines) + "\n"


def _distinct(puzzle: Puzzle) -> tuple[list[str], list[str]]:
    """A name and a character for each colour, no two alike; the palette's own where they serve."""
    names = [" ".join(escaped(colour.name).split()) and colour.name for colour in puzzle.palette]
    if len(set(names)) < len(names) or not all(names) or any(name != " ".join(name.split()) for name in names):
        names = ["background", *(f"colour {c}" for c in range(1, puzzle.n_colours))]
    chars = [colour.char for colour in puzzle.palette]
    if len(set(chars)) < len(chars) or any(len(c) != 1 or c in " |?[]" or not c.isprintable() for c in chars):
        chars = [letter(c, puzzle.n_colours) for c in range(puzzle.n_colours)]
    return names, chars


FORMAT = Format(
    "webpbn",
    "webpbn's XML: a <puzzleset> of puzzles with colours, goals and facts",
    (".xml", ".pbn"),
    sniff,
    parse,
    write,
    pack,
    colours=True,
    several=True,
    blots=True,
    first="<",
)
