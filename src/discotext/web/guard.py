"""Who may ask: nobody but a page that was opened by the address that `serve` has printed.

The server listens on 127.0.0.1, but every program and every web page that is open on this machine can send requests to
it. So an address has a random token, which others do not know; the name of the host must be this machine's, since a
foreign name may be made to lead here (DNS rebinding); and requests from pages of other origins are refused.
"""

from __future__ import annotations

import secrets

from starlette.types import ASGIApp, Message, Receive, Scope, Send

NAMES = ("127.0.0.1", "localhost")
HEADERS = (
    # Scripts and styles of our own files only: a text that holds a script stays a text.
    (b"content-security-policy", b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
     b"img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)  # fmt: skip


def make_token() -> str:
    """A new random token, to be part of an address."""
    return secrets.token_urlsafe(24)


class Guard:
    """Lets those requests through to an application that may be answered; others get status 403 and a sentence.

    port: that the server listens on. The application sees paths without the token.
    """

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self.app, self.token = app, token
        self.hosts = {f"{name}:{port}" for name in NAMES}
        self.origins = {f"http://{host}" for host in self.hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        trouble = self._find_trouble(scope)
        if trouble is not None:
            await refuse(trouble, send)
            return
        path = scope["path"][1 + len(self.token) :]
        if not path:
            await redirect(f"/{self.token}/", send)
            return
        inner = {**scope, "path": path, "raw_path": path.encode()}
        await self.app(inner, receive, with_headers(send))

    def _find_trouble(self, scope: Scope) -> str | None:
        """Why a request is refused, or None."""
        given: dict[bytes, list[str]] = {}
        for name, value in scope["headers"]:
            given.setdefault(name.lower(), []).append(value.decode("latin-1"))
        hosts = given.get(b"host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return "This server answers only to the name 127.0.0.1 or localhost, with its port."
        if any(origin not in self.origins for origin in given.get(b"origin", [])):
            return "This server answers only to its own page, not to pages of other origins."
        if scope["method"] != "GET" and any(
            site not in ("same-origin", "none") for site in given.get(b"sec-fetch-site", [])
        ):
            return "This server answers only to its own page, not to pages of other origins."
        first = scope["path"].split("/")[1] if "/" in scope["path"] else ""
        # In constant time, so that the token cannot be guessed sign by sign.
        if not secrets.compare_digest(first.encode("utf-8", "replace"), self.token.encode()):
            return "The token is missing or wrong; open the address that `discotext serve` has printed."
        return None


async def refuse(sentence: str, send: Send) -> None:
    """Answer with status 403 and one sentence."""
    body = f"{sentence}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode()), *HEADERS]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def redirect(where: str, send: Send) -> None:
    """Send the browser to another path."""
    headers = [(b"location", where.encode()), (b"content-length", b"0"), *HEADERS]
    await send({"type": "http.response.start", "status": 308, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


def with_headers(send: Send) -> Send:
    """The same, with the headers that every answer has."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), *HEADERS]}
        await send(message)

    return send_with_headers
