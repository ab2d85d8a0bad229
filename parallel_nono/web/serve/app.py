"""The routes of the server.

    GET  /, /assets/*            the page
    POST /api/login              {"token"} -> a cookie
    GET  /api/about              bounds of this server, formats
    POST /api/solve?NAME=...     a puzzle or a picture -> a stream of events (jobs.solve); closing it ends the job
    POST /api/export             {"to", "show", "puzzle", "solutions", "outcome"} -> a file
    GET  /api/runs               folders of results
    GET  /api/runs/RUN/live      a stream of states, one a second, until the run is over
    GET  /runs/RUN/report        the page of `pnono report --html`

Streams are server-sent events (`data: JSON`, a blank line). Errors are {"error": a sentence} with a status.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from ...engine.folder import OutputError
from ...formats import FORMATS
from .dispatch import Bounds, Busy, Dispatcher
from .guard import COOKIE, LOOPBACK, Guard, cookie_of, same
from .jobs import PICTURES
from .runs import Follower, listed, run_named

ASSETS = Path(__file__).parents[1] / "assets"

UPLOAD_S = 30.0
"""Seconds that a body may take to arrive."""

FOLLOW_S = 1.0
MAX_STREAMS = 6
"""Runs that a client may follow at a time."""

WRONG_TOKEN_S = 0.5
STREAM = {"X-Accel-Buffering": "no"}


@dataclass(frozen=True, slots=True)
class Server:
    """What is served, and to whom.

    runs   the folder of folders of results.
    token  "": none is needed, which is for this machine's own address only.
    hosts  names under which the server may be called; empty: any.
    cells  most of a grid.
    bytes_in  most of a request.
    """

    runs: Path
    token: str = ""
    hosts: tuple[str, ...] = LOOPBACK
    bounds: Bounds = field(default_factory=Bounds)
    cells: int = 250_000
    bytes_in: int = 4 << 20


def application(server: Server) -> Guard:
    """The ASGI application."""
    return Guard(_App(server).starlette, server.token, server.hosts)


def _client(request: Request) -> str:
    """Who asks: an address can't be made up as a name can."""
    return request.client.host if request.client else ""


