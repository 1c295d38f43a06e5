"""Correcting the spelling of plain text: candidates for words, a channel, and a language model that decides.

Every character that is not changed stays as it is. Texts go through in groups, so that the language model is asked
about many sentences at once; what a text becomes does not depend on the others of its group.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from discotext.core.problem import Solution, Status
from discotext.decoding.decode import Decoder
from discotext.decoding.network import make_batch
from discotext.decoding.oracle import NetworkOracle, make_oracle
from discotext.decoding.passages import CodeBlocks, Passage, Span, make_passages
from discotext.decoding.speller import Speller
from discotext.models.model import LanguageModel
from discotext.models.ngram import BackoffModel
from discotext.search.loop import solve
from discotext.support.plain_text import shorten
from discotext.text.words import Words, compute_budget, split

MARGIN = 2.2  # natural logarithms
WORDS_AT_ONCE = 4000  # of all texts of a group, about
SHOWN = 5  # alternatives of a change that are told


@dataclass(frozen=True)
class Correction:
    """One change. start, end: The characters of the original text. margin: By how much the text would score worse with
    the old word. alternatives: Other candidates, with how much worse than the new word each is."""

    start: int
    end: int
    old: str
    new: str
    margin: float
    alternatives: tuple[tuple[str, float], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The change as JSON can hold it."""
        shown = [{"word": word, "score": round(score, 4)} for word, score in self.alternatives]
        return asdict(self) | {"margin": round(self.margin, 4), "alternatives": shown}


@dataclass(frozen=True)
class Corrected:
    """A text after correction.

    score, original_score: The scores of its sentences that had candidates, corrected and as they were. proved: Whether
    no allowed choice of candidates scores higher.
    """

    original: str
    text: str
    words: int
    changes: tuple[Correction, ...] = ()
    score: float = 0.0
    original_score: float = 0.0
    proved: bool = True

    def __repr__(self) -> str:
        changes = "1 change" if len(self.changes) == 1 else f"{len(self.changes):,} changes"
        return f"Corrected({shorten(self.text, 100)!r}, {changes} in {self.words:,} words)"

    def as_json(self, id: str) -> dict[str, Any]:
        """The result as JSON can hold it."""
        status = Status.OPTIMAL if self.proved else Status.IMPROVED if self.changes else Status.UNCHANGED
        return {
            "id": id,
            "text": self.text,
            "words": self.words,
            "score": round(self.score, 6),
            "original_score": round(self.original_score, 6),
            "status": status.name.lower(),
            "proved": self.proved,
            "changes": [change.as_json() for change in self.changes],
            "nbest": [{"text": self.text, "score": round(self.score, 6)}],
        }

    def show_changes(self) -> str:
        """The text with what was taken out and put in, as wdiff writes it: [-old-]{+new+}."""
        return replace_spans(self.original, [(c.start, c.end, f"[-{c.old}-]{{+{c.new}+}}") for c in self.changes])


def replace_spans(text: str, changes: Iterable[tuple[int, int, str]]) -> str:
    """A text with other words at some places, given in their order.

    >>> replace_spans("a god film", [(2, 5, "good")])
    'a good film'
    """
    pieces, at = [], 0
    for start, end, new in changes:
        pieces += [text[at:start], new]
        at = end
    return "".join([*pieces, text[at:]])


