"""Hostile texts, classes, names and errors in a report, opened in a real browser, must be displayed and do nothing.

Each string is used as text, candidate, class, name of the victim and error of a run, and in the page's address. The
page's content security policy would hide a mistake in its markup, so the page is opened without it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote

from click.testing import CliRunner

import discotext as d
from benchmarks.black_box import Outcome, main
from discotext.cli import cli
from discotext.text import make_candidates

RAN = "document.title='PWNED';document.documentElement.setAttribute('data-pwned','1')"
HOSTILE = (
    f"<script>{RAN}</script>",
    f"</script><script>{RAN}</script>",
    f"</SCRIPT ><ScRiPt\n>{RAN}</script\n>",
    f"<!--<script>{RAN}",
    f"--><script>{RAN}</script>",
    f"]]><script>{RAN}</script><![CDATA[",
    f"</title><script>{RAN}</script>",
    f"</style><script>{RAN}</script>",
    f"</textarea></select></option><script>{RAN}</script>",
    f"</noscript><script>{RAN}</script>",
    f"</p></article></section><script>{RAN}</script>",
    f'<img src=x onerror="{RAN}">',
    f"<img/src=x/onerror={RAN}>",
    f'"><img src=x onerror="{RAN}">',
    f'\'><svg onload="{RAN}">',
    f'" autofocus onfocus="{RAN}" x="',
    f"' onmouseover='{RAN}' x='",
    f"` onload=`{RAN}`",
    f'<svg><animate onbegin="{RAN}" attributeName=x dur=1s>',
    f'<details open ontoggle="{RAN}">',
    f'<input autofocus onfocus="{RAN}">',
    f'<iframe srcdoc="<script>parent.{RAN.replace(";", ";parent.")}</script>"></iframe>',
    f'<iframe src="javascript:parent.{RAN}"></iframe>',
    f'<object data="javascript:{RAN}"></object><embed src="javascript:{RAN}">',
    f'<a href="javascript:{RAN}" id=x>click</a>',
    f"javascript:{RAN}",
    f"data:text/html,<script>{RAN}</script>",
    f'<meta http-equiv="refresh" content="0;url=javascript:{RAN}">',
    '<base href="https://example.invalid/"><link rel="stylesheet" href="x">',
    "<style>body{display:none}</style>",
    f'<form action="javascript:{RAN}"><button autofocus>go</button></form>',
    f'<math><mtext><table><mglyph><style><img src=x onerror="{RAN}">',
    f"&lt;script&gt;{RAN}&lt;/script&gt;",
    f"&#60;script&#62;{RAN}&#60;/script&#62;",
    f"\\u003cscript\\u003e{RAN}\\u003c/script\\u003e",
    f"%3Cscript%3E{RAN}%3C/script%3E",
    f'"]}}]}};{RAN}//',
    f'\\"}};{RAN}//\\',
    '{{constructor.constructor("' + RAN + '")()}}',
    "${" + RAN + "} #{" + RAN + "} <%= " + RAN + " %>",
    f"\u202e<script>{RAN}</script>\u202c",
    f"\u2028<script>{RAN}</script>\u2029",
    f"<script>{'A' * 20_000}{RAN}</script>",
    f"<template><script>{RAN}</script></template><slot name=x>",
    "__proto__ constructor toString",
    "\U0001f600 <b>\u0130\u00df</b> \ufffd \u200b",
)
HARMLESS = ("an ordinary phrase", "two words <- and signs & more", "'quoted' \"words\" here")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --virtual-time-budget=3000 --dump-dom"
).split()
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
PATIENCE = 120  # seconds until the browser counts as hung


class Victim:
    """A classifier whose every word is hostile."""

    def __init__(self, hostile: str) -> None:
        self.hostile = self.name = hostile
        self.labels = (hostile, f"not {hostile}")

    def scores(self, texts: Any) -> list[list[float]]:
        if any("explode" in text for text in texts):
            raise ValueError(self.hostile)
        return [[text.count("good") + 0.5, 1.0] for text in texts]


@dataclass
class Seen(HTMLParser):
    """The contents of a page: elements with their attributes, and the text of some of them."""

    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    inside: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.elements.append((tag, given))
        kind = given.get("class") if tag == "p" else tag
        self.inside = [kind] if kind in ("text", "verdict", "facts", "title", "option") else self.inside

    def handle_endtag(self, tag: str) -> None:
        self.inside = [] if tag in ("p", "title", "option") else self.inside

    def handle_data(self, data: str) -> None:
        for kind in self.inside:
            self.texts[kind] = self.texts.get(kind, "") + data

    @property
    def shapes(self) -> set[tuple[str, str]]:
        """Every element with every name of an attribute it has."""
        return {(tag, name) for tag, given in self.elements for name in given} | {(tag, "") for tag, _ in self.elements}

    def count(self, tag: str) -> int:
        return sum(one == tag for one, _ in self.elements)


def report(hostile: str, folder: Path) -> str:
    """The page of a run in which one string is everywhere."""
    (folder / "synonyms.json").write_text(json.dumps({"good": [hostile, "fine"], "film": [hostile]}))
    candidates = make_candidates(synonyms=[folder / "synonyms.json"], without=["all"])
    texts = [f"good film {hostile}", f"{hostile} explode", f"film {hostile}", f"good {hostile} good good film"]
    d.compare(
        Victim(hostile), (texts, [0, 0, 0, 0]), ["greedy", "exact"], budget=[0.3, 1.0], candidates=candidates,
        out=folder / "run",
    )  # fmt: skip
    result = CliRunner().invoke(cli, ["report", str(folder / "run")])
    if result.exit_code:
        raise RuntimeError(f"report exited with status {result.exit_code}: {result.stderr[-300:]}")
    return (folder / "run" / "report.html").read_text(encoding="utf-8")


def opened(page: Path, fragment: str, browser: str) -> Seen:
    """The document that a browser builds from a page."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [browser, *FLAGS, f"--user-data-dir={profile}", f"{page.as_uri()}#{fragment}"]
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)
    seen = Seen()
    seen.feed(done.stdout.decode("utf-8", "replace"))
    seen.close()
    return seen


