"""The page as one file: nothing is fetched, nothing but the page's own style and script may run, it opens from a disk.

The same records give the same bytes: there is no date on it.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import Any

from discotext.report import sections as parts
from discotext.report.figures import Strongest
from discotext.report.markup import Markup, element, embed, join, read_resource
from discotext.report.terms import list_terms
from discotext.report.texts import make_data, show_examples, show_texts
from discotext.runs.folder import Run
from discotext.runs.pairing import Pairing
from discotext.version import __version__


def make_page(run: Run, compared: Pairing | None = None) -> str:
    """The report of a run as HTML. compared: this run beside another one, for a section of its own."""
    attack = Strongest.of(run)
    sections = {
        "compared": ("Beside another run", None if compared is None else parts.compare_runs(compared)),
        "next": ("What to do next", parts.suggest_next(attack)),
        "bracket": ("What is proved", parts.show_bracket(run)),
        "solvers": ("All solvers", parts.list_solvers(attack)),
        "accuracy": (f"Accuracy by {'budget' if len(run.begun) > 1 else 'changes'}", parts.plot_run(run).as_html()),
        "queries": ("Success by queries", parts.show_queries(attack)),
        "classes": ("Class by class", parts.compare_classes(attack)),
        "words": ("The swaps that do most damage", parts.list_swaps(attack)),
        "texts": ("Texts side by side", show_texts(attack)),
        "pedigree": ("Settings and provenance", parts.list_settings(run)),
    }
    headline = join(parts.write_headline(attack), show_examples(attack), parts.write_lead(attack))
    title, version = f"{run.settings['victim']} on {run.settings['data']}", run.settings["version"]
    return wrap_page(title, headline, sections, version, make_data(attack))


def wrap_page(
    title: str,
    headline: Markup,
    sections: Mapping[str, tuple[str, Markup | None]],
    version: str = __version__,
    data: Any = None,
) -> str:
    """A whole page. sections: heading and content by name. data: for the script, which lists texts; None for none."""
    style = join(read_resource("chart.css"), read_resource("style.css"))
    code = None if data is None else read_resource("script.js")
    # By their hashes, so that not even a mistake of ours could let a text run as a script.
    allowed = f"script-src {_hash(code)}; " if code is not None else ""
    policy = f"default-src 'none'; style-src {_hash(style)}; {allowed}base-uri 'none'; form-action 'none'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=Markup(policy)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="generator", content=f"discotext {version}"),
        element("title", f"discotext: {title}"),
        element("style", style),
    )
    shown = [(name, heading, content) for name, (heading, content) in sections.items() if content is not None]
    shown.append(("terms", "Terms", list_terms()))
    links = element("nav", *(element("a", text, href=f"#{name}") for name, text, _ in shown), aria_label="Sections")
    blocks = [join("\n", element("section", element("h2", text), content, id=name)) for name, text, content in shown]
    body = element(
        "body",
        element("header", element("p", title, class_="kicker"), headline, links),
        element("main", *blocks),
        None if data is None else embed(data, id="data"),
        None if code is None else element("script", code),
    )
    # A line for each block keeps the file readable and its differences small.
    return "<!doctype html>\n" + element("html", "\n", head, "\n", body, "\n", lang="en") + "\n"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
