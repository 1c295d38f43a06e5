"""Whether a Ray cluster answers at an address, told within seconds.

Ray itself waits two minutes for somebody to answer, and ends the process if nobody does.
"""

from __future__ import annotations

import importlib
import os
import re
import socket
from contextlib import suppress

PATIENCE = 3.0  # seconds
FORM = re.compile(r"(?P<client>ray://)?(?P<host>\[[0-9a-fA-F:]+\]|[^\s:/]+):(?P<port>[0-9]{1,5})/?")
# How one who speaks HTTP/2, as Ray does, begins; the other side then sends its settings, a frame of kind 4.
HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
PORTS = "a cluster listens on 6379 to its own machines and on 10001 (as ray://HOST:10001) to others"


def check_address(address: str) -> None:
    """Raise a sentence if nothing that could be Ray answers."""
    if address == "auto":
        address = meant_by_auto()
        if address in ("auto", "local"):
            return  # there is none, which Ray says at once
    found = FORM.fullmatch(address)
    if found is None or not 0 < int(found["port"]) < 65536:
        raise ValueError(f"the address of Ray is {address!r}; expected 'auto', 'HOST:6379' or 'ray://HOST:10001'")
    try:
        line = socket.create_connection((found["host"].strip("[]"), int(found["port"])), PATIENCE)
    except OSError as error:
        said = (error.strerror or str(error)).lower()
        raise ConnectionError(f"no Ray cluster answers at {address} ({said}); is it up? {PORTS}") from None
    with line:
        if os.environ.get("RAY_USE_TLS", "0") in ("0", "") and not speaks_http2(line):
            raise ConnectionError(f"what answers at {address} is not Ray; {PORTS}")


def meant_by_auto() -> str:
    """The address that Ray would take, be it one that was left behind by a cluster that is no more."""
    found = os.environ.get("RAY_ADDRESS")
    with suppress(Exception):  # it is Ray's own affair, and where there is no cluster it raises
        services = importlib.import_module("ray._private.services")
        found = found or services.get_ray_address_from_environment("auto", None)
    return found or "auto"


def speaks_http2(line: socket.socket) -> bool:
    try:
        line.settimeout(PATIENCE)
        line.sendall(HELLO)
        return line.recv(9)[3:4] == b"\4"
    except OSError:
        return False


def why_not_connected(address: str | None, error: Exception) -> str:
    """What Ray says as it refuses, in one sentence."""
    said = " ".join(str(error).split())
    if address is None:
        return f"Ray cannot be started on this machine: {said}"
    if "ersion mismatch" in said:
        versions = re.findall(r"(Ray|Python): (\S+)", said)
        pairs = " and ".join(f"{name} {version}" for name, version in versions[:2])
        mine = " and ".join(f"{name} {version}" for name, version in versions[2:4])
        return f"the cluster at {address} has {pairs}, and this is {mine}; install the same here as there"
    if "Could not find any running Ray instance" in said:
        return "no Ray cluster runs on this machine; give its address, or --ray for one of its own"
    return f"the Ray cluster at {address} cannot be used: {said}; {PORTS}"
