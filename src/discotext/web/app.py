"""The application: the files of the page, what its script asks for, and who may ask.

| request | answer |
|---|---|
| `GET /` | the page, its style and scripts |
| `GET /api/about` | the victim, and what can be chosen |
| `POST /api/look` | of a text: prediction, class scores, words and their candidates |
| `POST /api/attack` | server-sent events: begin, step, outcome or refusal for each solver; at the end error or done |
"""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
import threading
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discotext.attacks.observation import CancelledError
from discotext.web.messages import RequestError, read_attack, read_look
from discotext.web.model import SendEvent, SharedModel, describe_error, is_fault

FILES = dict.fromkeys(("app.js", "draw.js", "net.js"), "text/javascript")
FILES |= {"index.html": "text/html", "style.css": "text/css", "icon.svg": "image/svg+xml"}
MOST_BYTES = 200_000  # of a request
POLL = 0.25  # seconds after which a stream looks whether the server is to end
HEARTBEAT = 40  # polls without an event after which a comment is sent, so that a connection that is gone is noticed
ERROR, DONE = "error", "done"
HOSTS = ("127.0.0.1", "localhost")
# Scripts and styles of our own files only: a text that holds a script stays a text.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
Event = tuple[str, dict[str, Any]]  # a name and an object
Work = Callable[[SendEvent, threading.Event], None]  # gets where to send events, and whether it is cancelled


def make_app(model: SharedModel, token: str, port: int) -> ASGIApp:
    """The application for a model, behind a guard."""

    async def about(request: Request) -> Response:
        return await answer(model, lambda send, cancelled: send("about", model.describe()))

    async def look(request: Request) -> Response:
        asked = read_look(await read_body(request))
        return await answer(model, lambda send, cancelled: send("look", model.look(asked)))

    async def attack(request: Request) -> Response:
        asked = read_attack(await read_body(request))
        events = write_events(model, lambda send, cancelled: model.attack(asked, send, cancelled))
        return StreamingResponse(events, media_type="text/event-stream")

    routes = [
        Route(f"/{name}", Response(content, headers={"content-type": kind}), methods=["GET"])
        for name, kind, content in read_files()
    ]
    routes += [Route("/api/about", about), Route("/api/look", look, methods=["POST"])]
    routes.append(Route("/api/attack", attack, methods=["POST"]))
    refused = {RequestError: refuse_request, ClientDisconnect: refuse_request}
    return Guard(Starlette(routes=routes, exception_handlers=refused), token, port)


class Guard:
    """Lets nobody ask but a page that was opened by the address that `serve` has printed.

    The server listens on 127.0.0.1, but every program and every web page that is open on this machine can send requests
    to it. So an address has a random token, which others do not know; the name of the host must be this machine's,
    since a foreign name may be made to lead here (DNS rebinding); and requests from pages of other origins are refused,
    with status 403 and a sentence.

    port: that the server listens on. The application sees paths without the token.
    """

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self.app, self.token = app, token
        self.hosts = {f"{name}:{port}" for name in HOSTS}
        self.origins = {f"http://{host}" for host in self.hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        if scope["type"] != "http":
            return
        trouble, path = self._find_trouble(scope), scope["path"][1 + len(self.token) :]
        if trouble is not None:
            app: ASGIApp = PlainTextResponse(f"{trouble}\n", 403)
        elif not path:
            app = RedirectResponse(f"/{self.token}/", 308)
        else:
            app, scope = self.app, {**scope, "path": path, "raw_path": path.encode()}
        await app(scope, receive, send_with_headers)

    def _find_trouble(self, scope: Scope) -> str | None:
        """Why a request is refused, or None."""
        headers = Headers(scope=scope)
        hosts, sites = headers.getlist("host"), headers.getlist("sec-fetch-site")
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return "This server answers only to the name 127.0.0.1 or localhost, with its port."
        foreign = any(origin not in self.origins for origin in headers.getlist("origin"))
        if foreign or (scope["method"] != "GET" and any(site not in ("same-origin", "none") for site in sites)):
            return "This server answers only to its own page, not to pages of other origins."
        first = scope["path"].split("/")[1] if "/" in scope["path"] else ""
        # In constant time, so that the token cannot be guessed sign by sign.
        if not secrets.compare_digest(first.encode("utf-8", "replace"), self.token.encode()):
            return "The token is missing or wrong; open the address that `discotext serve` has printed."
        return None


def read_files() -> list[tuple[str, str, bytes]]:
    """The files of the page: path, media type and content. The page itself has an empty path."""
    names = {name: f"{kind}; charset=utf-8" for name, kind in FILES.items()}
    folder = files("discotext.web").joinpath("static")
    return [("" if name == "index.html" else name, kind, (folder / name).read_bytes()) for name, kind in names.items()]


async def read_body(request: Request) -> Any:
    """The JSON of a request."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise RequestError("the request is not JSON; send it with the content type application/json")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            raise RequestError(f"the request has more than {MOST_BYTES:,} bytes; shorten the text")
    try:
        return json.loads(body.decode())
    except (ValueError, RecursionError):
        raise RequestError("the request is not valid JSON") from None


async def refuse_request(request: Request, error: Exception) -> Response:
    """A request that cannot be answered, in one sentence; or its sender has left before all was sent."""
    return reply({"error": str(error)}, 400)


def reply(content: dict[str, Any], status: int = 200) -> Response:
    """An object as JSON, in ASCII: half a surrogate pair could not be written otherwise."""
    return Response(json.dumps(content, allow_nan=False), status, media_type="application/json")


async def answer(model: SharedModel, work: Work) -> Response:
    """Answer with the first event of some work."""
    async for event in run(model, work):
        if event is not None:
            failed = event[0] == ERROR
            return reply({"error": event[1]["message"]} if failed else event[1], 502 if failed else 200)
    return reply({"error": "the server is ending"}, 503)


async def write_events(model: SharedModel, work: Work) -> AsyncIterator[str]:
    """The events of some work, as the format of server-sent events has them."""
    silent = 0
    async for event in run(model, work):
        silent = silent + 1 if event is None else 0
        if event is not None:
            yield f"event: {event[0]}\ndata: {json.dumps(event[1], allow_nan=False)}\n\n"
        elif silent % HEARTBEAT == 0:
            yield ": still running\n\n"


async def run(model: SharedModel, work: Work) -> AsyncIterator[Event | None]:
    """Do work in a thread, and yield the events that it sends; None now and then while there are none.

    The last event is `done`, or `error` with a sentence. When the reader leaves, the work is cancelled. Its thread is
    not waited for: a call of a slow model may still be under way when nobody wants its answer any more, and must not
    keep the server from ending.
    """
    loop, queue, cancelled = asyncio.get_running_loop(), asyncio.Queue[Event](), threading.Event()

    def send(name: str, content: dict[str, Any]) -> None:
        with suppress(RuntimeError):  # the loop has ended, and there is nobody to send to
            loop.call_soon_threadsafe(queue.put_nowait, (name, content))

    def perform() -> None:
        try:
            with suppress(CancelledError):
                work(send, cancelled)
            send(DONE, {})
        except BaseException as error:  # whatever the victim raises, SystemExit included: the server lives on
            if is_fault(error):
                traceback.print_exc(file=sys.stderr)
            send(ERROR, {"message": describe_error(error)})

    threading.Thread(target=perform, daemon=True, name="attack").start()
    try:
        while not model.closing:
            try:
                event = await asyncio.wait_for(queue.get(), POLL)
            except TimeoutError:
                yield None
                continue
            yield event
            if event[0] in (ERROR, DONE):
                return
    finally:
        cancelled.set()
