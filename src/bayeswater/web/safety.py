"""Who may ask the page's server, and how: checked before any answer is worked out.

The server listens on 127.0.0.1, where every program and every page in a browser of this machine can reach it. So each
request has to name this server as its host (no other name may lead here), one that asks for answers has to come from
this page, and carry the key. The key stands in the address that is opened first, is exchanged there for a cookie that
no script and no other site can read, and is gone from the address. Inside a frame of a notebook, where browsers keep
cookies back, the page carries the key itself, behind the # of the address, which no request sends along.

What is not under ``/api/`` are the files of the page: they hold nothing of a model, and need no key.
"""

import secrets
from dataclasses import field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bayeswater.records import record

KEY_BYTES = 32
"""Length of a key: none is found by trying."""

BODY_BYTES = 2**20
"""Largest question: a row of many columns, or a table of costs."""

KEY_HEADER = "x-bayeswater-key"

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; form-action 'none'; base-uri 'none'"
)
"""What the page may load: what this server has, and nothing written into the page itself."""

NOTEBOOKS = "http://127.0.0.1:* http://localhost:* https://localhost:* vscode-webview:"
"""Pages that may show this one in a frame, where it was opened from a notebook."""

HEADERS = {
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


@record
class Access:
    """The port of a server and its key; `in_frames` says that a notebook may show the page."""

    port: int
    in_frames: bool = False
    key: str = field(default_factory=lambda: secrets.token_urlsafe(KEY_BYTES), repr=False)

    @property
    def hosts(self) -> tuple[str, ...]:
        """Names under which this server is asked."""
        return f"127.0.0.1:{self.port}", f"localhost:{self.port}"

    @property
    def cookie(self) -> str:
        """Name of the cookie: browsers keep those of all ports of a machine together."""
        return f"bayeswater-{self.port}"

    def is_key(self, given: str | None) -> bool:
        """Compare a key, in a time that tells nothing."""
        return given is not None and secrets.compare_digest(given.encode(), self.key.encode())


class Guard:
    """An application behind the checks: refuses, bounds the body, and adds the headers that bind the browser."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app, self.access = app, access
        frames = NOTEBOOKS if access.in_frames else "'none'"
        self._headers = {**HEADERS, "content-security-policy": f"{POLICY}; frame-ancestors {frames}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            return

        async def answered(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        refused = self._refused(scope)
        if refused is not None:
            await refused(scope, receive, answered)
            return
        body = await bounded_body(receive, BODY_BYTES)
        if body is None:
            await PlainTextResponse(f"a question has at most {BODY_BYTES} bytes", 413)(scope, receive, answered)
            return

        async def read() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        await self.app(scope, read, answered)

    def _refused(self, scope: Scope) -> Response | None:
        """Give the answer to a request that goes no further."""
        headers = Headers(scope=scope)
        if headers.getlist("host") not in [[host] for host in self.access.hosts]:
            return PlainTextResponse("this server answers under its own address alone", 421)
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return PlainTextResponse("not allowed", 405)
        origin = headers.get("origin")
        if (origin is not None or scope["method"] == "POST") and origin != f"http://{headers['host']}":
            return PlainTextResponse("another page may not ask this server", 403)
        if scope["path"].startswith("/api/"):
            has_key = self.access.is_key(headers.get(KEY_HEADER)) or self.access.is_key(self._cookie(headers))
            return None if has_key else PlainTextResponse("the key is missing", 403)
        return self._exchanged(scope)

    def _cookie(self, headers: Headers) -> str | None:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self.access.cookie)
        except CookieError:
            return None
        return None if found is None else found.value

    def _exchanged(self, scope: Scope) -> Response | None:
        """Give a cookie for the key in an address, and send the browser to the address without it."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("key")
        if given is None:
            return None
        if not self.access.is_key(given[0]):
            return PlainTextResponse("this is not the key of this server; take the address that it printed", 403)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(self.access.cookie, self.access.key, httponly=True, samesite="strict", path="/")
        return answer


async def bounded_body(receive: Receive, most: int) -> bytes | None:
    """Read the body of a request; None where it is too long."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b""
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            return None
        if not message.get("more_body", False):
            return b"".join(parts)
