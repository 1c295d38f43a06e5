"""From the event loop to threads and back: work that sends events while it runs, and ends when its reader leaves."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from discotext.experiment.observation import CancelledError
from discotext.web.errors import describe_error, is_fault

Event = tuple[str, dict[str, Any]]  # a name and an object
Work = Callable[[Callable[[str, dict[str, Any]], None], threading.Event], None]
POLL = 0.25  # seconds after which a stream looks whether the server is to end
HEARTBEAT = 40  # polls without an event after which a comment is sent, so that a connection that is gone is noticed
ERROR, DONE = "error", "done"


async def run(work: Work, cancelled: threading.Event, is_closing: Callable[[], bool]) -> AsyncIterator[Event | None]:
    """Do work in a thread, and yield the events that it sends; None now and then while there are none.

    The last event is `done`, or `error` with a sentence. The thread is not waited for: a call of a slow model may still
    be under way when nobody wants its answer any more, and must not keep the server from ending.
    """
    loop, queue = asyncio.get_running_loop(), asyncio.Queue[Event]()

    def send(name: str, content: dict[str, Any]) -> None:
        with suppress(RuntimeError):  # the loop has ended, and there is nobody to send to
            loop.call_soon_threadsafe(queue.put_nowait, (name, content))

    def perform() -> None:
        try:
            work(send, cancelled)
            send(DONE, {})
        except CancelledError:
            send(DONE, {})
        except BaseException as error:  # whatever the victim raises, SystemExit included: the server lives on
            if is_fault(error):
                traceback.print_exc(file=sys.stderr)
            send(ERROR, {"message": describe_error(error)})

    threading.Thread(target=perform, daemon=True, name="attack").start()
    while True:
        try:
            event = await asyncio.wait_for(queue.get(), POLL)
        except TimeoutError:
            if is_closing():
                return
            yield None
            continue
        yield event
        if event[0] in (ERROR, DONE):
            return


async def watch_reader(receive: Receive, cancelled: threading.Event) -> None:
    """Wait until the reader has left, and cancel the work for it."""
    while (await receive())["type"] != "http.disconnect":
        pass
    cancelled.set()


def write_event(event: Event) -> bytes:
    """An event as the format of server-sent events has it.

    >>> write_event(("step", {"queries": 3}))
    b'event: step\\ndata: {"queries": 3}\\n\\n'
    """
    name, content = event
    return f"event: {name}\ndata: {json.dumps(content, allow_nan=False)}\n\n".encode()


class EventStream(Response):
    """The events of work in a thread as server-sent events; the work is cancelled when its reader leaves."""

    media_type = "text/event-stream"

    def __init__(self, work: Work, is_closing: Callable[[], bool]) -> None:
        self.work, self.is_closing = work, is_closing
        super().__init__()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        cancelled = threading.Event()
        reader = asyncio.create_task(watch_reader(receive, cancelled))
        try:
            headers = [pair for pair in self.raw_headers if pair[0] != b"content-length"]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            silent = 0
            async for event in run(self.work, cancelled, self.is_closing):
                silent = silent + 1 if event is None else 0
                if event is not None or silent % HEARTBEAT == 0:
                    body = b": still running\n\n" if event is None else write_event(event)
                    await send({"type": "http.response.body", "body": body, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            cancelled.set()
            reader.cancel()
