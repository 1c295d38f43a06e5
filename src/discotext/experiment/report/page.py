"""The page as one file: nothing is fetched, nothing but the page's own style and script may run, it opens from a disk.

The same records give the same bytes: there is no date on it.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources

from discotext.experiment.report.bracket import show_bracket
from discotext.experiment.report.figures import Strongest
from discotext.experiment.report.legend import explain, list_terms
from discotext.experiment.report.markup import Markup, element, embed, join
from discotext.experiment.report.next_steps import show_next_steps
from discotext.experiment.report.sections import (
    chart_accuracy,
    chart_queries,
    compare_classes,
    list_settings,
    list_solvers,
    list_swaps,
    show_positions,
    warn_of_unfinished,
    write_headline,
    write_lead,
)
from discotext.experiment.report.showcase import show_flipped
from discotext.experiment.report.texts import OUTCOMES, classify, make_data, make_static_cards, select_texts
from discotext.experiment.run import Run
from discotext.version import __version__

SORTS = {
    "flipped": "flipped first", "order": "in the order of the data", "fewest": "fewest words changed",
    "most": "most words changed", "high": "highest score after", "low": "lowest score after", "short": "shortest",
    "long": "longest",
}  # fmt: skip
BASIC = ("victim", "candidate", "swap", "budget", "accept", "solver", "search space", "tie")  # terms of every page


def make_page(run: Run, folder: str | None = None) -> str:
    """The report of a run as HTML. folder: where the run is, for the commands that the page suggests."""
    attack = Strongest.of(run)
    title = f"{run.settings['victim']} on {run.settings['data']}"
    sections = {
        "next": ("What to do next", show_next_steps(attack, folder)),
        "bracket": ("What is proved", show_bracket(run)),
        "solvers": ("All solvers", list_solvers(attack)),
        "accuracy": ("Accuracy by budget" if len(run.begun) > 1 else "Before and after", chart_accuracy(attack)),
        "queries": ("Success by queries", chart_queries(attack)),
        "classes": ("Class by class", compare_classes(attack)),
        "words": ("The swaps that do most damage", list_swaps(attack)),
        "places": ("Where the changes are", show_positions(attack)),
        "texts": ("Texts side by side", show_texts(attack)),
        "pedigree": ("Settings and provenance", list_settings(run)),
    }
    headline = join(write_headline(attack), show_flipped(attack), write_lead(attack), warn_of_unfinished(run))
    skip = element("a", "To the texts", href="#texts", class_="skip")
    return wrap_page(
        title,
        headline,
        sections,
        run.settings["version"],
        skip,
        embed(make_data(attack), id="data"),
        scripts=("terms.js", "script.js"),
        terms=[*BASIC, *list_outcomes(run)],
    )


def list_outcomes(run: Run) -> list[str]:
    """Outcomes and statuses that occur in a run: the words of its cards and its records."""
    found = {OUTCOMES[classify(record)] for record in run.records} | {record.status for record in run.records}
    return sorted(found)


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
    style = _resource("style.css")
    code = join(*map(_resource, scripts)) if scripts else None
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


def show_texts(attack: Strongest) -> Markup:
    """Controls, the place where the script puts the texts, and some of them for readers without one."""
    selection = select_texts(attack)
    legend = element(
        "p",
        *("A changed word is ", element("del", "struck through"), " in the original, and its replacement "),
        *(element("ins", "underlined"), " in the adversarial text. "),
        *("The ", explain("score"), " is what an attack raises: above 0 the label is flipped. "),
        *("Outcomes and statuses are explained under ", element("a", "Terms", href="#terms"), "."),
        class_="fine",
    )
    controls = [
        *(_select(name) for name in ("solver", "budget", "outcome", "class")),
        _select("sort", SORTS),
        element("label", "search", element("input", type="search", name="search", autocomplete="off")),
    ]
    form = element("form", *controls, element("output", name="count", aria_live="polite"), id="controls", hidden=True)
    more = element("button", "Show more", type="button", id="more", hidden=True)
    part = f"{selection} report --csv FILE writes all of them."
    note = element("p", part, class_="note") if selection.is_part else None
    return join(
        note,
        legend,
        form,
        element("div", id="cards", class_="cards"),
        more,
        element("noscript", make_static_cards(attack)),
    )


def _select(name: str, options: dict[str, str] | None = None) -> Markup:
    listed = [element("option", text, value=value) for value, text in (options or {}).items()]
    return element("label", name, element("select", *listed, name=name))


def _section(name: str, heading: str, content: Markup) -> Markup:
    return join("\n", element("section", element("h2", heading), content, id=name))


def _resource(name: str) -> Markup:
    """A file that comes with the package, with no character that could end its element."""
    text = (resources.files(__package__ or "") / name).read_text(encoding="utf-8")
    if "</" in text:
        raise RuntimeError(f"{name} holds '</', which would end its element on the page")
    return Markup("\n" + text)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
