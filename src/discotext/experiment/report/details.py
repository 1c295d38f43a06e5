"""The sections on one attack: which classes, which words, and where; and the pedigree of it all."""

from __future__ import annotations

import json

from discotext.experiment.metrics import succeeded, summarise
from discotext.experiment.quality import MEASURES
from discotext.experiment.report.curve import histogram
from discotext.experiment.report.figures import Strongest, allowed, amount, cell, percent, table
from discotext.experiment.report.hits import TAGGED, TENTHS, kinds, pairs, tenths
from discotext.experiment.report.markup import Markup, element, joined
from discotext.experiment.report.reading import Run


def classes(attack: Strongest) -> Markup:
    """The same figures class by class."""
    rows = []
    for label, name in enumerate(attack.run.labels):
        mine = [row for row in attack.records if row["label"] == label]
        if mine:
            figures = summarise(mine, attack.run.settings["seed"])
            shares = ("original_accuracy", "adversarial_accuracy", "success_rate")
            cells = [cell(figures, share) for share in shares]
            rows.append(element("tr", element("th", name, scope="row"), element("td", f"{len(mine):,}"), *cells))
    headings = ("class", "texts", "accuracy before", "accuracy after", "success")
    return table(f"{attack}", headings, element("tbody", *rows))


def quality(run: Run) -> Markup | None:
    """What the turned texts are like beside their originals, where models were asked to judge them."""
    if not run.judges:
        return None
    shown = {name: how for judge in run.judges for name, how in MEASURES[judge].items()}
    headings = ("solver", *(heading for heading, _ in shown.values()))
    bodies = []
    for budget, one in run.begun:
        title = element("th", f"at most {allowed(budget)}", colspan=len(headings), scope="rowgroup")
        rows = [
            element(
                "tr", element("th", solver, scope="row"), *(amount(row, name, how[1]) for name, how in shown.items())
            )
            for solver, row in one["solvers"].items()
        ]
        bodies.append(element("tbody", element("tr", title, class_="group"), *rows))
    note = ("What the swaps do to the texts, as models judge: means over the texts turned, with 95\u00a0% intervals. "
            "Similarity is the cosine of both texts’ encodings, 1 where they are the same. Perplexity is how much a "
            "text surprises a language model.")  # fmt: skip
    whole = table("Turned texts beside their originals", headings, *bodies)
    return joined(element("p", note, class_="fine"), whole)


def word_pairs(attack: Strongest) -> Markup:
    """The swaps that stand in most turned texts."""
    found = pairs(attack.records)
    won = sum(map(succeeded, attack.records))
    if not found:
        return element("p", "No text was turned, so no swap did any damage.")
    rows = [
        element(
            "tr",
            element("th", element("del", pair.old), " → ", element("ins", pair.new), scope="row"),
            element("td", f"{pair.turned:,}"),
            element("td", percent(pair.turned / won)),
            element("td", f"{pair.used:,}"),
        )
        for pair in found
    ]
    headings = ("swap", "turned texts", "share of them", "all texts with it")
    return table(f"{attack}; the {len(found)} most frequent", headings, element("tbody", *rows))


def places(attack: Strongest) -> Markup:
    """Where in the text, and which parts of speech."""
    counts = tenths(attack.records)
    if not any(counts):
        return element("p", "No word was changed.")
    step = 100 // TENTHS
    names = [f"{step * place}–{step * (place + 1)}" for place in range(TENTHS)]
    figure = element(
        "figure",
        element("figcaption", "Words changed, by where they stand"),
        histogram(counts, names, "place in the text, from first word to last"),
    )
    found = kinds(attack.records)
    changed = sum(kind.changed for kind in found)
    rows = [
        element(
            "tr",
            element("th", kind.name, scope="row"),
            element("td", f"{kind.changed:,}"),
            element("td", percent(kind.changed / changed if changed else None)),
            element("td", percent(kind.changed / kind.words)),
        )
        for kind in found
    ]
    part = f", in the first {TAGGED:,} texts" if len(attack.records) > TAGGED else ""
    caption = f"Parts of speech of the original words{part}"
    headings = ("part of speech", "changed", "share of changes", "share of its words")
    return element("div", figure, table(caption, headings, element("tbody", *rows)), class_="pair")


def pedigree(run: Run) -> Markup:
    """Where the numbers come from."""
    settings = run.settings
    facts = [("victim", settings["victim"]), ("data", settings["data"]), ("seed", settings["seed"]),
             ("version", settings["version"]), ("records", f"{len(run.records):,} of {run.expected:,}")]  # fmt: skip
    facts += [(judge.replace("_", " "), name) for judge, name in run.judges.items()]
    facts += [(f"search space, {allowed(budget)}", one["space"]) for budget, one in run.begun]
    listed = [element("div", element("dt", name), element("dd", value)) for name, value in facts]
    pretty = json.dumps(settings, indent=2, ensure_ascii=False)
    shown = element("details", element("summary", "All settings"), element("pre", pretty, tabindex="0"))
    return joined(element("dl", *listed), shown)
