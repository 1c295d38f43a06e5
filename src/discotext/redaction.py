"""Text from strangers, made fit to be shown: without secrets, and without signs that drive a terminal.

A service may send back whatever it was sent, the token included, in full, in part or in another spelling. What is shown
or kept of an answer therefore has every piece of a secret blacked out.
"""

from __future__ import annotations

import base64
import json
import unicodedata
from collections.abc import Iterable
from urllib.parse import quote

PIECE = 8  # signs in a row that tell something of a secret; a secret of fewer cannot be told from ordinary text
BLACK = "[redacted]"
SHOWN = 80  # signs of an answer that a sentence quotes
# Marks that change the direction of what follows can make a line read as another.
DIRECTIONS = {chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C)}


class Secrets:
    """Values that may never be seen, and how to keep them from it.

    >>> Secrets(["s3cret-token"]).redact("you sent s3cret-token, or s3cret-to")
    'you sent [redacted], or [redacted]'
    """

    def __init__(self, values: Iterable[str]) -> None:
        kept = {value for value in values if value}
        # Too short to be found without blacking out half of every sentence: then nothing of an answer is shown.
        self.hopeless = any(len(value) < PIECE for value in kept)
        spellings = {form for value in kept if len(value) >= PIECE for form in _spellings(value)}
        self._pieces = {form[at : at + PIECE] for form in spellings for at in range(len(form) - PIECE + 1)}

    def redact(self, text: str) -> str:
        """The text with every piece of a secret blacked out."""
        if not self._pieces or len(text) < PIECE:
            return text
        out, start, end = [], 0, -1
        at = 0
        while at <= len(text) - PIECE:
            if text[at : at + PIECE] in self._pieces:
                if at > end:
                    out += [text[start:at], BLACK]
                end = at + PIECE
                start = end
            at += 1
        return "".join(out) + text[start:] if out else text

    def shown(self, value: object) -> str:
        """The beginning of a stranger's answer, for a sentence."""
        if self.hopeless:
            return "(what it said is not shown, for the token is too short to be blacked out)"
        try:
            text = value if isinstance(value, str) else repr(value)
        except RecursionError:
            text = f"a {type(value).__name__} of very many levels"
        # Blacked out before it is cut, and once more in the spelling in which it is shown.
        text = " ".join(self.redact(text[: 1 << 16]).split())
        text = self.redact(repr(text) if isinstance(value, str) else printable(text))
        return text if len(text) <= SHOWN else text[:SHOWN] + "…"


NONE = Secrets(())


def _spellings(value: str) -> set[str]:
    """The ways in which a value may come back."""
    raw = value.encode()
    found = {
        value,
        value[::-1],
        quote(value),
        quote(value, safe=""),
        json.dumps(value)[1:-1],
        raw.hex(),
        repr(value)[1:-1],
    }
    for shift in range(3):  # what stands before it moves the groups of base64
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            coded = encode(b"\0" * shift + raw).decode().rstrip("=")
            found.add(coded[(4 if shift else 0) : -1])
    return {form for form in found if len(form) >= PIECE}


def printable(text: str) -> str:
    """The text with every control sign and every mark of direction shown as a code instead.

    >>> printable("a\\x1b[31mred")
    'a\\\\x1b[31mred'
    """
    if text.isprintable() and text.isascii():
        return text
    return "".join(sign if _harmless(sign) else sign.encode("unicode_escape").decode() for sign in text)


def _harmless(sign: str) -> bool:
    return sign in "\n\t" or (unicodedata.category(sign) not in ("Cc", "Cs", "Zl", "Zp") and sign not in DIRECTIONS)
