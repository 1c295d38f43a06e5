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
    ids = number_items(truth)
    return int(read_items(np.arange(len(truth) + 1), ids, [ids_of(ids, item) for item in found])[-1])


def number_items(truth: Sequence[Hashable]) -> tuple[Ints, dict[Hashable, int]]:
    """A sequence as numbers, and the number of each of its items."""
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(item, len(known)) for item in truth], dtype=np.int64), known


def ids_of(ids: tuple[Ints, dict[Hashable, int]], item: Hashable) -> int:
    return ids[1].get(item, -1)


def read_items(row: Ints, ids: tuple[Ints, dict[Hashable, int]], items: Sequence[int]) -> Ints:
    """One row of the table of edit distances after another. row: (T + 1,) the distances of each part of the truth."""
    steps = np.arange(len(row))
    for item in items:
        new = row + 1
        new[1:] = np.minimum(new[1:], row[:-1] + (ids[0] != item))
        # Left out words of the truth: the least of what stands to the left, plus the way from there.
        row = np.minimum.accumulate(new - steps) + steps
    return row


def count_least_errors(truth: Sequence[str], network: Network) -> int:
    """The errors of the best text in a network: no decoder can have fewer.

    >>> count_least_errors(["a", "good", "film"], Network.of("1", [["a"], ["god", "good"], ["firm"]]))
    1
    """
    ids = number_items(truth)
    rows: list[Ints | None] = [None] * (len(network) + 1)
    rows[0] = np.arange(len(truth) + 1)
    for position, alternatives in enumerate(network.positions):
        row = rows[position]
        if row is None:
            continue  # no path comes here
        for one in alternatives:
            if one.score == -math.inf:
                continue
            read = read_items(row, ids, [ids_of(ids, word) for word in one.word.split()])
            known = rows[position + one.span]
            rows[position + one.span] = read if known is None else np.minimum(known, read)
    last = rows[-1]
    return int(last[-1]) if last is not None else len(truth)


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
        if not self.rows:
            return ErrorRates(None, None, None, None, None, None, None, None, 0, 0)
        words, errors, before, least, letters, wrong, wrong_before = np.array(self.rows, dtype=np.float64).T
        low, high = bootstrap_ratio(errors, words, seed)
        total = float(words.sum())
        return ErrorRates(
            wer=ratio(errors, words),
            wer_low=low,
            wer_high=high,
            wer_original=ratio(before, words),
            cer=ratio(wrong, letters),
            cer_original=ratio(wrong_before, letters),
            wer_oracle=ratio(least, words),
            p=matched_pairs(errors, before),
            n=len(self.rows),
            words=int(total),
        )


def ratio(errors: Floats, words: Floats) -> float | None:
    """Errors over words; None if there are none."""
    return float(errors.sum() / words.sum()) if words.sum() else None


def bootstrap_ratio(errors: Floats, words: Floats, seed: int) -> tuple[float | None, float | None]:
    """The 95 % interval of a rate, from samples of texts with replacement."""
    if not words.sum():
        return None, None
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(DRAWS):
        picked = rng.integers(0, len(words), len(words))
        found.append(errors[picked].sum() / max(words[picked].sum(), 1.0))
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
