"""The page as one file: nothing is fetched, nothing but the page's own style and script may run, it opens from a disk.

The same records give the same bytes: there is no date on it.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence

from discotext.report.figures import Strongest
from discotext.report.markup import Markup, element, embed, join, read_resource
from discotext.report.sections import (
    chart_accuracy,
    compare_classes,
    compare_runs,
    list_settings,
    list_solvers,
    list_swaps,
    show_bracket,
    show_positions,
    show_queries,
    suggest_next,
    write_headline,
    write_lead,
)
from discotext.report.terms import list_terms
from discotext.report.texts import OUTCOMES, classify, make_data, show_examples, show_texts
from discotext.runs.folder import Run
from discotext.runs.pairing import Pairing
from discotext.version import __version__

BASIC = ("victim", "candidate", "swap", "budget", "accept", "solver", "search space", "tie")  # terms of every page


def make_page(run: Run, compared: Pairing | None = None) -> str:
    """The report of a run as HTML. compared: this run beside another one, for a section of its own."""
    attack = Strongest.of(run)
    sections = {
        "compared": ("Beside another run", None if compared is None else compare_runs(compared)),
        "next": ("What to do next", suggest_next(attack)),
        "bracket": ("What is proved", show_bracket(run)),
        "solvers": ("All solvers", list_solvers(attack)),
        "accuracy": ("Accuracy by budget" if len(run.begun) > 1 else "Before and after", chart_accuracy(attack)),
        "queries": ("Success by queries", show_queries(attack)),
        "classes": ("Class by class", compare_classes(attack)),
        "words": ("The swaps that do most damage", list_swaps(attack)),
        "places": ("Where the changes are", show_positions(attack)),
        "texts": ("Texts side by side", show_texts(attack)),
        "pedigree": ("Settings and provenance", list_settings(run)),
    }
    # Outcomes and statuses that occur are the words of the cards and records.
    outcomes = {OUTCOMES[classify(record)] for record in run.records} | {record.status for record in run.records}
    return wrap_page(
        f"{run.settings['victim']} on {run.settings['data']}",
        join(write_headline(attack), show_examples(attack), write_lead(attack)),
        sections,
        run.settings["version"],
        element("a", "To the texts", href="#texts", class_="skip"),
        embed(make_data(attack), id="data"),
        scripts=("terms.js", "script.js"),
        terms=[*BASIC, *sorted(outcomes)],
    )


def wrap_page(
    title: str,
    headline: Markup,
    sections: Mapping[str, tuple[str, Markup | None]],
    version: str = __version__,
    first: Markup | None = None,
    last: Markup | None = None,
    scripts: Sequence[str] = (),
    terms: Iterable[str] = (),
) -> str:
    """A whole page. sections: heading and content by name. first, last: what stands before and after all else.

    scripts: files of the package that run on the page.
    terms: those to explain in the end beside the ones that the page links to.
    """
    style = join(read_resource("chart.css"), read_resource("style.css"))
    code = join(*map(read_resource, scripts)) if scripts else None
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
    shown = {name: (heading, content) for name, (heading, content) in sections.items() if content is not None}
    legend = list_terms([headline, *(content for _, content in shown.values())], terms)
    if legend is not None:
        shown["terms"] = ("Terms", legend)
    links = [element("a", heading, href=f"#{name}") for name, (heading, _) in shown.items()]
    body = element(
        "body",
        first,
        element(
            "header", element("p", title, class_="kicker"), headline, element("nav", *links, aria_label="Sections")
        ),
        element("main", *(_section(name, heading, content) for name, (heading, content) in shown.items())),
        last,
        element("script", code) if code is not None else None,
    )
    # A line for each block keeps the file readable and its differences small.
    return "<!doctype html>\n" + element("html", "\n", head, "\n", body, "\n", lang="en") + "\n"


def _section(name: str, heading: str, content: Markup) -> Markup:
    return join("\n", element("section", element("h2", heading), content, id=name))


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
