"""N-best lists as networks: chosen from as they are, or combined word by word."""

from __future__ import annotations

import math
from collections.abc import Sequence

from discotext.decoding.network import Alternative, Network, NetworkError


def rescore_list(name: str, texts: Sequence[tuple[str, float]], best: str | None = None) -> Network:
    """A network of one position whose alternatives are the texts: decoding picks one of them.

    texts: with their scores. best: the original, if it is among them; otherwise the first. Of a text that is there
    twice, the better score counts.

    >>> network = rescore_list("1", [("a film", -1.0), ("a firm", -2.0)])
    >>> [one.word for one in network.positions[0]]
    ['a film', 'a firm']
    """
    found = merge(texts, best)
    return Network(name, (tuple(Alternative(text, score) for text, score in found.items()),))


def merge(texts: Sequence[tuple[str, float]], best: str | None) -> dict[str, float]:
    """Each text once, the original first."""
    if not texts:
        raise NetworkError("the n-best list is empty; give at least one text")
    found: dict[str, float] = {}
    for text, score in texts:
        plain = " ".join(text.split())
        found[plain] = max(score, found.get(plain, -math.inf))
    first = next(iter(found)) if best is None else " ".join(best.split())
    return {first: found[first], **found} if first in found else found


def combine_list(name: str, texts: Sequence[tuple[str, float]], best: str | None = None) -> Network:
    """A network of all texts, aligned word by word to the first: decoding may take each word from another text.

    The scores are made probabilities that add up to 1; a word's channel score is the logarithm of the sum over the
    texts that have it at its position. A position may be skipped where the first text has no word, or where texts of
    more than half of the probability have none: a language model prefers short texts, and would skip wherever it may.

    >>> network = combine_list("1", [("a film", 0.0), ("the film", 0.0), ("a film noir", 0.0)])
    >>> [[(one.word, round(math.exp(one.score), 2)) for one in row] for row in network.positions]
    [[('a', 0.67), ('the', 0.33)], [('film', 1.0)], [('', 0.67), ('noir', 0.33)]]
    >>> network = combine_list("1", [("on the beach", 0.0), ("on beach", 0.0)])
    >>> [[one.word for one in row] for row in network.positions]
    [['on'], ['the'], ['beach']]
    """
    found = merge(texts, best)
    top = max(found.values())
    if top == -math.inf:
        raise NetworkError("every text of the n-best list has a score of −Infinity; give at least one that is possible")
    weights = [math.exp(score - top) for score in found.values()]
    columns: list[dict[str, float]] = []
    seen = 0.0
    for text, weight in zip(found, weights, strict=True):
        columns = add_words(columns, text.split(), weight / sum(weights), seen)
        seen += weight / sum(weights)
    rows = []
    for column in columns:
        if next(iter(column)) and column.get("", 0.0) <= 0.5:  # the first is that of the first text
            column.pop("", None)
        total = sum(column.values())
        rows.append([(word, math.log(share / total) if share else -math.inf) for word, share in column.items()])
    return Network.of(name, rows)


def add_words(columns: list[dict[str, float]], words: list[str], weight: float, seen: float) -> list[dict[str, float]]:
    """Align words to columns by the fewest edits, and add their weight. seen: the weight of all texts before."""
    rows, width = len(columns), len(words)
    cost = [[float(i + j if not i or not j else 0) for j in range(width + 1)] for i in range(rows + 1)]
    for i in range(1, rows + 1):
        for j in range(1, width + 1):
            same = cost[i - 1][j - 1] + (words[j - 1] not in columns[i - 1])
            # To pass over a column that some text has passed over already is cheaper.
            cost[i][j] = min(same, cost[i - 1][j] + (0.5 if "" in columns[i - 1] else 1.0), cost[i][j - 1] + 1)
    new: list[dict[str, float]] = []
    i, j = rows, width
    while i or j:
        if i and j and cost[i][j] == cost[i - 1][j - 1] + (words[j - 1] not in columns[i - 1]):
            i, j = i - 1, j - 1
            column, word = dict(columns[i]), words[j]
        elif i and (not j or cost[i][j] == cost[i - 1][j] + (0.5 if "" in columns[i - 1] else 1.0)):
            i -= 1
            column, word = dict(columns[i]), ""
        else:
            j -= 1
            column, word = ({"": seen} if seen else {}), words[j]
        column[word] = column.get(word, 0.0) + weight
        new.append(column)
    return new[::-1]
