"""A hardening as tables, for a terminal and for its page: both models on the same texts, in one file."""

from __future__ import annotations

from discotext.hardening.matrix import OWN, survives
from discotext.hardening.outcome import Hardening, describe
from discotext.report.figures import write_p
from discotext.report.flipped import mark_changes
from discotext.report.markup import Markup, element, join
from discotext.report.page import wrap_page
from discotext.report.table import Column, Table, count, share, write_percent

SHOWN = 12  # texts of each kind


def make_hardening_page(found: Hardening) -> str:
    """The page as HTML."""
    title = f"{found.model} on {found.data}, hardened"
    own = found.matrix[OWN]
    headline = f"{write_percent(own.before)} → {write_percent(own.after)} under attack"
    worst, chosen = list(found.matrix).index(found.worst), list(found.trials).index(found.chosen)
    sections = {
        "answer": ("In short", join(*(element("p", text) for text in describe(found)))),
        "models": ("Before and after", tabulate_models(found).as_html()),
        "matrix": ("Against attacks it was not built for", tabulate_matrix(found).as_html(best=worst)),
        "recipes": ("The recipes, on held-out texts", tabulate_recipes(found).as_html(best=chosen)),
        "texts": ("The same texts, both models", show_texts(found)),
    }
    return wrap_page(title, element("h1", headline), sections)


def tabulate_models(found: Hardening) -> Table:
    """Both models on the test texts."""
    title = (
        f"Test texts: accuracy on all, and on {found.certificates[0].n:,} attacked ones, with at most "
        f"{100 * found.share:g} % of the words changed"
    )
    columns = [
        Column("model", ["plain", "hardened"]),
        share("clean", found.clean, between=True),
        share("attacked", [one.attacked_accuracy for one in found.certificates], between=True),
        share("certified", [one.certified_accuracy for one in found.certificates], between=True),
    ]
    return Table(title, columns)


def tabulate_matrix(found: Hardening) -> Table:
    """Both models under every attack."""
    pairs = found.matrix.values()
    columns = [
        Column("attack", [f"{name} (worst)" if name == found.worst else name for name in found.matrix]),
        share("plain", [pair.before for pair in pairs], between=True),
        share("hardened", [pair.after for pair in pairs], between=True),
        Column("p", [pair.p for pair in pairs], write_p),
    ]
    return Table("Accuracy under every attack, both models on the same texts", columns)


def tabulate_recipes(found: Hardening) -> Table:
    """What each recipe costs and buys."""
    trials = found.trials.values()
    held = next(iter(trials)).texts
    columns = [
        Column("recipe", [f"{name} (chosen)" if name == found.chosen else name for name in found.trials]),
        share("clean", [trial.clean for trial in trials]),
        share("under attack", [trial.attacked for trial in trials]),
        count("training s", [trial.seconds for trial in trials], digits=1),
    ]
    return Table(f"{found.model} on {found.data}: recipes on held-out texts ({held} attacked)", columns)


def show_texts(found: Hardening) -> Markup:
    """Texts that only one of the models keeps, with what flipped the other."""
    before, after = ({record.id: record for record in run.records} for run in found.runs)
    gained = [before[n] for n in before if survives(after[n]) and before[n].succeeded]
    lost = [after[n] for n in before if survives(before[n]) and after[n].succeeded]
    parts = []
    for heading, records in (("Robust now", gained), ("Lost now", lost)):
        parts.append(element("h3", f"{heading}: {len(records):,} texts"))
        for record in records[:SHOWN]:
            assert record.adversarial_predicted is not None  # it was flipped
            flow = " → ".join(found.plain.labels[number] for number in (record.label, record.adversarial_predicted))
            parts.append(element("p", element("small", f"{flow}: "), mark_changes(record), class_="text"))
    return join(*parts)
