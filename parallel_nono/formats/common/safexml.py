"""XML read by events. No DTD is loaded, no entity may be declared; names such as `&eacute;` are put in by us.

A format gives a grammar: what may stand in which element. Whatever else stands there is not passed by, it is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from ...puzzle import InvalidPuzzle
from .text import shown, wrong

NAMED = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31});")
PARTS = 1 << 16


class Element(NamedTuple):
    """What may stand in an element.

    children    names in small letters;  attributes  likewise, None: any. Those of XML itself (`xmlns`) may always be.
    text    True if text may.
    strict  what else stands in it is an error, for it may be a clue; elsewhere it is left aside with a warning.
    """

    children: frozenset[str] = frozenset()
    attributes: frozenset[str] | None = frozenset()
    text: bool = False
    strict: bool = False


class Unknown(NamedTuple):
    """What the grammar of a format has no place for.

    line, what   where it stands, and what it is, for messages.
    parent       the name of the element in which it stands.
    strict       as the parent is.
    fact         (name, text) of an element that holds nothing but text.
    has_children  True of an element that holds others.
    """

    line: int
    what: str
    parent: str
    strict: bool
    fact: tuple[str, str] | None = None
    has_children: bool = False

    def problem(self, source: str, grammar: Mapping[str, Element]) -> InvalidPuzzle:
        element = grammar[self.parent]
        names = sorted(name for name in element.children if grammar[name].children) or sorted(element.children)
        hope = " or ".join(f"<{name}>" for name in names) or "text"
        return wrong(source, self.line, f"{hope} in <{self.parent}>", self.what)

    def warning(self) -> str:
        return f"line {self.line}: {shown(self.what)} in <{self.parent}> is not known: left aside"


class Events:
    """An XML parser. `feed` calls `start(name, attributes)` and `end(name, text)`, names in small letters.

    text     what stood between the last tag and this one.
    place    the line of the tag that is being told of.
    grammar  elements by name; without one every element is told of. Below the outermost element only those that have
             their place are, with the attributes that they may have; `unknown` is told of everything else.
    """

    def __init__(
        self,
        source: str,
        start: Callable[[str, dict[str, str]], object],
        end: Callable[[str, str], object],
        grammar: Mapping[str, Element] | None = None,
        unknown: Callable[[Unknown], object] | None = None,
    ):
        from xml.parsers import expat

        self.source = source
        self.tell_start, self.tell_end, self.tell_unknown = start, end, unknown
        self.grammar = grammar
        self.text: list[str] = []
        self.open: list[tuple[str, Element]] = []
        self.depth = 0  # of elements inside one that is passed by, itself included
        self.aside: tuple[int, str, bool] = (0, "", False)  # its line and name, and whether it holds more than text
        self.has_children = False
        parser = self.parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartElementHandler = self._start if grammar is None else self._start_by_grammar
        parser.EndElementHandler = self._end if grammar is None else self._end_by_grammar
        parser.CharacterDataHandler = self.text.append
        parser.EntityDeclHandler = self._declared
        parser.ExternalEntityRefHandler = self._external

    @property
    def place(self) -> int:
        return self.parser.CurrentLineNumber

    def _declared(self, name: str, *_: object) -> None:
        raise wrong(self.source, self.place, "a file without entity declarations", name)

    def _external(self, *_: object) -> int:
        raise wrong(self.source, self.place, "no external entities", "one")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self.text.clear()
        self.tell_start(name.lower(), {key.lower(): value for key, value in attributes.items()})

    def _end(self, name: str) -> None:
        text = "".join(self.text)
        self.text.clear()
        self.tell_end(name.lower(), text)

    def _start_by_grammar(self, name: str, attributes: dict[str, str]) -> None:
        assert self.grammar is not None
        name = name.lower()
        if self.text:
            self._stray_text()
        if self.depth:
            self.depth += 1
            self.has_children = True
            return
        if self.open and name not in self.open[-1][1].children:
            self.depth, self.has_children = 1, False
            self.aside = (self.place, name, bool(attributes))
            return
        element = self.grammar.get(name) or Element()
        self.open.append((name, element))
        if attributes:
            attributes = {key.lower(): value for key, value in attributes.items()}
        self.tell_start(name, attributes)
        for key in attributes:
            if element.attributes is not None and key not in element.attributes and not key.startswith("xml"):
                self._told(Unknown(self.place, f"attribute {key}", name, element.strict))

    def _end_by_grammar(self, name: str) -> None:
        if self.depth:
            self.depth -= 1
            if not self.depth:
                text = " ".join("".join(self.text).split())
                line, found, whole = self.aside
                parent, element = self.open[-1]
                fact = None if whole or self.has_children else (found, text)
                self._told(Unknown(line, f"<{found}>", parent, element.strict, fact, self.has_children))
            self.text.clear()
            return
        if self.text and not self.open[-1][1].text:
            self._stray_text()
        self.open.pop()
        text = "".join(self.text)
        self.text.clear()
        self.tell_end(name.lower(), text)

    def _stray_text(self) -> None:
        """Tell of the text before a tag, unless it is blank or belongs to an element that is passed by."""
        text = "".join(self.text)
        self.text.clear()
        words = text.strip()
        if words and not self.depth and self.open:
            parent, element = self.open[-1]
            line = self.place - text[text.index(words[0]) :].count("\n")
            self._told(Unknown(line, f"text {words}", parent, element.strict))

    def _told(self, unknown: Unknown) -> None:
        assert self.tell_unknown is not None
        self.tell_unknown(unknown)

    def feed(self, text: str) -> Iterator[InvalidPuzzle | None]:
        """Parse a text part by part. Yields None after each part, or, as the last thing, what is wrong with it."""
        from xml.parsers import expat

        text = with_characters(text)
        for at in range(0, len(text), PARTS):
            try:
                self.parser.Parse(text[at : at + PARTS], at + PARTS >= len(text))
            except expat.ExpatError as error:
                said = expat.ErrorString(error.code)
                yield InvalidPuzzle(
                    f"{self.source}:{error.lineno}: expected well-formed XML, found {said} (column {error.offset + 1})"
                )
                return
            except InvalidPuzzle as error:
                yield error
                return
            except UnicodeEncodeError:
                yield wrong(self.source, 0, "text", "characters that can't be written as UTF-8")
                return
            yield None


def with_characters(text: str) -> str:
    """A text with the named characters of HTML put in."""
    return NAMED.sub(_character, text) if "&" in text else text


def _character(found: re.Match[str]) -> str:
    """A named character of HTML as itself; those of XML and unknown ones stay for the parser."""
    name = found[1]
    if name in ("amp", "lt", "gt", "quot", "apos"):
        return found[0]
    from html.entities import html5

    return html5.get(name + ";", found[0])


def escaped(text: str) -> str:
    """Text for an element or an attribute; characters that XML can't carry are left out."""
    text = "".join(
        c for c in text if c in "\t\n" or (c >= " " and not 0xD800 <= ord(c) < 0xE000 and c not in "\ufffe\uffff")
    )
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
