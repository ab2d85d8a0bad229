"""Who may ask for what, and the headers of every answer.

On this machine's own address anybody may ask who calls the server by that name: a page of the network that makes its
name point here does not (DNS rebinding), nor does a page that sends a form (its Origin is another). On any other
address a token is needed: in the header `Authorization: Bearer TOKEN`, or in the cookie that `/api/login` gives for it.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections import Counter
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "pnono"
LOOPBACK = ("localhost", "127.0.0.1", "::1")

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob: data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""An answer may bring its own in their place."""

OPEN_PATHS = ("/", "/api/login", "/favicon.ico")
"""What anybody may ask for: the page itself holds nothing of anybody. So may everything below `/assets/`."""


A_CLIENT = 40
"""Requests of one client at a time."""


class Guard:
    """Wraps the application.

    token  "": none is needed.
    hosts  names under which the server may be called; empty: any.
    """

    def __init__(self, app: ASGIApp, token: str = "", hosts: Iterable[str] = ()) -> None:
        self._app, self._token, self._hosts = app, token, frozenset(hosts)
        self._asking: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        client = scope["client"][0] if scope.get("client") else ""
        complaint = self._complaint(scope)
        if not complaint and self._asking[client] >= A_CLIENT:
            complaint = 429, f"you ask {A_CLIENT} things at a time already"
        if complaint:
            status, message = complaint
            await JSONResponse({"error": message}, status)(scope, receive, self._with_headers(send))
            return
        self._asking[client] += 1
        try:
            await self._app(scope, receive, self._with_headers(send))
        finally:
            self._asking[client] -= 1
            if not self._asking[client]:
                del self._asking[client]

    @staticmethod
    def _with_headers(send: Send) -> Send:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        return sent

    def _complaint(self, scope: Scope) -> tuple[int, str] | None:
        """(status, message) if the request is refused."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        name = _name_of(host)
        if not name or (self._hosts and name not in self._hosts):
            return 421, f"this server is not called {host[:100]!r}"
        if headers.get("origin", f"http://{host}") not in (f"http://{host}", f"https://{host}"):
            return 403, "only pages of this server may ask"
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and scope["path"] != "/":
            return 403, "only pages of this server may ask"
        if not self._token or scope["path"] in OPEN_PATHS or scope["path"].startswith("/assets/"):
            return None
        return None if self._knows(headers) else (401, "a token is needed")

    def _knows(self, headers: Headers) -> bool:
        word, _, token = headers.get("authorization", "").partition(" ")
        if word.lower() == "bearer" and same(token, self._token):
            return True
        try:
            morsel = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return morsel is not None and same(morsel.value, cookie_of(self._token))


HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9._-]{1,253}))(?::[0-9]{1,5})?")
"""An address of version 6 or a name, and perhaps a port: nobody's name before it, no second port."""


def _name_of(host: str) -> str:
    """The name in a Host header, without the port; "" if it is none."""
    match = HOST.fullmatch(host)
    return (match[1] or match[2]).lower() if match else ""


def same(one: str, other: str) -> bool:
    """Whether two texts are equal; takes as long if they are not."""
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))


def cookie_of(token: str) -> str:
    """What the cookie holds for a token: it shows who knows it, and does not give it away."""
    return hmac.new(token.encode("utf-8", "replace"), b"pnono serve", hashlib.sha256).hexdigest()
