"""XML read by events. No DTD is loaded, no entity may be declared; names such as `&eacute;` are put in by us."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ..puzzle import InvalidPuzzle
from .text import wrong

NAMED = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31});")
PARTS = 1 << 16


class Events:
    """An XML parser. `feed` calls `start(name, attributes)` and `end(name, text)`, names in small letters.

    text    what stood between the last tag and this one.
    place   the line of the tag that is being told of.
    """

    def __init__(self, source: str, start: Callable[[str, dict[str, str]], object], end: Callable[[str, str], object]):
        from xml.parsers import expat

        self.source = source
        self.tell_start, self.tell_end = start, end
        self.text: list[str] = []
        parser = self.parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
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
