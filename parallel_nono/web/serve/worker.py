"""A process that does the jobs of the server, one at a time, until its standard input ends.

Frames in both directions: four bytes of length (big-endian), then so many bytes. In: a JSON object {"job"} with the
options of the job, then its body. Out: events as JSON, the last one {"type": "end"}; an event with `bytes: true` is
followed by a frame of raw bytes. The first event of all is {"type": "ready"}.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, BinaryIO

from ...start import prepare

LENGTH = struct.Struct(">I")


class Out:
    """The way back; any thread may write."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._lock = file, Lock()

    def emit(self, event: dict[str, Any]) -> None:
        """One event; `data` travels as bytes behind it."""
        data = event.pop("data", None)
        if data is not None:
            event["bytes"] = True
        text = json.dumps(event, separators=(",", ":")).encode()
        with self._lock:
            self._file.write(LENGTH.pack(len(text)) + text)
            if data is not None:
                self._file.write(LENGTH.pack(len(data)) + data)
            self._file.flush()


def frame(file: BinaryIO) -> bytes | None:
    """The next frame; None at the end."""
    head = file.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    return file.read(LENGTH.unpack(head)[0])


def asked(file: BinaryIO, questions: SimpleQueue[tuple[bytes, bytes]]) -> None:
    """Runs in a thread of its own: when the server is gone, so are we, whatever we are at."""
    while (header := frame(file)) is not None and (body := frame(file)) is not None:
        questions.put((header, body))
    import psutil

    for child in psutil.Process().children(recursive=True):
        child.kill()
    os._exit(0)


def main() -> None:
    """Do jobs until there are no more."""
    prepare()
    out = Out(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)  # whatever prints must not come between the frames
    questions: SimpleQueue[tuple[bytes, bytes]] = SimpleQueue()
    Thread(target=asked, args=(sys.stdin.buffer, questions), daemon=True).start()

    from ...kernels import when_compiling
    from . import jobs

    def say_if_compiling() -> None:
        when_compiling(lambda: out.emit({"type": "compiling"}))  # once: so it is asked for again before each job

    say_if_compiling()
    jobs.warm_up()
    out.emit({"type": "ready"})
    while True:
        header, body = questions.get()
        say_if_compiling()
        options = json.loads(header)
        jobs.events(options.pop("job"), options, body, out.emit)
        out.emit({"type": "end"})


if __name__ == "__main__":
    main()
