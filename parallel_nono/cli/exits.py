"""How a command ends: the exit codes, and the one-line errors that carry them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum


class Code(IntEnum):
    """The exit codes. A closed list, documented in docs/exit-codes.md and in `pnono --help`."""

    FINE = 0
    NO = 1
    USAGE = 2
    INVALID = 3
    UNDECIDED = 4
    UNAVAILABLE = 69
    BUG = 70
    UNWRITABLE = 74
    HUNG_UP = 129
    INTERRUPTED = 130
    PIPE = 141
    TERMINATED = 143


MEANINGS = {
    Code.FINE: "it went well; the answer is yes",
    Code.NO: "the answer is no: several solutions or none, an impossible line, a wrong solution, a changed verdict",
    Code.USAGE: "the command line or the configuration file is wrong",
    Code.INVALID: "a puzzle can't be read, or can't be written in that format",
    Code.UNDECIDED: "undecided: out of time, or the plan leaves cells open",
    Code.UNAVAILABLE: (
        "the engine can't work here (no Ray, or a cluster that refuses us), a site can't be reached, "
        "or a tool is missing"
    ),
    Code.BUG: "a fault of pnono itself; please report it",
    Code.UNWRITABLE: "the output can't be written",
    Code.HUNG_UP: "the terminal went away (SIGHUP)",
    Code.INTERRUPTED: "interrupted by Ctrl-C",
    Code.PIPE: "the reader of the output went away",
    Code.TERMINATED: "terminated by SIGTERM",
}


CODES = {
    "unique": Code.FINE,
    "solved": Code.FINE,
    "multiple": Code.NO,
    "contradiction": Code.NO,
    "invalid": Code.INVALID,
    "crashed": Code.BUG,
}


def code_of(outcome: str) -> Code:
    """The exit code for one puzzle with an `attempt.Outcome`; those that CODES does not have leave it undecided."""
    return CODES.get(outcome, Code.UNDECIDED)


class Failure(Exception):
    """Ends a command with `code` and one line on stderr."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code


@contextmanager
def writing(target: object) -> Iterator[None]:
    """An OSError inside means that `target` can't be written; a reader that went away is another matter."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Failure(Code.UNWRITABLE, f"{target}: can't be written: {error.strerror or error}") from error
