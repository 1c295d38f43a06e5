"""What to know beside the figures, in sentences: how much of the texts can change, and whether to rely on them.

A text in which nothing can change is not robust; it was never tested. An attack that finds little may say something
about the victim, or only that there was little to try. A victim that answers at random has no figures at all. These
sentences say which.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discotext.runs.summary import SolverSummary, Summary, Tally
from discotext.support.plain_text import percent
from discotext.text.candidates import ACCEPT, SWITCHES, TOO_MANY
from discotext.text.filters import UnknownToVictim
from discotext.text.words import split
from discotext.victims.victim import Victim

FEW_WORDS, FEW_TEXTS = 1 / 50, 1 / 4  # below these shares of what can change, an attack says little
NEARLY_ALL = 0.95  # share of candidates; questions, which have many stop words and names, lose nine tenths as a rule
NOTHING_FOUND = (
    "the sources have nothing for these words; give synonym lists that have them (--synonyms), or try other sources "
    "(--source)"
)
MOST = 3  # filters that are named


def describe(summary: Summary) -> str | None:
    """What can change, as a sentence; None where it is not known."""
    if summary.changeable_words is None:
        return None
    each = "" if summary.candidates_per_word is None else f", {summary.candidates_per_word:.1f} on average"
    said = f"{percent(summary.changeable_words)} of the words have candidates{each}"
    if summary.unchangeable_texts:
        fixed = f"{summary.unchangeable_texts:,} of {summary.n:,}"
        said += f"; in {fixed} texts nothing can change, and they are not counted as proved"
    return said


def warn(summary: Summary, texts: Sequence[str], source: str = "") -> str | None:
    """A warning where too little can change for the figures to mean much, or filters refuse nearly everything.

    source: the name of the source of candidates.
    """
    words, n = summary.changeable_words, summary.n
    if n and words is None and not any(split(text).words for text in texts):
        return (
            f"none of the {n:,} texts has a word, so that nothing could be changed; the figures say nothing of attacks"
        )
    # With a budget of 0 that is what the user asked for.
    if not n or words is None or summary.budget == 0:
        return None
    able = n - summary.unchangeable_texts
    if words < FEW_WORDS or able < FEW_TEXTS * n:
        return (
            f"only {100 * words:.2g} % of the words have candidates, and only {able:,} of {n:,} texts can change, "
            "which says little about the victim; the sources and filters of the package are for English. The likely "
            f"reason: {describe_refusals(summary, source) or NOTHING_FOUND}"
        )
    return describe_refusals(summary, source) if are_emptied(summary) else None


def warn_of_victim(victim: Victim, classes_only: bool, texts: Sequence[str]) -> list[str]:
    """Warnings of a victim that returns predicted classes, or that does not read the texts to their end."""
    found = []
    if classes_only:
        found.append(
            f"{victim.name} returns predicted classes without scores: a search sees nothing until a class changes, so "
            "that it finds less, and needs more queries; return scores if you can"
        )
    if cut := sum(victim.truncates(texts)):
        found.append(
            f"{victim.name} reads only the beginning of {cut:,} of {len(texts):,} texts; words after that can change "
            "nothing, and count as robust"
        )
    return found


def warn_of_figures(tally: Tally, texts: Sequence[str], source: str, classes: int) -> list[str]:
    """Warnings of a finished run whose figures mean little. classes: how many the victim has."""
    found = [said for summary in tally.summaries if (said := warn(summary, texts, source))]
    right = next(iter(tally.summaries[0].solvers.values())).original_accuracy
    if right is not None and right.high < 1 / max(classes, 1):
        found.append(
            f"the victim's accuracy is {100 * right:.1f} %, worse than random guessing; are its classes in the same "
            "order as the data's? Run `discotext check` to find out"
        )
    lines = tally.lines
    changed, asked = (len(np.unique(lines["id"][lines[which]])) for which in ("unstable", "tried"))
    if changed:
        found.append(
            f"the victim answered differently when asked again on {changed:,} of {asked:,} texts; its figures cannot "
            "be relied on (`discotext check` tests it; is dropout on, or does it answer at random?)"
        )
    return found


def are_emptied(summary: Summary) -> bool:
    """Whether filters refuse nearly all that they are given.

    Refusals for want of acceptance are not counted: a thesaurus offers much that fits few sentences.
    """
    refused = sum(count for name, count in summary.refused.items() if name not in (ACCEPT, TOO_MANY))
    return refused >= NEARLY_ALL * max(refused + summary.candidates, 1)


def describe_refusals(summary: Summary, source: str = "") -> str | None:
    """How many candidates the filters refused, the filters that refused most, and how to switch them off."""
    refused = {name: count for name, count in summary.refused.items() if name != TOO_MANY}
    total = sum(refused.values())
    if not total:
        return None
    names = sorted(refused, key=lambda name: -refused[name])[:MOST]
    listed = ", ".join(f"{name} {refused[name]:,}" for name in names)
    from_source = f" of the source {source}" if source else ""
    proposed = summary.candidates + total + summary.refused.get(TOO_MANY, 0)
    said = f"filters refused {total:,} of {proposed:,} candidates{from_source}: {listed}"
    ways = ["lower --accept"] if ACCEPT in names else []
    if UnknownToVictim.name in names:
        ways.append("propose words that the victim knows")
    if switches := [f"--without {name}" for name in names if name in SWITCHES]:
        ways.append(f"to switch off: {' '.join(switches)}")
    ways.append("in Python, choose the `filters` of Candidates")
    return f"{said} ({'; '.join(ways)})"


def describe_solver(row: SolverSummary) -> list[str]:
    """What to know of one solver's figures: contradictions, how acceptable its swaps are, ties, unknown words."""
    found = []
    if row.unstable:
        found.append(
            f"the victim answered differently when asked again on {row.unstable:,} of {row.attacked:,} texts; these "
            "figures cannot be relied on"
        )
    if row.acceptable is not None and row.all_acceptable is not None and row.accepted_accuracy is not None:
        found.append(
            f"most people are expected to accept {percent(row.acceptable, 0)} of the swaps in flipped texts, and every "
            f"swap of {percent(row.all_acceptable, 0)} of these texts; if only those counted as flipped, accuracy "
            f"would be {percent(row.accepted_accuracy)}"
        )
    if row.ties:
        texts = "1 text ends" if row.ties == 1 else f"{row.ties:,} texts end"
        found.append(f"{texts} in a tie within the victim's rounding errors, which does not count as a success")
    if row.unknown_swaps:
        found.append(
            f"{row.unknown_swaps:,} of the {row.swaps:,} swaps in flipped texts put in words that the victim does not "
            "know, which amounts to deleting the original word"
        )
    return found


def notes(summary: Summary) -> list[str]:
    """Everything about a budget's figures that a reader should know beside the table."""
    found = [describe(summary), describe_refusals(summary) if are_emptied(summary) else None]
    found += [f"{name}: {said}" for name, row in summary.solvers.items() for said in describe_solver(row)]
    return [one for one in found if one is not None]
