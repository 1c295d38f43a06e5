"""Secrets, kept out of what is quoted from untrusted sources.

A service may send back whatever it was sent, including the token, in full, in part or in another encoding. What shows a
fragment of a secret is therefore not printed or stored at all.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from urllib.parse import unquote

from discotext.support.plain_text import escape_unprintable

FRAGMENT = 8  # consecutive characters that reveal something of a secret; shorter ones also occur in ordinary text
REDACTED = "[redacted]"
QUOTED_LENGTH = 80  # characters of an answer that an error message quotes
JSON_ESCAPE = re.compile(r"\\+u([0-9a-fA-F]{4})")


class Secrets:
    """Values that must never be printed or stored.

    >>> secrets = Secrets(["s3cret-token"])
    >>> secrets.hide("you sent s3cret-to"), secrets.hide("field required")
    ('[redacted]', 'field required')
    """

    def __init__(self, values: Iterable[str]) -> None:
        kept = {value for value in values if value}
        # So short a secret occurs in ordinary text, too, so nothing of an answer is quoted.
        self.too_short = any(len(value) < FRAGMENT for value in kept)
        spellings = {form for value in kept if len(value) >= FRAGMENT for form in _list_encodings(value)}
        self._fragments = {form[at : at + FRAGMENT] for form in spellings for at in range(len(form) - FRAGMENT + 1)}

    def hide(self, text: str) -> str:
        """Return the text, or [redacted] if it shows a fragment of a secret."""
        if not self._fragments:
            return text
        forms = [text, JSON_ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)]
        # Any of its characters may be URL-encoded, and that once more.
        while (decoded := unquote(forms[-1])) != forms[-1]:
            forms.append(decoded)
        shown = (form[at : at + FRAGMENT] for form in forms for at in range(len(form) - FRAGMENT + 1))
        return text if self._fragments.isdisjoint(shown) else REDACTED

    def quote(self, value: object) -> str:
        """Return the beginning of an untrusted value, safe to use in an error message."""
        if self.too_short:
            return "(an answer that is not shown, because the token is too short to be recognised in it)"
        try:
            text = value if isinstance(value, str) else repr(value)
        except RecursionError:
            text = f"a deeply nested {type(value).__name__}"
        text = " ".join(text[: 1 << 16].split())
        # Before it is cut, so that no beginning of a secret is left, and as it is printed.
        text = self.hide(text)
        text = self.hide(repr(text) if isinstance(value, str) else escape_unprintable(text))
        return text if len(text) <= QUOTED_LENGTH else text[:QUOTED_LENGTH] + "…"


NO_SECRETS = Secrets(())


def _list_encodings(value: str) -> set[str]:
    """Return the spellings in which a value may come back, those aside that `hide` decodes."""
    raw = value.encode()
    found = {value, raw.hex(), repr(value)[1:-1]}
    for shift in range(3):  # base64 encodes three bytes at a time, so what precedes the value shifts the groups
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            found.add(encode(b"\0" * shift + raw).decode().rstrip("=")[(4 if shift else 0) : -1])
    return {form for form in found if len(form) >= FRAGMENT}
