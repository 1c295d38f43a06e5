"""Making text from untrusted sources safe to print: secrets are redacted, control characters are escaped.

A service may send back whatever it was sent, including the token, in full, in part or in another encoding. Every
fragment of a secret is therefore redacted from whatever is printed or stored of an answer.
"""

from __future__ import annotations

import base64
import json
import unicodedata
from collections.abc import Iterable
from urllib.parse import quote, unquote

FRAGMENT = 8  # consecutive characters that reveal something of a secret; shorter ones also occur in ordinary text
REDACTED = "[redacted]"
QUOTED_LENGTH = 80  # characters of an answer that an error message quotes
# Characters that change the direction of the text after them can make a line read as a different one.
BIDI_CONTROLS = {chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C)}


class Secrets:
    """Values that must never be printed or stored.

    >>> Secrets(["s3cret-token"]).redact("you sent s3cret-token, or s3cret-to")
    'you sent [redacted], or [redacted]'
    """

    def __init__(self, values: Iterable[str]) -> None:
        kept = {value for value in values if value}
        # Redacting so short a secret would black out half of every sentence, so nothing of an answer is quoted.
        self.too_short = any(len(value) < FRAGMENT for value in kept)
        spellings = {form for value in kept if len(value) >= FRAGMENT for form in _list_encodings(value)}
        self._fragments = {form[at : at + FRAGMENT] for form in spellings for at in range(len(form) - FRAGMENT + 1)}

    def redact(self, text: str) -> str:
        """Return the text with every fragment of a secret replaced by [redacted]."""
        if not self._fragments or len(text) < FRAGMENT:
            return text
        text = plain = self._redact(text)
        # Any of its characters may be URL-encoded, and that once more.
        while (decoded := unquote(plain)) != plain:
            plain = decoded
        found = self._redact(plain)
        return text if found == plain else found

    def _redact(self, text: str) -> str:
        out, start, end = [], 0, -1
        at = 0
        while at <= len(text) - FRAGMENT:
            if text[at : at + FRAGMENT] in self._fragments:
                if at > end:
                    out += [text[start:at], REDACTED]
                end = at + FRAGMENT
                start = end
            at += 1
        return "".join(out) + text[start:] if out else text

    def quote(self, value: object) -> str:
        """Return the beginning of an untrusted value, safe to use in an error message."""
        if self.too_short:
            return "(an answer that is not shown, because the token is too short to be redacted from it)"
        try:
            text = value if isinstance(value, str) else repr(value)
        except RecursionError:
            text = f"a deeply nested {type(value).__name__}"
        # Redacted before truncation, and again in the spelling that is printed.
        text = " ".join(self.redact(text[: 1 << 16]).split())
        text = self.redact(repr(text) if isinstance(value, str) else escape_unprintable(text))
        return text if len(text) <= QUOTED_LENGTH else text[:QUOTED_LENGTH] + "…"


NO_SECRETS = Secrets(())


def _list_encodings(value: str) -> set[str]:
    """The spellings in which a value may come back."""
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
    for shift in range(3):  # base64 encodes three bytes at a time, so what precedes the value shifts the groups
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            coded = encode(b"\0" * shift + raw).decode().rstrip("=")
            found.add(coded[(4 if shift else 0) : -1])
    return {form for form in found if len(form) >= FRAGMENT}


def escape_unprintable(text: str) -> str:
    """Return the text with control characters and changes of text direction written as escape codes.

    >>> escape_unprintable("a\\x1b[31mred")
    'a\\\\x1b[31mred'
    """
    if text.isprintable() and text.isascii():
        return text
    return "".join(
        character if _is_harmless(character) else character.encode("unicode_escape").decode() for character in text
    )


def _is_harmless(character: str) -> bool:
    if character in "\n\t":
        return True
    return unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp") and character not in BIDI_CONTROLS