@dataclass
class Corrector:
    """Corrects spelling. The first n-gram model gives the vocabulary; all models decide, by their weights.

    confusions: Pairs of a user, as `read_confusions` returns them. margin: How much better a change must be, in natural
    logarithms. budget: The share of the words of each sentence that may change; words: or how many. All may if both are
    None.

    >>> from discotext.models.kneser_ney import train_kneser_ney
    >>> sentences = ["my sister went home", "my sister went to school"]
    >>> model = train_kneser_ney([line.split() for line in sentences * 3], order=2, least=1)
    >>> Corrector([model], margin=0.0).correct("My siter, went home!").text
    'My sister, went home!'
    """

    models: Sequence[LanguageModel]
    weights: Sequence[float] | None = None
    confusions: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    margin: float = MARGIN
    budget: float | None = None
    words: int | None = None

    def __post_init__(self) -> None:
        first = next((model for model in self.models if isinstance(model, BackoffModel)), None)
        if first is None:
            names = ", ".join(model.name for model in self.models) or "none"
            raise ValueError(
                f"the language models are {names}; spelling needs an n-gram model for its vocabulary: add one trained "
                "by discotext train-lm, or an ARPA file"
            )
        if self.words is not None and self.words < 0:
            raise ValueError(f"at most {self.words} words may change; choose 0 or more")
        self.speller = Speller(first, self.confusions)
        self.decoder = Decoder(self.models, self.weights)  # picks the search

    def correct(self, text: str) -> Corrected:
        """Correct one text."""
        return next(iter(self.correct_all([text])))

    def correct_all(self, texts: Iterable[str], blocks: CodeBlocks | None = None) -> Iterator[Corrected]:
        """Correct texts one after another, as they come; only a group of them is in memory.

        blocks: If the texts are the lines of one document, with their ends, what finds its blocks of code.
        """
        group: list[tuple[Words, Sequence[Span]]] = []
        for text in texts:
            group.append((split(text), (blocks or CodeBlocks()).read(text)))
            if sum(len(words) for words, _ in group) >= WORDS_AT_ONCE:
                yield from self._correct_group(group)
                group = []
        yield from self._correct_group(group)

    def _correct_group(self, group: Sequence[tuple[Words, Sequence[Span]]]) -> Iterator[Corrected]:
        texts = [words for words, _ in group]
        passages = make_passages(texts, self.speller, self.margin, blocks=[code for _, code in group])
        networks = [passage.network for passage in passages]
        batch = make_batch(networks, [self._find_budget(passage) for passage in passages])
        oracle = make_oracle(networks, batch, self.models, self.weights)
        found = solve(batch, oracle, self.decoder.pick_solver(oracle, batch)) if networks else []
        changes = list_corrections(oracle, passages, texts, found)
        solutions: dict[int, list[Solution]] = defaultdict(list)
        for passage, solution in zip(passages, found, strict=True):
            solutions[passage.text].append(solution)
        for number, text in enumerate(texts):
            original, made, mine = str(text), sorted(changes[number], key=lambda one: one.start), solutions[number]
            yield Corrected(
                original,
                replace_spans(original, [(one.start, one.end, one.new) for one in made]),
                len(text),
                tuple(made),
                sum(one.score for one in mine),
                sum(one.original_score for one in mine),
                all(one.proved for one in mine),
            )

    def _find_budget(self, passage: Passage) -> int:
        words, positions = passage.words[-1] - passage.words[0], len(passage.network)
        most = positions if self.words is None else self.words
        return min(most if self.budget is None else compute_budget(words, self.budget), positions)


def list_corrections(
    oracle: NetworkOracle, passages: Sequence[Passage], texts: Sequence[Words], solutions: Sequence[Solution]
) -> dict[int, list[Correction]]:
    """The changes of each text, by its number; each with its margin and the alternatives."""
    places = [(number, int(at)) for number, one in enumerate(solutions) for at in np.flatnonzero(one.choice)]
    found: dict[int, list[Correction]] = defaultdict(list)
    if not places:
        return found
    # Every candidate of a changed position in its place, all in one call.
    counts = [passages[number].network.counts[position] for number, position in places]
    owners = np.repeat([number for number, _ in places], counts)
    rows = np.zeros((len(owners), oracle.batch.n_max), dtype=np.int32)
    for (number, position), own in zip(places, np.split(rows, np.cumsum(counts)[:-1]), strict=True):
        own[:, : len(solutions[number].choice)] = solutions[number].choice
        own[:, position] = np.arange(len(own))
    scores = np.split(oracle.score(owners, rows), np.cumsum(counts)[:-1])
    spans = {passage.text: texts[passage.text].spans() for passage in passages}
    for (number, position), gaps in zip(places, scores, strict=True):
        passage, chosen = passages[number], int(solutions[number].choice[position])
        alternatives, gaps = passage.network.positions[position], gaps - gaps[chosen]
        start = spans[passage.text][passage.words[position]][0]
        end = spans[passage.text][passage.words[position + 1] - 1][1]
        others = [(one.word, float(gaps[n])) for n, one in enumerate(alternatives) if n not in (0, chosen)]
        others.sort(key=lambda pair: -pair[1])
        old, new = str(texts[passage.text])[start:end], alternatives[chosen].word
        change = Correction(start, end, old, new, -float(gaps[0]), tuple(others[:SHOWN]))
        found[passage.text].append(change)
    return found
