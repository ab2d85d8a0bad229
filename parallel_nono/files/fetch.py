"""Puzzles from web sites by their numbers: asked for one by one, slowly, and kept in a folder that goes on later.

The folder holds one file a puzzle and `manifest.jsonl`: its first line names the site and whose the puzzles are, every
further line tells what became of one number. A file is put in place before its line is written, so whatever ends a
fetch leaves a folder that the same call completes without asking twice. Nothing else of the package uses the network.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode, urlsplit

from .. import __version__
from ..formats import format_named
from ..formats.common.decode import decode
from ..formats.common.text import CONTROL, shown, wrong
from ..puzzle import InvalidPuzzle

if TYPE_CHECKING:
    from email.message import Message
    from http.client import HTTPResponse
    from urllib.request import OpenerDirector

USER_AGENT = f"parallel_nono/{__version__} (nonogram solver; pnono fetch)"
MANIFEST = "manifest.jsonl"
TIMEOUT_S = 30.0
"""Of one answer: for the connection, and for every pause in what is sent."""

MAX_ANSWER_S = 120.0
MAX_BYTES = 8 << 20
MAX_REDIRECTS = 5
RETRIES = 4
BACK_OFF_S = 5.0
"""Before the first retry, where the site says nothing; twice as long before each further one."""

MAX_WAIT_S = 900.0
"""A site that wants us to wait longer ends the fetch."""

AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
GONE = frozenset({404, 410})


class Unreachable(Exception):
    """The site does not answer, or does not want us to ask: the fetch ends here and can be taken up later."""


class Request(NamedTuple):
    """What to ask for: a path below the base address, and the fields of a form that is sent (None: nothing is)."""

    path: str
    form: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Site:
    """A site that has numbered puzzles.

    requests  number -> what to ask for; a further one only if those before had no puzzle.
    format    what its pages are read as, and `ending` what their files end in.
    rights    whose the puzzles are, in a sentence.
    """

    name: str
    base_url: str
    requests: Callable[[int], tuple[Request, ...]]
    format: str
    ending: str
    rights: str


def _webpbn(number: int) -> tuple[Request, ...]:
    form = {"go": "1", "id": str(number), "fmt": "xml", "xml_clue": "on", "xml_soln": "on"}
    return (Request("/export.cgi", form),)


def _nonograms(number: int) -> tuple[Request, ...]:
    return Request(f"/nonograms/i/{number}"), Request(f"/nonograms2/i/{number}")


SITES = {
    "webpbn": Site(
        "webpbn",
        "https://webpbn.com",
        _webpbn,
        "webpbn",
        ".xml",
        "The copyright of each puzzle is its author's, whom the file names; publish none without leave.",
    ),
    "nonograms": Site(
        "nonograms",
        "https://www.nonograms.org",
        _nonograms,
        "nonograms",
        ".html",
        "The puzzles belong to their authors and to nonograms.org; publish none without the site's leave.",
    ),
}


@dataclass(frozen=True, slots=True)
class Record:
    """What became of one number, a line of the manifest.

    status  "fetched"; "invalid": fetched, but it can't be read; "missing": the site has no such puzzle.
    file    its name in the folder; "" if missing.
    note    the puzzle's name and size, or why there is none.
    when    UTC.
    """

    number: int
    status: str
    url: str
    file: str = ""
    bytes: int = 0
    sha256: str = ""
    note: str = ""
    when: str = ""


class Folder:
    """The folder of one site. Errors: OSError; InvalidPuzzle for a manifest of something else."""

    def __init__(self, path: Path, site: Site, base_url: str) -> None:
        self.path = path
        self.records: dict[int, Record] = {}
        self._manifest = path / MANIFEST
        path.mkdir(parents=True, exist_ok=True)
        if self._manifest.exists():
            self._read(site)
        else:
            with suppress(FileExistsError), open(path / ".gitignore", "x", encoding="utf-8") as file:
                file.write(f"# puzzles that others made: not to be published\n{site.name}-*\n{MANIFEST}\n")
            self._append({"site": site.name, "base_url": base_url, "rights": site.rights})

    def _read(self, site: Site) -> None:
        data = self._manifest.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):  # the last line was cut off when somebody pulled the plug
            os.truncate(self._manifest, len(whole))
        for place, line in enumerate(whole.splitlines(), start=1):
            try:
                facts = json.loads(line)
                record = Record(**facts) if place > 1 else None
                owner = facts["site"] if place == 1 else site.name
            except (ValueError, TypeError, KeyError):
                found = line.decode("utf-8", "replace")
                raise wrong(str(self._manifest), place, "a line that `pnono fetch` wrote", found) from None
            if owner != site.name:
                raise wrong(str(self._manifest), place, f"puzzles of {site.name} in this folder", owner)
            if record:
                self.records[record.number] = record
        if not whole:
            self._append({"site": site.name, "base_url": "", "rights": site.rights})

    def known(self, number: int) -> Record | None:
        """What is known of a number, unless its file is gone or was changed in length."""
        record = self.records.get(number)
        if record and record.file:
            try:
                size = (self.path / record.file).stat().st_size
            except FileNotFoundError:
                return None
            return record if size == record.bytes else None
        return record

    def keep(self, record: Record, data: bytes) -> None:
        if record.file:
            target = self.path / record.file
            part = target.with_name(f".{record.file}.part")
            try:
                part.write_bytes(data)
                part.replace(target)
            finally:
                part.unlink(missing_ok=True)
        self._append(asdict(record))
        self.records[record.number] = record

    def _append(self, facts: Mapping[str, object]) -> None:
        with open(self._manifest, "ab") as file:
            file.write(json.dumps(facts, ensure_ascii=False).encode() + b"\n")


def is_address(base_url: str) -> bool:
    """True for an address that may stand for a site: http or https, and a host."""
    try:
        parts = urlsplit(base_url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def fetch(
    site: Site,
    numbers: Iterable[int],
    folder: Folder,
    *,
    base_url: str = "",
    pause_s: float = 1.0,
    retries: int = RETRIES,
    back_off_s: float = BACK_OFF_S,
    again: bool = False,
) -> Iterator[tuple[Record, bool]]:
    """Get what the folder lacks; gives (record, whether it was asked for now) of every number, in order.

    base_url  in place of the site's own (`is_address`).
    pause_s   from the end of one answer to the next question.
    again     ask once more for what was missing or could not be read.
    Errors    Unreachable; OSError of the folder.
    """
    line = _Line(base_url or site.base_url, pause_s, retries, back_off_s)
    for number in numbers:
        known = folder.known(number)
        if known and not (again and known.status != "fetched"):
            yield known, False
            continue
        record, data = _ask(site, number, line)
        folder.keep(record, data)
        yield record, True


def _ask(site: Site, number: int, line: _Line) -> tuple[Record, bytes]:
    """(what became of a number, the file)."""
    form = format_named(site.format)
    note = url = ""
    for request in site.requests(number):
        url = line.url(request)
        answer = line.get(request)
        if answer is None:
            note = note or "no such page"
            continue
        try:
            text, _ = decode(answer, url)
        except InvalidPuzzle:
            text = ""
        if not form.sniff(text):
            note = _said(text) or note
            continue
        status, note = _judged(answer, url, site.format)
        name = f"{site.name}-{number:06}{site.ending}"
        digest = hashlib.sha256(answer).hexdigest()
        return Record(number, status, url, name, len(answer), digest, note, _now()), answer
    return Record(number, "missing", url, note=note or "no puzzle in the answer", when=_now()), b""


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _said(text: str) -> str:
    """The line in which a site explains that there is no puzzle; "" for a page that says more."""
    text = CONTROL.sub(" ", text).strip()
    return text if text and len(text) < 200 and not text.startswith("<") else ""


def _judged(data: bytes, url: str, format: str) -> tuple[str, str]:
    """(status, note) of a file with a puzzle in it."""
    from .reading import read

    try:
        puzzle = next(read(data, format))
    except InvalidPuzzle as error:
        return "invalid", str(error).removeprefix("-:")
    return "fetched", f"{puzzle.name}, {puzzle.width} x {puzzle.height}, {puzzle.n_colours} colours"


class _Line:
    """The connection to a site: one question at a time, never faster than agreed, and again where that helps."""

    def __init__(self, base_url: str, pause_s: float, retries: int, back_off_s: float) -> None:
        self.base = base_url.rstrip("/")
        self.pause_s, self.retries, self.back_off_s = pause_s, retries, back_off_s
        self.free_at = 0.0  # monotonic
        self.opener = _opener()

    def url(self, request: Request) -> str:
        return self.base + request.path

    def get(self, request: Request) -> bytes | None:
        """The answer; None if the site says there is none. Errors: Unreachable."""
        wait_s = self.back_off_s
        for turn in range(self.retries + 1):
            answer, why, asked_s = self._try(request)
            if not why:
                return answer
            if turn == self.retries:
                break
            pause_s = wait_s if asked_s is None else asked_s
            if pause_s > MAX_WAIT_S:
                raise Unreachable(f"{self.url(request)}: {why}; it wants us to wait {pause_s:.0f} s")
            self.free_at = time.monotonic() + max(pause_s, self.pause_s)
            wait_s *= 2
        raise Unreachable(f"{self.url(request)}: {why} ({self.retries + 1} times)")

    def _try(self, request: Request) -> tuple[bytes | None, str, float | None]:
        """(answer, why it has to be asked again or "", seconds that the site wants us to wait if it says)."""
        from http.client import HTTPException
        from urllib.error import HTTPError
        from urllib.request import Request as Question

        time.sleep(max(0.0, self.free_at - time.monotonic()))
        data = urlencode(request.form).encode() if request.form is not None else None
        question = Question(self.url(request), data, {"User-Agent": USER_AGENT})
        try:
            with self.opener.open(question, timeout=TIMEOUT_S) as answer:
                return _body(answer, self.url(request)), "", None
        except HTTPError as error:
            error.close()
            if error.code in GONE:
                return None, "", None
            why = f"the site answers {error.code} {shown(error.reason)}"
            if error.code not in AGAIN:
                raise Unreachable(f"{self.url(request)}: {why}") from None
            return None, why, _asked_to_wait(error.headers)
        except (OSError, HTTPException) as error:  # URLError and time-outs are OSErrors
            return None, f"no answer ({getattr(error, 'reason', error) or type(error).__name__})", None
        finally:
            self.free_at = time.monotonic() + self.pause_s


def _body(answer: HTTPResponse, url: str) -> bytes:
    """Errors: Unreachable for an answer that is too long or too slow; IncompleteRead for one that was cut off."""
    from http.client import IncompleteRead

    end = time.monotonic() + MAX_ANSWER_S
    announced = answer.length or 0
    parts = bytearray()
    while part := answer.read1(1 << 16):
        parts += part
        if len(parts) > MAX_BYTES:
            raise Unreachable(f"{url}: expected an answer of at most {MAX_BYTES >> 20} MiB, found more")
        if time.monotonic() > end:
            raise Unreachable(f"{url}: expected an answer within {MAX_ANSWER_S:.0f} s, found it still going on")
    if len(parts) < announced:
        raise IncompleteRead(bytes(parts), announced - len(parts))
    return bytes(parts)


def _asked_to_wait(headers: Message) -> float | None:
    """Seconds of `Retry-After`, a number or a date; None if there is none that can be read."""
    from email.utils import parsedate_to_datetime

    text = headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError):
        return None


def _opener() -> OpenerDirector:
    """Only http and https, and redirects only within the same site: never to a file or another host."""
    from http.client import HTTPMessage
    from urllib import request
    from urllib.error import HTTPError

    class WithinTheSite(request.HTTPRedirectHandler):
        max_redirections = MAX_REDIRECTS

        def redirect_request(
            self, req: request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
        ) -> request.Request | None:
            old, new = urlsplit(req.full_url), urlsplit(newurl)
            if new.hostname != old.hostname or new.scheme not in (old.scheme, "https"):
                raise HTTPError(req.full_url, code, f"a redirect to {newurl[:100]}", headers, fp)
            return super().redirect_request(req, fp, code, msg, headers, newurl)

    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler,
        request.UnknownHandler,
        request.HTTPHandler,
        request.HTTPSHandler,
        request.HTTPDefaultErrorHandler,
        WithinTheSite,
        request.HTTPErrorProcessor,
    ):
        opener.add_handler(handler())
    return opener
