"""A worker as Ray starts it: light, so that nothing heavy of ours is imported before `prepare`.

Ray imports whatever the arguments of a constructor are made of before it calls it. So this one takes none, and `hello`
brings what there is to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..start import prepare

if TYPE_CHECKING:
    from . import worker
    from .work import Work


class Worker:
    """`worker.Worker` in another process; an actor class once `ray.remote` has wrapped it. Nobody calls anything before
    `hello` has answered."""

    def __init__(self) -> None:
        prepare()
        self._worker: worker.Worker

    def hello(self, work: Work, number: int, page_path: str) -> dict[str, Any]:
        """Begin, and say who answers; see worker.Worker."""
        from . import worker

        self._worker = worker.Worker(work, number, page_path)
        return self._worker.hello()

    def lease(self, *chunk: Any) -> Any:
        """See worker.Worker."""
        return self._worker.lease(*chunk)

    def recall(self, number: int) -> None:
        """See worker.Worker."""
        self._worker.recall(number)

    def stop(self, how: int) -> None:
        """See worker.Worker."""
        self._worker.stop(how)
