"""The application: the files of the page, and what its script asks for.

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
import threading
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from discotext.web.guard import Guard
from discotext.web.messages import RequestError, read_attack, read_look
from discotext.web.model import SharedModel
from discotext.web.threads import ERROR, EventStream, Work, run, watch_reader

TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
MOST_BYTES = 200_000  # of a request
AT_ONCE = 16  # requests that may wait for the model; more are refused


def make_app(model: SharedModel, token: str, port: int) -> ASGIApp:
    """The application for a model, behind a guard."""
    places = threading.BoundedSemaphore(AT_ONCE)

    def limit(work: Work) -> Work:
        """The same work, unless too much is waiting already."""

        def limited(send: Callable[[str, dict[str, Any]], None], cancelled: threading.Event) -> None:
            if not places.acquire(blocking=False):
                raise RuntimeError(f"{AT_ONCE} requests wait for the model already; close other tabs, or try again")
            try:
                work(send, cancelled)
            finally:
                places.release()

        return limited

    async def about(request: Request) -> Response:
        return await answer(request, model, lambda send, cancelled: send("about", model.describe()))

    async def look(request: Request) -> Response:
        asked = read_look(await read_body(request))
        return await answer(request, model, limit(lambda send, cancelled: send("look", model.look(asked, cancelled))))

    async def attack(request: Request) -> Response:
        asked = read_attack(await read_body(request))
        work = limit(lambda send, cancelled: model.attack(asked, send, cancelled))
        return EventStream(work, lambda: model.closing)

    app = Starlette(
        routes=[
            *(Route(f"/{name}", serve_file(kind, content)) for name, kind, content in read_files()),
            Route("/api/about", about),
            Route("/api/look", look, methods=["POST"]),
            Route("/api/attack", attack, methods=["POST"]),
        ],
        exception_handlers={RequestError: refuse_request, ClientDisconnect: ignore_reader},
    )
    return Guard(app, token, port)


def read_files() -> list[tuple[str, str, bytes]]:
    """The files of the page: path, media type and content. The page itself has an empty path."""
    found = []
    for file in files("discotext.web").joinpath("static").iterdir():
        ending = file.name[file.name.rfind(".") :]
        if ending in TYPES:
            path = "" if file.name == "index.html" else file.name
            found.append((path, f"{TYPES[ending]}; charset=utf-8", file.read_bytes()))
    return found


def serve_file(kind: str, content: bytes) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint that answers with a file."""

    async def serve(request: Request) -> Response:
        return Response(content, headers={"content-type": kind})

    return serve


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
    """A request that cannot be answered: one sentence."""
    return reply({"error": str(error)}, 400)


async def ignore_reader(request: Request, error: Exception) -> Response:
    """The sender has left before all was sent."""
    return Response(status_code=400)


def reply(content: dict[str, Any], status: int = 200) -> Response:
    """An object as JSON, in ASCII: half a surrogate pair could not be written otherwise."""
    return Response(json.dumps(content, allow_nan=False), status, media_type="application/json")


async def answer(request: Request, model: SharedModel, work: Work) -> Response:
    """Answer with the first event of some work; it is cancelled if the reader leaves."""
    cancelled = threading.Event()
    reader = asyncio.create_task(watch_reader(request.receive, cancelled))
    try:
        async for event in run(work, cancelled, lambda: model.closing):
            if event is not None:
                failed = event[0] == ERROR
                return reply({"error": event[1]["message"]} if failed else event[1], 502 if failed else 200)
        return reply({"error": "the server is ending"}, 503)
    finally:
        cancelled.set()
        reader.cancel()
