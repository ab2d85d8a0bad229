"""Connections that do not ask for anything: how long they may stay, and how many of them.

A connection is silent from its beginning, or from the end of an answer, until a whole request header has come. It is
closed after `SILENT_S` seconds. And there are never more than `A_CLIENT` of one client, nor `EVERYBODY` of all: a new
one closes the oldest. So whoever asks at once always gets in, also from the address of somebody who holds connections.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol

SILENT_S = 10.0
A_CLIENT, EVERYBODY = 16, 100
AT_WORK = 200
"""Connections of all kinds; beyond that the answer is 503."""


def patient(silent_s: float = SILENT_S, a_client: int = A_CLIENT, everybody: int = EVERYBODY) -> type[H11Protocol]:
    """What speaks with clients, for one server."""
    silent: dict[Any, str] = {}  # connections and their clients, the oldest first

    class Patient(H11Protocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._timer: asyncio.TimerHandle | None = None
            self._rest()

        def connection_lost(self, exc: Exception | None) -> None:
            self._forget()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is not None and not self.cycle.response_complete:
                self._forget()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if not self.transport.is_closing():
                self._rest()

        def _rest(self) -> None:
            """From now on it is silent."""
            self._forget()
            client = self.client[0] if self.client else ""
            _close_oldest(silent, a_client, lambda other: other == client)
            _close_oldest(silent, everybody, lambda _: True)
            silent[self] = client
            self._timer = self.loop.call_later(silent_s, self.transport.abort)

        def _forget(self) -> None:
            silent.pop(self, None)
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    return Patient


def _close_oldest(silent: dict[Any, str], most: int, counts: Callable[[str], bool]) -> None:
    """Make room for one more of those that count."""
    found = [connection for connection, client in silent.items() if counts(client)]
    for connection in found[: max(0, len(found) - most + 1)]:
        del silent[connection]
        connection.transport.abort()


def configuration(app: Any) -> Config:
    """How the server is run."""
    return Config(
        app,
        http=patient(),
        ws="none",
        log_level="error",
        access_log=False,
        proxy_headers=False,  # who asks is said by the connection, not by the one who asks
        server_header=False,
        limit_concurrency=AT_WORK,
        timeout_keep_alive=int(SILENT_S),
        timeout_graceful_shutdown=1,
    )
