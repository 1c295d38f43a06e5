"""HTML in which nothing from the data can be anything but text.

A plain string is text and is escaped wherever it goes; only what `element` made is markup. So a review that holds a
`<script>` stays a review, and no section has to remember to escape.
"""

from __future__ import annotations

import html
import json
import re
from importlib import resources
from typing import Any

VOID = ("meta", "br", "input", "link")


class Markup(str):
    """A string that is HTML already."""

    __slots__ = ()


def replace_surrogates(text: str) -> str:
    """The text with lone surrogates, which UTF-8 cannot hold, replaced; its length stays the same."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def escape(content: Any) -> Markup:
    """Markup as it is, anything else as text; None and False are nothing."""
    if isinstance(content, Markup):
        return content
    if content is None or content is False:
        return Markup("")
    return Markup(html.escape(replace_surrogates(str(content))))


def element(tag: str, *content: Any, **attributes: Any) -> Markup:
    """An element. A trailing underscore is dropped from an attribute's name, others become hyphens.

    >>> element("td", "a < b", class_="number", data_id=3)
    '<td class="number" data-id="3">a &lt; b</td>'
    >>> element("p", element("b", "bold"), " and <b>not</b>")
    '<p><b>bold</b> and &lt;b&gt;not&lt;/b&gt;</p>'
    """
    given = "".join(
        f" {_name(name)}" if value is True else f' {_name(name)}="{escape(value)}"'
        for name, value in attributes.items()
        if value is not None and value is not False
    )
    if tag in VOID:
        return Markup(f"<{tag}{given}>")
    return Markup(f"<{tag}{given}>{join(*content)}</{tag}>")


def _name(name: str) -> str:
    # SVG alone spells with capitals, and means them.
    return {"viewbox": "viewBox"}.get(name, name.removesuffix("_").replace("_", "-"))


def join(*content: Any) -> Markup:
    """Several pieces, one after the other."""
    return Markup("".join(map(escape, content)))


def embed(value: Any, **attributes: Any) -> Markup:
    """Data for the page's script. No character that could end the element or begin another is left in it.

    >>> embed(["</script>"], id="data")
    '<script type="application/json" id="data">["\\\\u003c/script\\\\u003e"]</script>'
    """
    text = replace_surrogates(json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return element("script", Markup(text), type="application/json", **attributes)


def read_resource(name: str) -> Markup:
    """A style or script that comes with the package, with no character that could end its element."""
    text = (resources.files(__package__ or "") / name).read_text(encoding="utf-8")
    if "</" in text:
        raise RuntimeError(f"{name} holds '</', which would end its element on the page")
    return Markup("\n" + text)
