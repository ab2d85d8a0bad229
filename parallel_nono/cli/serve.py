"""`pnono serve`: a page that solves puzzles step by step, saves them, and shows runs."""

from __future__ import annotations

import os
import secrets
import socket
import sys
from pathlib import Path
from typing import Annotated

import typer

from ..pictures.door import say
from .exits import Code, Failure

SHORTEST_TOKEN = 8


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on; any but this machine's own needs a token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65_535, help="0: any that is free.")] = 8888,
    token: Annotated[
        str, typer.Option(help="What users must know; made up if one is needed. Others here can see it in `ps`.")
    ] = "",
    runs: Annotated[Path, typer.Option(metavar="DIR", help="Folder of folders of results.")] = Path("runs"),
    workers: Annotated[int, typer.Option(min=0, max=256, help="Puzzles at a time; 0: one a core, at least 2.")] = 0,
    seconds: Annotated[float, typer.Option(min=1.0, help="Time for one puzzle.")] = 60.0,
    cells: Annotated[int, typer.Option(min=1, max=4_000_000, help="Largest grid.")] = 250_000,
    size: Annotated[int, typer.Option(min=1, max=256, metavar="MIB", help="Largest file.")] = 4,
    memory: Annotated[int, typer.Option(min=512, metavar="MIB", help="Most memory for one puzzle.")] = 2048,
) -> None:
    """Serve a page for the browser: solve a puzzle of any format, or a picture, step by step; save it; look at runs.

    What users send is parsed and solved in separate processes, bounded in time and memory, and never touches the disk.
    No user can take all of them: the one with the fewest puzzles at work is next. A run that was started with
    `pnono run --live` can be followed worker by worker.

    \b
    pnono serve
    pnono serve --port 9000 --runs results --workers 4 --seconds 20
    pnono serve --host 0.0.0.0

    \b
    Ctrl-C ends it. There is no encryption: in a network that is not yours, put a proxy with TLS in front.
    Exit codes: 0 ended by Ctrl-C; 2 the token is too short; 69 the address can't be used; 143 SIGTERM.
    """
    if token and len(token) < SHORTEST_TOKEN:
        raise Failure(Code.USAGE, f"--token: expected {SHORTEST_TOKEN} characters or more, found {len(token)}")
    listener = _listener(host, port)
    address, port = listener.getsockname()[:2]
    is_own = _is_own(address)
    if not is_own and not token:
        token = secrets.token_urlsafe(24)

    import uvicorn

    from ..web.serve.app import Server, application
    from ..web.serve.dispatch import Bounds
    from ..web.serve.guard import LOOPBACK
    from ..web.serve.patience import configuration

    bounds = Bounds(workers or max(2, os.cpu_count() or 1), seconds=seconds, memory_mib=memory)
    hosts = (*LOOPBACK, host) if is_own else ()
    app = application(Server(runs, token, hosts, bounds, cells, size << 20))
    name = socket.gethostname() if address in ("0.0.0.0", "::") else host
    shown = f"[{name}]" if ":" in name else name
    say(f"http://{shown}:{port}/{f'#token={token}' if token else ''}", flush=True)
    say("pnono: Ctrl-C ends it", file=sys.stderr, flush=True)
    try:
        uvicorn.Server(configuration(app)).run(sockets=[listener])
    except KeyboardInterrupt:
        return  # that is how it ends


def _listener(host: str, port: int) -> socket.socket:
    """A socket that listens. Errors: Failure."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise Failure(Code.UNAVAILABLE, f"{host}:{port}: can't listen there: {error.strerror or error}") from error


def _is_own(address: str) -> bool:
    """Whether only this machine can reach an address."""
    import ipaddress

    return ipaddress.ip_address(address).is_loopback
