"""The matrix: a hardened model under attacks it was not built for, beside the plain one.

A defence is worth its worst cell. The cells differ from the attack it was built for in one thing each: more words,
other candidates, a search without gradients (which must not find more than one with them), and candidates that the
defence does not merge. In a cell both models meet the same texts, and candidates of the same kind; each those words
that it can read.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from discotext.attacks.attack import attack
from discotext.data.examples import Examples
from discotext.hardening.trainers import Report
from discotext.runs.pairing import Contingency
from discotext.runs.record import Record
from discotext.runs.summary import Estimate
from discotext.support.plain_text import percent
from discotext.text.candidates import Candidates, make_candidates
from discotext.text.filters import Filter
from discotext.text.merging import MergedWords
from discotext.text.sources import ThesaurusWords, VectorNeighbours
from discotext.text.words import WordContext
from discotext.victims.encoded import Encoded
from discotext.victims.victim import Victim

OWN, TWICE, BLACK_BOX, PAST = "own candidates", "twice the words", "no gradients", "what is not merged"
WITH_GRADIENTS, WITHOUT_GRADIENTS = "disco-high", "greedy"
PAST_FACTOR = 4  # times as many candidates a word, where those that are merged do not count


@dataclass(frozen=True, eq=False)
class NotMerged(Filter):
    """Refuses words that a victim reads as the same word: an attacker who knows the groups does not waste a place."""

    name = "not-merged"
    merged: MergedWords

    def refuses(self, context: WordContext, candidate: str) -> bool:
        return self.merged.read_word(candidate) == self.merged.read_word(context.lower)


@dataclass(frozen=True, eq=False)
class Cell:
    """An attack: its name, its candidates, the share of words it may change, and its solver."""

    name: str
    candidates: Candidates
    share: float
    solver: str


@dataclass(frozen=True)
class Pair:
    """Accuracy of both models under the same attack, and p of McNemar's test that they are equally good."""

    before: Estimate
    after: Estimate
    p: float

    @classmethod
    def of(cls, before: Sequence[Record], after: Sequence[Record]) -> Pair:
        found = Contingency.of(zip(map(survives, before), map(survives, after), strict=True))
        return cls(*found.accuracies, found.p)

    def __str__(self) -> str:
        return f"{percent(self.before)} → {percent(self.after)}, p = {self.p:.2g}"


def survives(record: Record) -> bool:
    """Whether a text is classified rightly, whatever the attack has tried."""
    return record.predicted == record.label and not record.succeeded and record.status != "failed"


def pick_solver(victim: Victim) -> str:
    """The strongest search for a victim that is not too slow for hundreds of texts."""
    return WITH_GRADIENTS if victim.capabilities.gradients else WITHOUT_GRADIENTS


def list_cells(
    victim: Victim, candidates: Candidates, share: float, others: Mapping[str, Candidates]
) -> Iterator[Cell]:
    """The attacks on a hardened victim, beside the one it was built for. others: candidates of the user's choice."""
    solver = pick_solver(victim)
    yield Cell(TWICE, candidates, min(1.0, 2 * share), solver)
    if victim.capabilities.gradients:
        yield Cell(BLACK_BOX, candidates, share, WITHOUT_GRADIENTS)
    if isinstance(victim, Encoded):
        filters = (*candidates.filters, NotMerged(victim.merged))
        yield Cell(PAST, replace(candidates, filters=filters, limit=PAST_FACTOR * candidates.limit), share, solver)
    if not isinstance(candidates.source, ThesaurusWords):
        yield Cell("the package's thesaurus", Candidates(), share, solver)
    if not isinstance(candidates.source, VectorNeighbours):
        yield Cell("near word vectors", make_candidates(sources=["neighbours"], without=["accept"]), share, solver)
    yield Cell("WordNet", make_candidates(sources=["wordnet"], without=["accept"]), share, solver)
    for name, other in others.items():
        yield Cell(name, other, share, solver)


def fill(
    cells: Sequence[Cell], before: Victim, after: Victim, examples: Examples, seed: int, report: Report
) -> dict[str, Pair]:
    """Attack both models in every cell."""
    found = {}
    for number, cell in enumerate(cells):
        report(f"attacking: {cell.name}", number / len(cells))
        with warnings.catch_warnings():
            # That candidates of some kind are few says something about them, and the figures show it.
            warnings.simplefilter("ignore", UserWarning)
            flip = partial(attack, budget=cell.share, candidates=cell.candidates, seed=seed, progress=False)
            records = [flip(victim, examples, cell.solver).records for victim in (before, after)]
        found[cell.name] = Pair.of(*records)
    return found
