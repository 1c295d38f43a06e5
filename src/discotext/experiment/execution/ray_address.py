"""Whether a Ray cluster answers at an address, within seconds.

Ray itself waits two minutes for an answer, and ends the process if there is none.
"""

from __future__ import annotations

import importlib
import os
import re
import socket
from contextlib import suppress

PATIENCE = 3.0  # seconds
FORM = re.compile(r"(?P<client>ray://)?(?P<host>\[[0-9a-fA-F:]+\]|[^\s:/]+):(?P<port>[0-9]{1,5})/?")
# How an HTTP/2 client, as Ray's is, begins; the server then sends its settings, a frame of type 4.
HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
PORTS = "a cluster listens on 6379 to its own machines and on 10001 (as ray://HOST:10001) to others"


def check_address(address: str) -> None:
    """Raise if nothing that could be Ray answers."""
    if address == "auto":
        address = resolve_auto()
        if address in ("auto", "local"):
            return  # there is none, and Ray will say so at once
    found = FORM.fullmatch(address)
    if found is None or not 0 < int(found["port"]) < 65536:
        raise ValueError(f"the address of Ray is {address!r}; expected 'auto', 'HOST:6379' or 'ray://HOST:10001'")
    try:
        connection = socket.create_connection((found["host"].strip("[]"), int(found["port"])), PATIENCE)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ConnectionError(f"no Ray cluster answers at {address} ({reason}); is it running? {PORTS}") from None
    with connection:
        if os.environ.get("RAY_USE_TLS", "0") in ("0", "") and not speaks_http2(connection):
            raise ConnectionError(f"what answers at {address} is not Ray; {PORTS}")


def resolve_auto() -> str:
    """The address that Ray would use, which may be left over from a cluster that has gone."""
    found = os.environ.get("RAY_ADDRESS")
    with suppress(Exception):  # a private function of Ray's, which raises where there is no cluster
        services = importlib.import_module("ray._private.services")
        found = found or services.get_ray_address_from_environment("auto", None)
    return found or "auto"


def speaks_http2(connection: socket.socket) -> bool:
    try:
        connection.settimeout(PATIENCE)
        connection.sendall(HELLO)
        return connection.recv(9)[3:4] == b"\4"
    except OSError:
        return False


def explain_refusal(address: str | None, error: Exception) -> str:
    """Ray's reason for refusing a connection, in one sentence."""
    reason = " ".join(str(error).split())
    if address is None:
        return f"Ray cannot be started on this machine: {reason}"
    if "ersion mismatch" in reason:
        versions = re.findall(r"(Ray|Python): (\S+)", reason)
        pairs = " and ".join(f"{name} {version}" for name, version in versions[:2])
        mine = " and ".join(f"{name} {version}" for name, version in versions[2:4])
        return f"the cluster at {address} has {pairs}, and this machine has {mine}; install the same versions"
    if "Could not find any running Ray instance" in reason:
        return "no Ray cluster is running on this machine; give its address, or use --ray to start one"
    return f"the Ray cluster at {address} cannot be used: {reason}; {PORTS}"
