"""webpbn's XML (`pbn` DTD 0.1 to 0.3): puzzles with colours, one or many in a `<puzzleset>`.

No DTD is loaded and no entity may be declared; named characters such as `&eacute;` are put in by us. Colours go by
name: 0 is `backgroundcolor`, numbers without a colour have `defaultcolor`. An empty line is `<line/>`;
`<count>0</count>` is a blotted clue. A puzzle with a goal only gets its clues from it. Saved games are no answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..puzzle import BLACK_AND_WHITE, Block, Clue, Colour, Grid, InvalidPuzzle, Puzzle, letter
from . import Format, Parsed
from .shades import shade
from .text import blotted, clues_of_goal, labelled, length_of, make, shown, sizes, used, wrong

TITLE = "webpbn XML"
START = re.compile(r"<(?:puzzleset|puzzle|!DOCTYPE\s+pbn)\b", re.IGNORECASE)
NAMED = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31});")
FACTS = ("source", "id", "title", "author", "authorid", "copyright", "description", "note")
PARTS = 1 << 16


def sniff(text: str) -> bool:
    return START.search(text[:4000]) is not None


@dataclass(slots=True)
class _Draft:
    """A `<puzzle>` as it stands in the file."""

    line: int
    attributes: dict[str, str]
    facts: dict[str, str] = field(default_factory=dict)
    colours: list[tuple[int, dict[str, str], str]] = field(default_factory=list)
    sides: dict[str, list[list[tuple[int, str | None, str]]]] = field(default_factory=dict)
    goals: list[tuple[int, str]] = field(default_factory=list)


class _Reader:
    """Collects drafts from the events of the XML parser."""

    def __init__(self, source: str) -> None:
        from xml.parsers import expat

        self.source = source
        self.drafts: list[_Draft] = []
        self.facts: dict[str, str] = {}
        self.open: list[str] = []
        self.attributes: list[dict[str, str]] = []
        self.draft: _Draft | None = None
        self.side: list[list[tuple[int, str | None, str]]] | None = None
        self.text: list[str] = []
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.text.append
        self.parser.EntityDeclHandler = self.declared
        self.parser.ExternalEntityRefHandler = self.external

    def declared(self, name: str, *_: object) -> None:
        raise wrong(self.source, self.parser.CurrentLineNumber, "a file without entity declarations", name)

    def external(self, *_: object) -> int:
        raise wrong(self.source, self.parser.CurrentLineNumber, "no external entities", "one")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.lower()
        line = self.parser.CurrentLineNumber
        if not self.open and name not in ("puzzleset", "puzzle"):
            raise wrong(self.source, line, "<puzzleset> or <puzzle>", f"<{name}>")
        self.open.append(name)
        self.attributes.append({key.lower(): value for key, value in attributes.items()})
        self.text.clear()
        if name == "puzzle":
            self.draft = _Draft(line, self.attributes[-1])
        elif name == "clues" and self.draft is not None:
            self.side = self.draft.sides.setdefault(self.attributes[-1].get("type", "").lower(), [])
        elif name == "line" and self.side is not None:
            self.side.append([])

    def end(self, name: str) -> None:
        name = self.open.pop()
        attributes = self.attributes.pop()
        parent = self.open[-1] if self.open else ""
        text = "".join(self.text)
        line = self.parser.CurrentLineNumber
        self.text.clear()
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
            if self.attributes[-1].get("type", "goal").lower() in ("goal", "solution"):
                draft.goals.append((line, text))
        elif parent == "puzzle" and name in FACTS:
            draft.facts[name] = " ".join(text.split())


def parse(text: str, source: str) -> Parsed:
    from xml.parsers import expat

    reader = _Reader(source)
    text = NAMED.sub(_character, text)
    index = 0
    problem: InvalidPuzzle | None = None
    for at in range(0, len(text), PARTS):
        try:
            reader.parser.Parse(text[at : at + PARTS], at + PARTS >= len(text))
        except expat.ExpatError as error:
            said = expat.ErrorString(error.code)
            problem = InvalidPuzzle(
                f"{source}:{error.lineno}: expected well-formed XML, found {said} (column {error.offset + 1})"
            )
        except InvalidPuzzle as error:
            problem = error
        except UnicodeEncodeError:
            problem = wrong(source, 0, "text", "characters that can't be written as UTF-8")
        for draft in reader.drafts:
            index += 1
            name = draft.facts.get("title") or labelled(source, draft.facts.get("id", ""), index, index == 1)
            try:
                yield _puzzle(draft, reader.facts, source, name, index)
            except InvalidPuzzle as error:
                yield InvalidPuzzle(str(error), name=name, index=index)
        reader.drafts.clear()
        if problem:
            raise problem
    if not index:
        raise wrong(source, 0, "a <puzzle>", "none in the file")


def _character(found: re.Match[str]) -> str:
    """A named character of HTML as itself; those of XML and unknown ones stay for the parser."""
    name = found[1]
    if name in ("amp", "lt", "gt", "quot", "apos"):
        return found[0]
    from html.entities import html5

    return html5.get(name + ";", found[0])


def _puzzle(draft: _Draft, common: dict[str, str], source: str, name: str, index: int) -> Puzzle:
    kind = draft.attributes.get("type", "grid").lower()
    if kind != "grid":
        raise InvalidPuzzle(f"{source}:{draft.line}: puzzles of type {shown(kind)} are not supported, only `grid`")
    palette, places, default = _palette(draft, source)
    warnings: list[str] = []
    goal = _goal(draft, palette, source, warnings)
    sides = {}
    for key, other in (("rows", "row"), ("columns", "column")):
        lines = draft.sides.get(key, draft.sides.get(other))
        sides[key] = None if lines is None else [_clue(line, places, default, source) for line in lines]
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
        if text == "?":
            raise blotted(source, line)
        length = length_of(text, source, line)
        if length == 0:
            raise InvalidPuzzle(
                f"{source}:{line}: expected plain numbers, found a blotted clue (a count of 0): not supported yet"
            )
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


def _xml(text: str) -> str:
    """Text for an element or an attribute; characters that XML can't carry are left out."""
    text = "".join(
        c for c in text if c in "\t\n" or (c >= " " and not 0xD800 <= ord(c) < 0xE000 and c not in "\ufffe\uffff")
    )
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def write(puzzles: Iterable[Puzzle]) -> str:
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<!DOCTYPE pbn SYSTEM "https://webpbn.com/pbn-0.3.dtd">']
    lines.append("<puzzleset>")
    for puzzle in puzzles:
        names, chars = _distinct(puzzle)
        lines.append(f'<puzzle type="grid" backgroundcolor="{_xml(names[0])}" defaultcolor="{_xml(names[1])}">')
        facts = {key: value for key, value in puzzle.metadata if key in FACTS}
        facts.setdefault("author", dict(puzzle.metadata).get("by", ""))
        facts["title"] = puzzle.name
        lines += [f"<{key}>{_xml(facts[key])}</{key}>" for key in FACTS if facts.get(key)]
        for name, char, colour in zip(names, chars, puzzle.palette, strict=True):
            lines.append(f'<color name="{_xml(name)}" char="{_xml(char)}">{colour.rgb:06x}</color>')
        counts = [
            f"<count{'' if c == 1 else f' color={chr(34)}{_xml(name)}{chr(34)}'}>" for c, name in enumerate(names)
        ]
        for kind, clues in (("columns", puzzle.columns), ("rows", puzzle.rows)):
            lines.append(f'<clues type="{kind}">')
            for clue in clues:
                lines.append("<line>" + "".join(f"{counts[b.colour]}{b.length}</count>" for b in clue) + "</line>")
            lines.append("</clues>")
        if puzzle.goal is not None:
            lines += ['<solution type="goal">', "<image>"]
            lines += ["|" + "".join(_xml(chars[cell]) for cell in row) + "|" for row in puzzle.goal]
            lines += ["</image>", "</solution>"]
        lines.append("</puzzle>")
    lines.append("</puzzleset>")
    return "\n".join(lines) + "\n"


def _distinct(puzzle: Puzzle) -> tuple[list[str], list[str]]:
    """A name and a character for each colour, no two alike; the palette's own where they serve."""
    names = [" ".join(_xml(colour.name).split()) and colour.name for colour in puzzle.palette]
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
    colours=True,
    several=True,
    first="<",
)
