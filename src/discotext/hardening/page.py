"""The page of a hardening: both models on the same texts, in one file that fetches nothing."""

from __future__ import annotations

from discotext.hardening.matrix import OWN, survives
from discotext.hardening.outcome import Hardening, describe
from discotext.report.chart import Point, draw_frontier
from discotext.report.flipped import mark_changes
from discotext.report.markup import Markup, element, join
from discotext.report.page import wrap_page
from discotext.report.table import Column, Table, share, write_percent
from discotext.runs.record import Record

SHOWN = 12  # texts of each kind


def make_hardening_page(found: Hardening) -> str:
    """The page as HTML."""
    title = f"{found.model} on {found.data}, hardened"
    own = found.matrix[OWN]
    headline = f"{write_percent(own.before)} → {write_percent(own.after)} under attack"
    sections = {
        "answer": ("In short", join(*(element("p", text) for text in describe(found)))),
        "models": ("Before and after", show_models(found)),
        "matrix": ("Against attacks it was not built for", show_matrix(found)),
        "recipes": ("The recipes, on held-out texts", show_recipes(found)),
        "texts": ("The same texts, both models", show_texts(found)),
    }
    return wrap_page(title, element("h1", headline), sections)


def show_models(found: Hardening) -> Markup:
    caption = (
        f"Test texts: accuracy on all of them, and on {found.certificates[0].n:,} of them attacked and proved, with "
        f"{100 * found.share:g} % of the words exchanged. Small figures are 95 % intervals."
    )
    columns = [
        Column("model", ["plain", found.chosen]),
        share("clean", found.clean, between=True),
        share("attacked, at most", [one.attacked_accuracy for one in found.certificates], between=True),
        share("certified, at least", [one.certified_accuracy for one in found.certificates], between=True),
    ]
    return Table(caption, columns).as_html(explained=False)


def show_matrix(found: Hardening) -> Markup:
    caption = "Accuracy under each attack, both models on the same texts and candidates; the worst cell is in colour."
    pairs = found.matrix.values()
    columns = [
        Column("attack", list(found.matrix)),
        share("before", [pair.before for pair in pairs], between=True),
        share("after", [pair.after for pair in pairs], between=True),
        Column("p (McNemar)", [pair.p for pair in pairs], "{:.2g}".format),
    ]
    return Table(caption, columns).as_html(best=list(found.matrix).index(found.worst), explained=False)


def show_recipes(found: Hardening) -> Markup:
    trials = found.trials.values()
    columns = [
        Column("recipe", list(found.trials)),
        share("clean", [trial.clean for trial in trials]),
        share("attacked", [trial.attacked for trial in trials]),
        Column("training", [trial.seconds for trial in trials], "{:,.0f} s".format),
    ]
    table = Table("What each recipe costs and buys", columns)
    points = {
        name: Point(trial.clean, trial.attacked, trial.attacked, trial.attacked) for name, trial in found.trials.items()
    }
    return join(
        table.as_html(best=list(found.trials).index(found.chosen), explained=False),
        draw_frontier(points, found.trials["plain"].clean - found.max_loss / 100),
    )


def show_texts(found: Hardening) -> Markup:
    """Texts that only one of the models keeps, with what flipped the other."""
    before, after = ({record.id: record for record in run.records} for run in found.runs)
    gained = [(before[n], after[n]) for n in before if survives(after[n]) and before[n].succeeded]
    lost = [(before[n], after[n]) for n in before if survives(before[n]) and after[n].succeeded]
    names = found.plain.labels
    parts = []
    for heading, pairs, side in (("Robust now", gained, 0), ("Lost now", lost, 1)):
        parts.append(element("h3", f"{heading}: {len(pairs):,} texts"))
        parts += [_show_text(pair[side], names) for pair in pairs[:SHOWN]]
    return join(*parts)


def _show_text(record: Record, names: tuple[str, ...]) -> Markup:
    wrong = "" if record.adversarial_predicted is None else names[record.adversarial_predicted]
    return element("p", element("small", f"{names[record.label]} → {wrong}: "), mark_changes(record), class_="text")
