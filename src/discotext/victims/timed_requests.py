"""A request that ends in time as a whole: connecting, sending, and every byte of the answer together.

The time limits of sockets are for the gap between two bytes, so that a service that sends one byte now and then is
never late. Here a timer closes the connection when the time is over, whatever is going on.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPConnection, HTTPSConnection
from types import TracebackType
from typing import Any
from urllib.request import HTTPHandler, HTTPRedirectHandler, HTTPSHandler, Request, build_opener

Watch = Callable[[Any], Any]


class OutOfTimeError(TimeoutError):
    """The answer was not there as a whole when its time was over."""


class NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *arguments: Any) -> None:
        return None


class TimedOpener:
    """Opens one request, and closes its connection after so many seconds. Errors by then are an `OutOfTimeError`."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.over = seconds, False
        self._sockets: list[socket.socket] = []
        self._timer = threading.Timer(seconds, self._close)
        self._timer.daemon = True

    def open(self, request: Request) -> Any:
        opener = build_opener(NoRedirects, _Http(self._watch), _Https(self._watch))
        return opener.open(request, timeout=self.seconds)

    def __enter__(self) -> TimedOpener:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        for one in self._sockets:
            one.close()
        # A connection that is closed looks like an answer that has ended.
        if self.over and (error is None or isinstance(error, Exception)):
            raise OutOfTimeError from None

    def _watch(self, connection: Any) -> Any:
        """The same connection, whose socket is known as soon as there is one."""
        connect = connection.connect

        def connect_and_tell() -> None:
            connect()
            self._sockets.append(connection.sock)
            if self.over:
                self._close()

        connection.connect = connect_and_tell
        return connection

    def _close(self) -> None:
        self.over = True
        for one in self._sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


class _Http(HTTPHandler):
    def __init__(self, watch: Watch) -> None:
        HTTPHandler.__init__(self)
        self.watch = watch

    def http_open(self, request: Request) -> Any:
        return self.do_open(lambda host, **more: self.watch(HTTPConnection(host, **more)), request)


class _Https(HTTPSHandler):
    def __init__(self, watch: Watch) -> None:
        HTTPSHandler.__init__(self)
        self.watch = watch

    def https_open(self, request: Request) -> Any:
        return self.do_open(lambda host, **more: self.watch(HTTPSConnection(host, **more)), request)
