"""A record as a line of a file, with a checksum of itself: a bit that flips on a disk is told, and never averaged."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

CHECKSUM = "sha256-16"  # what settings say of lines with a checksum: the first 16 digits of a SHA-256
CHECKED = re.compile(rb', "check": "([0-9a-f]{16})"\}\n\Z')


def line_of(record: dict[str, Any]) -> bytes:
    """A record as a line whose last entry is a checksum of all before it."""
    text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    body = text.encode("utf-8", "surrogatepass")
    return body[:-1] + b', "check": "%s"}\n' % checksum(body).encode()


def has_checksum(line: bytes) -> bool:
    return CHECKED.search(line) is not None


def checksum(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()[:16]


def is_sound(line: bytes) -> bool:
    """Whether a line is what its checksum says."""
    found = CHECKED.search(line)
    return found is not None and checksum(line[: found.start()] + b"}") == found[1].decode()
