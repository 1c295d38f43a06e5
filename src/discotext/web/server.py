"""The server: a port of this machine, an address with a token, and an end that leaves nothing running."""

from __future__ import annotations

import errno
import os
import secrets
import socket
from types import FrameType
from typing import Any

import uvicorn

from discotext.web.app import make_app
from discotext.web.model import SharedModel

HOST = "127.0.0.1"  # and no other: the page is for this machine
PORT = 8765
PATIENCE = 0.15  # seconds of a call of the model, so that steps are shown as they happen
GRACE = 2  # seconds for what is under way when the server ends


def open_port(port: int | None) -> socket.socket:
    """A socket on a port of this machine; without a number, the usual one, or a free one if that is taken."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":
        # Else a port that was in use a moment ago cannot be opened. Elsewhere it would let two servers share a port.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, PORT if port is None else port))
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            listening.close()
            raise
        if port is not None:
            listening.close()
            taken = "is in use" if error.errno == errno.EADDRINUSE else "may not be used"
            raise ValueError(f"port {port} {taken}; choose another with --port, or 0 for any free one") from None
        listening.bind((HOST, 0))
    return listening


class Server(uvicorn.Server):
    """A server of the page, on a port that is open as soon as it is made. address: of the page, with its token."""

    def __init__(self, model: SharedModel, port: int | None = None) -> None:
        self.model, self.listening = model, open_port(port)
        number, token = self.listening.getsockname()[1], secrets.token_urlsafe(24)
        self.address = f"http://{HOST}:{number}/{token}/"
        settings: dict[str, Any] = {"http": "h11", "ws": "none", "lifespan": "off", "server_header": False}
        settings |= {"log_config": None, "log_level": "error", "access_log": False}
        super().__init__(uvicorn.Config(make_app(model, token, number), timeout_graceful_shutdown=GRACE, **settings))
        # From here on a browser can connect; it is answered as soon as the server runs.
        self.listening.listen(64)

    def serve_page(self) -> None:
        """Serve until Ctrl-C, which raises KeyboardInterrupt."""
        with self.listening:
            self.run(sockets=[self.listening])

    def end(self) -> None:
        """End at once: attacks stop at their next call of the model."""
        self.model.closing = self.should_exit = True

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.model.closing = True
        super().handle_exit(sig, frame)
