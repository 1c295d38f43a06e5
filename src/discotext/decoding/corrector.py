"""Correcting the spelling of plain text: candidates for words, a channel, and a language model that decides.

Every character that is not changed stays as it is. Texts go through in groups, so that the language model is asked
about many sentences at once; what a text becomes does not depend on the others of its group.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discotext.core.arrays import Choices, Floats, Ints
from discotext.core.solution import Solution, Status
from discotext.decoding.code_blocks import CodeBlocks, Span
from discotext.decoding.network import make_batch
from discotext.decoding.oracle import NetworkOracle, make_oracle
from discotext.decoding.spelling import Speller
from discotext.decoding.text import SLACK, Passage, make_passages
from discotext.language.model import LanguageModel, NGramModel, SequentialModel
from discotext.language.ngram import BackoffModel
from discotext.search.loop import solve
from discotext.search.solver import Solver
from discotext.solvers.greedy import Greedy
from discotext.solvers.prefix_beam import PrefixBeam
from discotext.solvers.viterbi import Viterbi
from discotext.support.plain_text import shorten
from discotext.text.words import Words, compute_budget, split

MARGIN = 2.2  # natural logarithms
WORDS_AT_ONCE = 4000  # of all texts of a group, about
SHOWN = 5  # alternatives of a change that are told


@dataclass(frozen=True)
class Change:
    """One correction. start, end: characters of the original text. margin: by how much the text would score worse with
    the old word. alternatives: other candidates, with how much worse than the new word each is."""

    start: int
    end: int
    old: str
    new: str
    margin: float
    alternatives: tuple[tuple[str, float], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The change as JSON."""
        return {
            "start": self.start,
            "end": self.end,
            "old": self.old,
            "new": self.new,
            "margin": round(self.margin, 4),
            "alternatives": [{"word": word, "score": round(score, 4)} for word, score in self.alternatives],
        }


@dataclass(frozen=True)
class Correction:
    """A text after correction.

    score, original_score: of its sentences that had candidates, corrected and as they were. proved: whether no allowed
    choice of candidates scores higher.
    """

    original: str
    text: str
    words: int
    changes: tuple[Change, ...] = ()
    score: float = 0.0
    original_score: float = 0.0
    proved: bool = True

    def __repr__(self) -> str:
        changes = "1 change" if len(self.changes) == 1 else f"{len(self.changes):,} changes"
        return f"Correction({shorten(self.text, 100)!r}, {changes} in {self.words:,} words)"

    def as_dict(self, id: str) -> dict[str, Any]:
        """The correction as JSON."""
        status = Status.OPTIMAL if self.proved else Status.IMPROVED if self.changes else Status.UNCHANGED
        return {
            "id": id,
            "text": self.text,
            "words": self.words,
            "score": round(self.score, 6),
            "original_score": round(self.original_score, 6),
            "status": status.name.lower(),
            "proved": self.proved,
            "changes": [change.as_dict() for change in self.changes],
            "nbest": [{"text": self.text, "score": round(self.score, 6)}],
        }

    def show_changes(self) -> str:
        """The text with what was taken out and put in, as wdiff writes it: [-old-]{+new+}."""
        pieces, at = [], 0
        for change in self.changes:
            pieces += [self.original[at : change.start], f"[-{change.old}-]{{+{change.new}+}}"]
            at = change.end
        return "".join([*pieces, self.original[at:]])


