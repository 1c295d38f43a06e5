"""Error rates of decoded texts, with intervals, and a test of whether two decoders differ.

The word error rate is the number of words to replace, insert or delete, over the number of words of the truth; the
character error rate is the same of characters. Intervals are drawn by resampling texts, since errors within one text
are not independent. The matched-pairs test compares the errors of two decoders text by text (Gillick and Cox, 1989).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np

from discotext.core.arrays import Floats, Ints
from discotext.decoding.network import Network

DRAWS = 2000


def count_errors(truth: Sequence[Hashable], found: Sequence[Hashable]) -> int:
    """The fewest replacements, insertions and deletions that make one sequence of another.

    >>> count_errors("a good film".split(), "a god film noir".split())
    2
    """
    return int(read_items(np.arange(len(truth) + 1), truth, found)[-1])


def read_items(row: Ints, truth: Sequence[Hashable], items: Sequence[Hashable]) -> Ints:
    """One row of the table of edit distances after another. row: (T + 1,) the distances of each part of the truth."""
    steps, right = np.arange(len(row)), np.array([*truth], dtype=object)
    for item in items:
        new = row + 1
        new[1:] = np.minimum(new[1:], row[:-1] + (right != item))
        # Left out words of the truth: the least of what stands to the left, plus the way from there.
        row = np.minimum.accumulate(new - steps) + steps
    return row


def count_least_errors(truth: Sequence[str], network: Network) -> int:
    """The errors of the best text in a network: no decoder can have fewer.

    >>> count_least_errors(["a", "good", "film"], Network.of("1", [["a"], ["god", "good"], ["firm"]]))
    1
    """
    rows: dict[int, Ints] = {0: np.arange(len(truth) + 1)}  # of the positions that a path comes to
    for position, alternatives in enumerate(network.positions):
        for one in alternatives:
            if position in rows and one.score > -math.inf:
                read, end = read_items(rows[position], truth, one.word.split()), position + one.span
                rows[end] = np.minimum(rows.get(end, read), read)
    return int(rows[len(network)][-1]) if len(network) in rows else len(truth)


@dataclass(frozen=True)
class ErrorRates:
    """Word and character error rates; `_low`, `_high` are 95 % intervals. None where there is nothing to count.

    wer_original, cer_original: of the originals. wer_oracle: of the best text in each network.
    p: of the matched-pairs test that the decoded texts have as many word errors as the originals.
    n, words: texts and words of the truth.
    """

    wer: float | None
    wer_low: float | None
    wer_high: float | None
    wer_original: float | None
    cer: float | None
    cer_original: float | None
    wer_oracle: float | None
    p: float | None
    n: int
    words: int


@dataclass
class ErrorCounts:
    """Collects the errors of texts, one at a time; keeps a few numbers of each."""

    rows: list[tuple[int, int, int, int, int, int, int]] = field(default_factory=list)

    def add(self, truth: str, decoded: str, original: str, network: Network | None = None) -> None:
        """Count the errors of a decoded text and of its original. network: where they come from."""
        words = truth.split()
        first, second = count_errors(words, decoded.split()), count_errors(words, original.split())
        least = count_least_errors(words, network) if network is not None else min(first, second)
        letters = " ".join(words)
        wrong, before = (count_errors(letters, " ".join(text.split())) for text in (decoded, original))
        self.rows.append((len(words), first, second, least, len(letters), wrong, before))

    def rates(self, seed: int = 0) -> ErrorRates:
        """The error rates of all texts so far."""
        table = np.array(self.rows, dtype=np.float64).reshape(-1, 7)
        words, errors, before, least, letters, wrong, wrong_before = table.T
        low, high = bootstrap_ratio(errors, words, seed)
        return ErrorRates(
            wer=ratio(errors, words),
            wer_low=low,
            wer_high=high,
            wer_original=ratio(before, words),
            cer=ratio(wrong, letters),
            cer_original=ratio(wrong_before, letters),
            wer_oracle=ratio(least, words),
            p=matched_pairs(errors, before),
            n=len(table),
            words=int(words.sum()),
        )


def ratio(errors: Floats, words: Floats) -> float | None:
    """Errors over words; None if there are none."""
    return float(errors.sum() / words.sum()) if words.sum() else None


def bootstrap_ratio(errors: Floats, words: Floats, seed: int) -> tuple[float | None, float | None]:
    """The 95 % interval of a rate, from samples of texts with replacement."""
    if not words.sum():
        return None, None
    rng = np.random.default_rng(seed)
    draws = (rng.integers(0, len(words), len(words)) for _ in range(DRAWS))
    found = [errors[picked].sum() / max(words[picked].sum(), 1.0) for picked in draws]
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)


def matched_pairs(first: Floats, second: Floats) -> float | None:
    """The two-sided p-value that two decoders have as many errors: the mean difference over its standard error.

    first, second: (n,) the errors of each on each text.

    >>> matched_pairs(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 2.0]))
    1.0
    """
    difference = np.asarray(first) - np.asarray(second)
    if len(difference) < 2:
        return None
    spread = float(difference.std(ddof=1)) / math.sqrt(len(difference))
    if spread == 0:
        # The same difference on every text has no spread to measure; the sign test says how surprising it is.
        return 1.0 if difference.mean() == 0 else 2.0 ** (1 - len(difference))
    return math.erfc(abs(float(difference.mean())) / spread / math.sqrt(2))
