"""Counter-fitting: word vectors in which near means alike (Mrkšić et al. 2016, as the paper uses it).

Vectors learnt from text put antonyms side by side, because they occur in the same places. Three terms mend that, with
d = 1 − cos and τ = max(0, ·):

    A  = Σ τ(δ − d(u, w))  over antonyms       push them at least δ apart
    S  = Σ τ(d(u, w) − γ)  over synonyms       pull them within γ
    VS = Σ τ(d(u, w) − d₀(u, w))               words that were near before do not drift apart

The cost is k₁A + k₂S + k₃VS. Words that no constraint names stay where they are. All pairs are taken at once, in steps
of Adagrad, and fitting stops when it stops helping: when two steps in a row lower the cost by less than a twentieth.
The paper gives none of the constants; δ = 1, γ = 0, k = 0.1 and a radius of 0.2 for "near before" are those of Mrkšić
et al.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discotext.extras import need
from discotext.text.neighbours import Neighbours, nearest
from discotext.text.vectors import Vectors, WordVectors, numbered_lines

Pairs = NDArray[np.int64]
RIGHT_SIDE = 0.95  # of δ: an antonym pair this far apart is on the right side
NEAREST = 20  # neighbours kept for each word, at most


@dataclass(frozen=True)
class CounterFit:
    """Settings. The letters of the paper: k₁, k₂, k₃, δ, γ."""

    antonyms: float = 0.1
    synonyms: float = 0.1
    neighbours: float = 0.1
    antonym_distance: float = 1.0
    synonym_distance: float = 0.0
    radius: float = 0.2
    rate: float = 0.02
    steps: int = 100
    tolerance: float = 0.05

    def __post_init__(self) -> None:
        if min(self.antonyms, self.synonyms, self.neighbours) < 0:
            raise ValueError("a weight of a term is below 0; choose 0 or more, and 0 to leave the term out")
        if self.steps < 1 or not self.rate > 0:
            raise ValueError(f"steps is {self.steps} and rate is {self.rate}; choose steps ≥ 1 and a rate above 0")


@dataclass(frozen=True)
class Fitted:
    """Vectors after fitting, and the cost of each term before every step (and at the end)."""

    vectors: WordVectors
    curve: list[dict[str, float]] = field(repr=False)


def read_pairs(path: str | Path) -> list[tuple[str, str]]:
    """Pairs of words, one a line, separated by white space; a prefix `en_` is dropped, as published lists have it."""
    pairs = []
    for number, line in numbered_lines(Path(path)):
        words = [word.removeprefix("en_") for word in line.split()]
        if not words:
            continue
        if len(words) != 2:
            raise ValueError(f"{path}, line {number}: {len(words)} words, expected a pair such as 'good bad'")
        pairs.append((words[0], words[1]))
    if not pairs:
        raise ValueError(f"{path} holds no pairs; expected two words on each line")
    return pairs


def rows_of(vectors: WordVectors, pairs: Iterable[tuple[str, str]]) -> Pairs:
    """(P, 2) the rows of pairs whose words are both known, each pair once."""
    row = vectors.row
    known = {
        (row[a], row[b]) if row[a] < row[b] else (row[b], row[a]) for a, b in pairs if a in row and b in row and a != b
    }
    return np.array(sorted(known), dtype=np.int64).reshape(-1, 2)


def without(pairs: Pairs, others: Pairs) -> Pairs:
    """Pairs that are not among the others."""
    taken = set(map(tuple, others.tolist()))
    return np.array([pair for pair in pairs.tolist() if tuple(sorted(pair)) not in taken], dtype=np.int64).reshape(
        -1, 2
    )


def distances(vectors: Vectors, pairs: Pairs) -> Vectors:
    """(P,) 1 − cosine of each pair."""
    left, right = vectors[pairs[:, 0]], vectors[pairs[:, 1]]
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    return np.asarray(1 - (left * right).sum(axis=1) / np.where(lengths == 0, 1, lengths))


def near_before(vectors: WordVectors, words: NDArray[np.int64], radius: float) -> Pairs:
    """Pairs of these words with their nearest ones within a radius, at most `NEAREST` each."""
    table = nearest(vectors, words, Neighbours(k=NEAREST, ball=1.0))
    pairs = np.stack([np.repeat(table.rows, np.diff(table.offsets)), table.neighbours], axis=1)
    return pairs[table.distances < radius]


def counterfit(
    vectors: WordVectors,
    synonyms: Iterable[tuple[str, str]],
    antonyms: Iterable[tuple[str, str]],
    settings: CounterFit = CounterFit(),  # noqa: B008 (frozen)
    watch: Callable[[int, float], None] | None = None,
) -> Fitted:
    """Fit unit vectors to synonyms and antonyms; a pair that is both counts as antonyms.

    watch: called before each step with its number and the cost.
    """
    torch = need("torch", extra="torch", reason="counter-fitting")
    start = vectors.unit()
    apart = rows_of(start, antonyms)
    together = without(rows_of(start, synonyms), apart)
    if not len(apart) + len(together):
        raise ValueError(
            "none of the synonyms and antonyms are pairs of known words; are the words of both lower case?"
        )
    # Only words that are named move; the rest need no parameters.
    moving = np.unique(np.concatenate([apart.ravel(), together.ravel()]))
    near = without(near_before(start, moving, settings.radius), apart)
    fixed = torch.from_numpy(start.vectors.copy())
    parameters = fixed[torch.from_numpy(moving)].clone().requires_grad_()
    optimiser = torch.optim.Adagrad([parameters], lr=settings.rate)
    before = torch.from_numpy(distances(start.vectors, near).astype(np.float32))
    # Each term: its pairs, by how much a distance is on the wrong side, and its weight.
    terms: dict[str, tuple[Any, Callable[[Any], Any], float]] = {
        "antonyms": (torch.from_numpy(apart), lambda d: settings.antonym_distance - d, settings.antonyms),
        "synonyms": (torch.from_numpy(together), lambda d: d - settings.synonym_distance, settings.synonyms),
        "neighbours": (torch.from_numpy(near), lambda d: d - before, settings.neighbours),
    }
    curve: list[dict[str, float]] = []
    idle = 0
    for step in range(settings.steps + 1):
        unit = fixed.index_copy(0, torch.from_numpy(moving), torch.nn.functional.normalize(parameters, dim=1))
        costs = {
            name: weight * torch.relu(excess(1 - (unit[pairs[:, 0]] * unit[pairs[:, 1]]).sum(1))).sum()
            for name, (pairs, excess, weight) in terms.items()
        }
        total = sum(costs.values())
        curve.append({name: float(cost.detach()) for name, cost in costs.items()})
        if watch is not None:
            watch(step, float(total.detach()))
        previous = sum(curve[-2].values()) if step else np.inf
        idle = idle + 1 if float(total.detach()) > (1 - settings.tolerance) * previous else 0
        if idle == 2 or step == settings.steps:
            return Fitted(WordVectors(vectors.words, unit.detach().numpy()), curve)
        optimiser.zero_grad()
        total.backward()  # type: ignore[no-untyped-call, unused-ignore]
        optimiser.step()
    raise AssertionError("the last step returns")


def sides(vectors: WordVectors, synonyms: Pairs, antonyms: Pairs, settings: CounterFit) -> dict[str, float]:
    """Where pairs stand: the share of antonyms (nearly) δ apart, mean distances, synonyms nearer than antonyms."""
    limit = RIGHT_SIDE * settings.antonym_distance
    near, far = distances(vectors.vectors, synonyms), distances(vectors.vectors, antonyms)
    both = len(near) and len(far)
    return {
        "antonyms_apart": float((far >= limit).mean()) if len(far) else float("nan"),
        "antonym_distance": float(far.mean()) if len(far) else float("nan"),
        "synonym_distance": float(near.mean()) if len(near) else float("nan"),
        "synonyms_nearer_than_antonyms": float((near < np.median(far)).mean()) if both else float("nan"),
    }


def spearman(vectors: WordVectors, judged: Iterable[tuple[str, str, float]]) -> tuple[float, int]:
    """Spearman's ρ of the cosine with people's judgement, and the number of pairs whose words are both known."""
    known = [(vectors.row[a], vectors.row[b], score) for a, b, score in judged if a in vectors.row and b in vectors.row]
    if len(known) < 3:
        return float("nan"), len(known)
    pairs = np.array([(a, b) for a, b, _ in known])
    ours, theirs = ranks(-distances(vectors.vectors, pairs)), ranks(np.array([score for _, _, score in known]))
    return float(np.corrcoef(ours, theirs)[0, 1]), len(known)


def ranks(values: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Ranks from 1, ties sharing their mean.

    >>> ranks(np.array([3.0, 1.0, 3.0]))
    array([2.5, 1. , 2.5])
    """
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return np.asarray((last - (count - 1) / 2)[place])


def read_simlex(path: str | Path) -> list[tuple[str, str, float]]:
    """SimLex-999 as published: tab-separated, with a header that names word1, word2 and SimLex999."""
    lines = list(numbered_lines(Path(path)))
    header = lines[0][1].split("\t") if lines else []
    try:
        columns = [header.index(name) for name in ("word1", "word2", "SimLex999")]
    except ValueError:
        raise ValueError(f"{path}: its first line is not SimLex-999's header (word1, word2, …, SimLex999)") from None
    judged = []
    for number, line in lines[1:]:
        row = line.split("\t")
        try:
            judged.append((row[columns[0]], row[columns[1]], float(row[columns[2]])))
        except (IndexError, ValueError):
            if line:
                raise ValueError(f"{path}, line {number}: expected two words and a number, found {line!r}") from None
    return judged