@dataclass
class Corrector:
    """Corrects spelling. The first n-gram model gives the vocabulary; all models decide, by their weights.

    confusions: pairs of the user's own, as `read_confusions` returns them. margin: how much better a change must be, in
    natural logarithms. budget: the share of the words of each sentence that may change, None for no limit. words: their
    number instead.

    >>> from discotext.language.kneser_ney import train_kneser_ney
    >>> model = train_kneser_ney([["a", "really", "good", "film"]] * 9, order=2, least=1)
    >>> Corrector([model]).correct("A realy good film!").text
    'A really good film!'
    """

    models: Sequence[LanguageModel]
    weights: Sequence[float] | None = None
    confusions: Mapping[str, Mapping[str, float]] | None = None
    margin: float = MARGIN
    budget: float | None = None
    words: int | None = None
    speller: Speller = field(init=False)

    def __post_init__(self) -> None:
        first = next((model for model in self.models if isinstance(model, BackoffModel)), None)
        if first is None:
            names = ", ".join(model.name for model in self.models) or "none"
            raise ValueError(
                f"the language models are {names}; spelling needs an n-gram model for its vocabulary: add one trained "
                "by discotext train-lm, an ARPA file, or pocketsphinx"
            )
        if self.words is not None and self.words < 0:
            raise ValueError(f"at most {self.words} words may change; choose 0 or more")
        self.speller = Speller(first, self.confusions)

    def correct(self, text: str) -> Correction:
        """Correct one text."""
        return next(iter(self.correct_all([text])))

    def correct_all(self, texts: Iterable[str], blocks: CodeBlocks | None = None) -> Iterator[Correction]:
        """Correct texts one after another, as they come; only a group of them is in memory.

        blocks: if the texts are the lines of one document, with their ends, what finds its blocks of code.
        """
        group: list[Words] = []
        code: list[list[Span]] = []
        many = 0
        for text in texts:
            group.append(split(text))
            code.append((CodeBlocks() if blocks is None else blocks).read(text))
            many += len(group[-1])
            if many >= WORDS_AT_ONCE:
                yield from self._correct_group(group, code)
                group, code, many = [], [], 0
        if group:
            yield from self._correct_group(group, code)

    def _correct_group(self, texts: Sequence[Words], code: Sequence[Sequence[Span]]) -> list[Correction]:
        passages = make_passages(texts, self.speller, self.margin, SLACK, code)
        changes: list[list[Change]] = [[] for _ in texts]
        solutions: list[list[Solution]] = [[] for _ in texts]
        if passages:
            for passage, found, solution in self._decode(passages, texts):
                changes[passage.text] += found
                solutions[passage.text].append(solution)
        return [_apply(text, changes[number], solutions[number]) for number, text in enumerate(texts)]

    def _decode(
        self, passages: Sequence[Passage], texts: Sequence[Words]
    ) -> Iterator[tuple[Passage, list[Change], Solution]]:
        networks = [passage.network for passage in passages]
        batch = make_batch(networks, [self._find_budget(passage) for passage in passages])
        oracle = make_oracle(networks, batch, self.models, self.weights)
        solutions = solve(batch, oracle, self._pick_solver())
        for number, (passage, solution) in enumerate(zip(passages, solutions, strict=True)):
            changed = np.flatnonzero(solution.choice)
            found = _explain(oracle, number, passage, texts[passage.text], solution.choice, changed)
            yield passage, found, solution

    def _pick_solver(self) -> Solver:
        """Exact search where all models are n-grams, a beam where all read from left to right, else one by one."""
        if all(isinstance(model, NGramModel) for model in self.models):
            return Viterbi()
        return PrefixBeam() if all(isinstance(model, SequentialModel) for model in self.models) else Greedy()

    def _find_budget(self, passage: Passage) -> int:
        words, positions = passage.words[-1] - passage.words[0], len(passage.network)
        if self.words is not None:
            return min(self.words, positions)
        return positions if self.budget is None else min(compute_budget(words, self.budget), positions)


def _explain(
    oracle: NetworkOracle, number: int, passage: Passage, text: Words, choice: Choices, changed: Ints
) -> list[Change]:
    """The changes of a sentence, each with its margin and the alternatives."""
    if not len(changed):
        return []
    rows, owners = [], []
    for position in changed.tolist():
        for candidate in range(len(passage.network.positions[position])):
            row = choice.copy()
            row[position] = candidate
            rows.append(row)
            owners.append((position, candidate))
    scores: Floats = oracle.score(np.full(len(rows), number), np.array(rows, dtype=np.int32))
    by_place = dict(zip(owners, scores.tolist(), strict=True))
    spans, found = text.spans(), []
    for position in changed.tolist():
        alternatives = passage.network.positions[position]
        best = by_place[position, int(choice[position])]
        start, end = spans[passage.words[position]][0], spans[passage.words[position + 1] - 1][1]
        others = [
            (one.word, by_place[position, candidate] - best)
            for candidate, one in enumerate(alternatives)
            if candidate not in (0, choice[position])
        ]
        others.sort(key=lambda pair: -pair[1])
        new = alternatives[choice[position]].word
        change = Change(start, end, "", new, best - by_place[position, 0], tuple(others[:SHOWN]))
        found.append(change)
    return found


def _apply(text: Words, changes: Sequence[Change], solutions: Sequence[Solution]) -> Correction:
    """A text with its changes made."""
    original = str(text)
    made, pieces, at = [], [], 0
    for change in sorted(changes, key=lambda one: one.start):
        pieces += [original[at : change.start], change.new]
        at = change.end
        made.append(replace(change, old=original[change.start : change.end]))
    return Correction(
        original,
        "".join([*pieces, original[at:]]),
        len(text),
        tuple(made),
        sum(one.score for one in solutions),
        sum(one.original_score for one in solutions),
        all(one.proved for one in solutions),
    )