class _App:
    def __init__(self, server: Server) -> None:
        self.server = server
        self.dispatcher = Dispatcher(server.bounds)
        self.following: Counter[str] = Counter()
        self.starlette = Starlette(
            routes=[
                Route("/", self.index),
                Route("/api/login", self.login, methods=["POST"]),
                Route("/api/about", self.about),
                Route("/api/solve", self.solve, methods=["POST"]),
                Route("/api/export", self.export, methods=["POST"]),
                Route("/api/runs", self.runs),
                Route("/api/runs/{name}/live", self.live),
                Route("/runs/{name}/report", self.report),
                Mount("/assets", StaticFiles(directory=ASSETS)),
            ],
            exception_handlers={
                HTTPException: self.refused,
                Busy: self.busy,
                OutputError: self.no_run,
                ClientDisconnect: self.gone,
            },
            lifespan=self.lifespan,
        )

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        await self.dispatcher.open()
        try:
            yield
        finally:
            await self.dispatcher.close()

    # Errors.

    async def refused(self, _: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return JSONResponse({"error": error.detail}, error.status_code)

    async def busy(self, _: Request, error: Exception) -> Response:
        assert isinstance(error, Busy)
        return JSONResponse({"error": str(error)}, 429 if error.mine else 503, {"Retry-After": "10"})

    async def no_run(self, _: Request, error: Exception) -> Response:
        return JSONResponse({"error": str(error)}, 404)

    async def gone(self, *_: object) -> Response:
        return Response(status_code=400)

    # The page.

    async def index(self, _: Request) -> Response:
        return FileResponse(ASSETS / "index.html")

    async def login(self, request: Request) -> Response:
        token = (await self.json(request)).get("token")
        if not self.server.token or not isinstance(token, str) or not same(token, self.server.token):
            await asyncio.sleep(WRONG_TOKEN_S)
            raise HTTPException(401, "this is not the token")
        response = JSONResponse({})
        response.set_cookie(COOKIE, cookie_of(token), httponly=True, samesite="strict", max_age=7 * 86_400)
        return response

    async def about(self, _: Request) -> Response:
        bounds = self.server.bounds
        return JSONResponse(
            {
                "seconds": bounds.seconds,
                "cells": self.server.cells,
                "bytes": self.server.bytes_in,
                "read": [{"name": form.name, "title": form.title} for form in FORMATS],
                "write": [{"name": form.name, "title": form.title} for form in FORMATS if form.write is not None],
                "pictures": list(PICTURES),
            }
        )

    # Jobs.

    async def solve(self, request: Request) -> Response:
        asked = request.query_params
        try:
            image = json.loads(asked.get("image", "{}"))
            number = int(asked.get("number", "1"))
        except (ValueError, RecursionError):
            raise HTTPException(400, "expected a number, and the options of a picture as JSON") from None
        if not is_text(image):
            raise HTTPException(400, "expected text, found half of a character (a lone surrogate)")
        header = {
            "job": "solve",
            "name": asked.get("name", "")[:200],
            "number": number,
            "format": asked.get("format", ""),
            "image": image if isinstance(image, dict) else {},
            "seconds": self.server.bounds.seconds,
            "cells": self.server.cells,
            "memory_mib": self.server.bounds.memory_mib // 2,
        }
        body = await self.body(request)
        stack = AsyncExitStack()
        job = self.dispatcher.job(_client(request), header, body)
        events = await stack.enter_async_context(job)  # here, so that the status can tell that there is no room
        return _Stream(events, stack)

    async def export(self, request: Request) -> Response:
        options = await self.json(request)
        text = str(options.pop("puzzle", "")).encode()
        header = {key: options.get(key) for key in ("to", "show", "solutions", "outcome")} | {"job": "export"}
        return await self.content(request, header, text)

    async def content(self, request: Request, header: dict[str, Any], body: bytes = b"") -> Response:
        """The response to a job that makes a file."""
        async with self.dispatcher.job(_client(request), header, body) as events:
            async for event in events:
                if event["type"] == "error":
                    raise HTTPException(422, event["message"])
                if event["type"] == "content":
                    headers = event.get("headers", {})
                    if event.get("name"):
                        headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(event['name'])}"
                    return Response(event["data"], media_type=event["media"], headers=headers)
        raise HTTPException(500, "the job ended without a result")

    # Runs.

    async def runs(self, _: Request) -> Response:
        return JSONResponse({"runs": await run_in_threadpool(listed, self.server.runs)})

    def run_of(self, request: Request) -> Path:
        """The folder that the address names. Errors: HTTPException."""
        path = run_named(self.server.runs, request.path_params["name"])
        if path is None:
            raise HTTPException(404, "there is no such run")
        return path

    async def live(self, request: Request) -> Response:
        follower = await run_in_threadpool(Follower, self.run_of(request))
        client = _client(request)
        if self.following[client] >= MAX_STREAMS:
            raise Busy(f"you follow {MAX_STREAMS} runs already", mine=True)
        self.following[client] += 1
        stack = AsyncExitStack()
        stack.callback(self.following.subtract, [client])
        return _Stream(self.states(follower), stack)

    async def states(self, follower: Follower) -> AsyncIterator[dict[str, Any]]:
        """How far a run is, again and again, until it is over."""
        running = True
        while running:
            try:
                state = await run_in_threadpool(follower.state)
            except OutputError as error:
                state = {"type": "error", "message": str(error), "running": False}
            yield state
            running = state["running"]
            await asyncio.sleep(FOLLOW_S if running else 0)

    async def report(self, request: Request) -> Response:
        return await self.content(request, {"job": "report", "run": str(self.run_of(request))})

    # Bodies.

    async def body(self, request: Request) -> bytes:
        """The body, in memory only. Errors: HTTPException if it is too large or too slow."""
        most = self.server.bytes_in
        too_large = HTTPException(413, f"expected at most {most >> 20} MiB, found more")
        if (
            request.headers.get("content-length", "0").isdigit()
            and int(request.headers.get("content-length", "0")) > most
        ):
            raise too_large
        data = bytearray()
        try:
            async with asyncio.timeout(UPLOAD_S):
                async for piece in request.stream():
                    data += piece
                    if len(data) > most:
                        raise too_large
        except TimeoutError:
            raise HTTPException(408, f"expected the whole text within {UPLOAD_S:g} seconds") from None
        if not data:
            raise HTTPException(400, "expected a puzzle, found nothing")
        return bytes(data)

    async def json(self, request: Request) -> dict[str, Any]:
        """The body as a JSON object. Errors: HTTPException."""
        try:
            options = json.loads(await self.body(request))
        except (ValueError, RecursionError):
            raise HTTPException(400, "expected a JSON object") from None
        if not isinstance(options, dict):
            raise HTTPException(400, "expected a JSON object")
        if not is_text(options):
            raise HTTPException(400, "expected text, found half of a character (a lone surrogate)")
        return options


def is_text(value: object) -> bool:
    """Whether all texts in a value of JSON can be written: each half of a character has its other half."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return False
    return True


class _Stream(StreamingResponse):
    """Server-sent events. Whatever ends the solution, also before it began, ends what `stack` holds."""

    def __init__(self, events: AsyncIterator[dict[str, Any]], stack: AsyncExitStack) -> None:
        super().__init__(_encoded(events), headers=STREAM, media_type="text/event-stream")
        self._stack = stack

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._stack:
            await super().__call__(scope, receive, send)


async def _encoded(events: AsyncIterator[dict[str, Any]]) -> AsyncIterator[bytes]:
    async for event in events:
        yield b"data: " + json.dumps(event, separators=(",", ":")).encode() + b"\n\n"
