"""HTTP requests with a timeout for the whole exchange: connecting, sending, and every byte of the answer.

A socket's timeout limits the gap between two bytes, so a service that sends one byte now and then never exceeds it.
Here a timer closes the connection when the time is up.
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

Register = Callable[[Any], Any]


class OutOfTimeError(TimeoutError):
    """The answer was not complete when the time was up."""


class NoRedirects(HTTPRedirectHandler):
    """Treats a redirect as an error."""

    def redirect_request(self, *arguments: Any) -> None:
        return None


class TimedOpener:
    """Opens one request and closes its connection after so many seconds; errors after that are an `OutOfTimeError`."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.is_over = seconds, False
        self._sockets: list[socket.socket] = []
        self._timer = threading.Timer(seconds, self._close)
        self._timer.daemon = True

    def open(self, request: Request) -> Any:
        opener = build_opener(NoRedirects, _Http(self._register), _Https(self._register))
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
        # A closed connection looks like an answer that has ended.
        if self.is_over and (error is None or isinstance(error, Exception)):
            raise OutOfTimeError from None

    def _register(self, connection: Any) -> Any:
        """Return the same connection, whose socket is registered here as soon as it is open."""
        connect = connection.connect

        def connect_and_register() -> None:
            connect()
            self._sockets.append(connection.sock)
            if self.is_over:
                self._close()

        connection.connect = connect_and_register
        return connection

    def _close(self) -> None:
        self.is_over = True
        for one in self._sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


class _Http(HTTPHandler):
    def __init__(self, register: Register) -> None:
        HTTPHandler.__init__(self)
        self.register = register

    def http_open(self, request: Request) -> Any:
        return self.do_open(lambda host, **more: self.register(HTTPConnection(host, **more)), request)


class _Https(HTTPSHandler):
    def __init__(self, register: Register) -> None:
        HTTPSHandler.__init__(self)
        self.register = register

    def https_open(self, request: Request) -> Any:
        return self.do_open(lambda host, **more: self.register(HTTPSConnection(host, **more)), request)
