"""The page of a hardening: both models on the same texts, in one file that fetches nothing."""

from __future__ import annotations

from discotext.experiment.hardening.matrix import OWN, holds
from discotext.experiment.hardening.outcome import Hardening, describe
from discotext.experiment.record import Record
from discotext.experiment.report.curve import Point, draw_frontier
from discotext.experiment.report.figures import format_number, format_percent, format_share, make_table
from discotext.experiment.report.markup import Markup, element, join
from discotext.experiment.report.page import wrap_page
from discotext.experiment.report.texts import mark_changes

SHOWN = 12  # texts of each kind


def make_hardening_page(found: Hardening) -> str:
    """The page as HTML."""
    title = f"{found.model} on {found.data}, hardened"
    own = found.matrix[OWN]
    headline = f"{format_percent(own.before)} → {format_percent(own.after)} under attack"
    sections = {
        "answer": ("In short", join(*(element("p", text) for text in describe(found)))),
        "models": ("Before and after", show_models(found)),
        "matrix": ("Against attacks it was not built for", show_matrix(found)),
        "recipes": ("The recipes, on held-out texts", show_recipes(found)),
        "texts": ("The same texts, both models", show_texts(found)),
    }
    return wrap_page(title, element("h1", headline), sections)


def show_models(found: Hardening) -> Markup:
    rows = [
        element(
            "tr",
            element("th", name, scope="row"),
            format_share(clean),
            format_share(one.attacked_accuracy),
            format_share(one.certified_accuracy),
        )
        for name, clean, one in zip(("plain", found.chosen), found.clean, found.certificates, strict=True)
    ]
    caption = (
        f"Test texts: accuracy on all of them, and on {found.certificates[0].n:,} of them attacked and proved, with "
        f"{100 * found.share:g} % of the words exchanged. Small figures are 95 % intervals."
    )
    return make_table(caption, ("model", "clean", "attacked, at most", "certified, at least"), element("tbody", *rows))


def show_matrix(found: Hardening) -> Markup:
    rows = [
        element(
            "tr",
            element("th", name, scope="row"),
            format_share(pair.before),
            format_share(pair.after),
            element("td", format_number(pair.p, f"{pair.p:.2g}")),
            class_="best" if name == found.worst else None,
        )
        for name, pair in found.matrix.items()
    ]
    caption = "Accuracy under each attack, both models on the same texts and candidates; the worst cell is in colour."
    return make_table(caption, ("attack", "before", "after", "p (McNemar)"), element("tbody", *rows))


def show_recipes(found: Hardening) -> Markup:
    rows = [
        element(
            "tr",
            element("th", name, scope="row"),
            element("td", format_number(trial.clean, format_percent(trial.clean))),
            element("td", format_number(trial.attacked, format_percent(trial.attacked))),
            element("td", format_number(trial.seconds, f"{trial.seconds:,.0f} s")),
            class_="best" if name == found.chosen else None,
        )
        for name, trial in found.trials.items()
    ]
    points = {
        name: Point(trial.clean, trial.attacked, trial.attacked, trial.attacked) for name, trial in found.trials.items()
    }
    least = found.trials["plain"].clean - found.most_loss / 100
    return join(
        make_table(
            "What each recipe costs and buys", ("recipe", "clean", "attacked", "training"), element("tbody", *rows)
        ),
        draw_frontier(points, least),
    )


def show_texts(found: Hardening) -> Markup:
    """Texts that only one of the models keeps, with what flipped the other."""
    before, after = ({record.id: record for record in run.records} for run in found.runs)
    gained = [(before[n], after[n]) for n in before if holds(after[n]) and before[n].succeeded]
    lost = [(before[n], after[n]) for n in before if holds(before[n]) and after[n].succeeded]
    names = found.plain.labels
    parts = []
    for heading, pairs, side in (("Held now", gained, 0), ("Lost now", lost, 1)):
        parts.append(element("h3", f"{heading}: {len(pairs):,} texts"))
        parts += [_show_text(pair[side], names) for pair in pairs[:SHOWN]]
    return join(*parts)


def _show_text(record: Record, names: tuple[str, ...]) -> Markup:
    wrong = "" if record.adversarial_predicted is None else names[record.adversarial_predicted]
    return element("p", element("small", f"{names[record.label]} → {wrong}: "), mark_changes(record), class_="text")