def looked_at(hostile: str, browser: str) -> tuple[Seen, str]:
    """The page of a string in the browser, opened without its policy, and that policy."""
    with tempfile.TemporaryDirectory() as name:
        text = report(hostile, Path(name))
        policy = POLICY.search(text)
        page = Path(name) / "page.html"
        page.write_text(POLICY.sub("", text, count=1), encoding="utf-8")
        return opened(page, f"solver=all&budget=all&search={quote(hostile)}", browser), policy[1] if policy else ""


def broken(hostile: str, browser: str, usual: set[tuple[str, str]]) -> list[str]:
    """What is wrong with the page of a string."""
    seen, policy = looked_at(hostile, browser)
    root = next((given for tag, given in seen.elements if tag == "html"), {})
    links = [value or "" for _, given in seen.elements for name, value in given.items() if name in ("href", "src")]
    plain = " ".join(hostile.split())
    shown = {kind: " ".join(text.split()) for kind, text in seen.texts.items()}
    laws = {
        "the script of the page did not finish": root.get("data-ready") == "yes" and "data-error" not in root,
        "a payload ran": "data-pwned" not in root and shown.get("title") != "PWNED",
        f"elements that no harmless page has: {sorted(seen.shapes - usual)[:5]}": seen.shapes <= usual,
        f"{seen.count('script')} scripts and {seen.count('style')} styles": (seen.count("script"), seen.count("style"))
        == (2, 1),
        f"links that lead elsewhere: {links[:5]}": all(link.startswith("#") for link in links),
        f"the policy is {policy!r}": policy.startswith("default-src 'none'") and "unsafe" not in policy,
        **{
            f"it is not shown in {kind}": plain in shown.get(kind, "")
            for kind in ("text", "verdict", "option", "title")
        },
    }
    return [law for law, held in laws.items() if not held]


def run(tries: int, seed: int) -> Outcome:
    """Open the pages of the first strings of the list; the seed has no effect."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        return Outcome("browser", 0, ("Chromium is not installed; install it to check reports in a browser",))
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    usual = set().union(*(looked_at(one, browser)[0].shapes for one in HARMLESS))
    failures = []
    for number, hostile in enumerate(HOSTILE[:tries]):
        try:
            laws = broken(hostile, browser, usual)
        except (RuntimeError, ValueError, subprocess.TimeoutExpired) as error:
            laws = [f"{type(error).__name__}: {str(error)[:300]}"]
        failures += [f"string {number}, {hostile[:60]!r}: {'; '.join(laws)}"] if laws else []
    return Outcome("browser", min(tries, len(HOSTILE)), tuple(failures))


if __name__ == "__main__":
    sys.exit(main(run, len(HOSTILE), __doc__ or ""))
