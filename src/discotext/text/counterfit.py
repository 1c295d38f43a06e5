"""Counter-fitting: word vectors in which near words are synonyms (Mrkšić et al. 2016, as used in the paper).

Vectors learnt from text put antonyms close together, because they occur in the same contexts. Three terms correct that,
with d = 1 − cos and τ = max(0, ·):

    A  = Σ τ(δ − d(u, w))  over antonyms       push them at least δ apart
    S  = Σ τ(d(u, w) − γ)  over synonyms       pull them within γ
    VS = Σ τ(d(u, w) − d₀(u, w))               words that were close before do not drift apart

The cost is k₁A + k₂S + k₃VS. Words without a constraint stay where they are. Each step of Adagrad uses all pairs, and
fitting stops when two consecutive steps lower the cost by less than 5 %. The paper gives none of the constants; δ = 1,
γ = 0, k = 0.1 and a radius of 0.2 for "close before" are those of Mrkšić et al.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discotext.support.extras import require
from discotext.text.neighbours import Neighbours, find_nearest
from discotext.text.vectors import Vectors, WordVectors, read_numbered_lines

Pairs = NDArray[np.int64]
SEPARATED_SHARE = 0.95  # of δ: antonyms at least this far apart count as separated
MAX_CLOSE_WORDS = 20  # pairs of the third term per word


@dataclass(frozen=True)
class CounterFit:
    """Settings; the first five are k₁, k₂, k₃, δ and γ of the paper."""

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
            raise ValueError("the weight of a term is negative; choose 0 or more, where 0 leaves the term out")
        if self.steps < 1 or not self.rate > 0:
            raise ValueError(f"steps is {self.steps} and rate is {self.rate}; choose steps ≥ 1 and a rate above 0")


@dataclass(frozen=True)
class CounterFitResult:
    """Vectors after fitting, and the cost of each term before every step and at the end."""

    vectors: WordVectors
    curve: list[dict[str, float]] = field(repr=False)


def read_pairs(path: str | Path) -> list[tuple[str, str]]:
    """Read pairs of words, two on each line, separated by white space; a prefix `en_` is dropped."""
    pairs = []
    for number, line in read_numbered_lines(Path(path)):
        words = [word.removeprefix("en_") for word in line.split()]
        if not words:
            continue
        if len(words) != 2:
            raise ValueError(f"{path}, line {number}: {len(words)} words; expected a pair such as 'good bad'")
        pairs.append((words[0], words[1]))
    if not pairs:
        raise ValueError(f"{path} contains no pairs; expected two words on each line")
    return pairs


def look_up_pairs(vectors: WordVectors, pairs: Iterable[tuple[str, str]]) -> Pairs:
    """(P, 2) the rows of the pairs whose words both have vectors, each pair once."""
    row = vectors.row
    known = {
        (row[a], row[b]) if row[a] < row[b] else (row[b], row[a]) for a, b in pairs if a in row and b in row and a != b
    }
    return np.array(sorted(known), dtype=np.int64).reshape(-1, 2)


def remove_pairs(pairs: Pairs, others: Pairs) -> Pairs:
    """The pairs that are not among the others."""
    taken = set(map(tuple, others.tolist()))
    kept = [pair for pair in pairs.tolist() if tuple(sorted(pair)) not in taken]
    return np.array(kept, dtype=np.int64).reshape(-1, 2)


def compute_distances(vectors: Vectors, pairs: Pairs) -> Vectors:
    """(P,) 1 − cosine of each pair."""
    left, right = vectors[pairs[:, 0]], vectors[pairs[:, 1]]
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    return np.asarray(1 - (left * right).sum(axis=1) / np.where(lengths == 0, 1, lengths))


def find_close_pairs(vectors: WordVectors, words: NDArray[np.int64], radius: float) -> Pairs:
    """Pairs of these words with their nearest words within a radius, at most `MAX_CLOSE_WORDS` each."""
    at, near, distances = find_nearest(vectors, words, Neighbours(k=MAX_CLOSE_WORDS, ball=1.0))
    return np.stack([words[at], near], axis=1)[distances < radius]


def counterfit(
    vectors: WordVectors,
    synonyms: Iterable[tuple[str, str]],
    antonyms: Iterable[tuple[str, str]],
    settings: CounterFit = CounterFit(),  # noqa: B008 (frozen)
    watch: Callable[[int, float], None] | None = None,
) -> CounterFitResult:
    """Fit unit vectors to synonyms and antonyms; a pair in both lists counts as antonyms.

    watch: called before each step with its number and the cost.
    """
    torch = require("torch", extra="torch", reason="counter-fitting")
    start = vectors.normalise()
    apart = look_up_pairs(start, antonyms)
    together = remove_pairs(look_up_pairs(start, synonyms), apart)
    if not len(apart) + len(together):
        raise ValueError(
            "no pair of synonyms or antonyms has vectors for both words; are words and vectors both in lower case?"
        )
    # Only words with a constraint move; the others need no parameters.
    moving = np.unique(np.concatenate([apart.ravel(), together.ravel()]))
    near = remove_pairs(find_close_pairs(start, moving, settings.radius), apart)
    fixed = torch.from_numpy(start.vectors.copy())
    parameters = fixed[torch.from_numpy(moving)].clone().requires_grad_()
    optimiser = torch.optim.Adagrad([parameters], lr=settings.rate)
    before = torch.from_numpy(compute_distances(start.vectors, near).astype(np.float32))
    # For each term its pairs, the amount by which a distance violates it, and its weight.
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
            return CounterFitResult(WordVectors(vectors.words, unit.detach().numpy()), curve)
        optimiser.zero_grad()
        total.backward()  # type: ignore[no-untyped-call, unused-ignore]
        optimiser.step()
    raise AssertionError("the last step returns")


def measure_separation(
    vectors: WordVectors, synonyms: Pairs, antonyms: Pairs, settings: CounterFit
) -> dict[str, float]:
    """The share of antonyms (nearly) δ apart, mean distances, and the share of synonyms closer than antonyms."""
    limit = SEPARATED_SHARE * settings.antonym_distance
    near, far = compute_distances(vectors.vectors, synonyms), compute_distances(vectors.vectors, antonyms)
    nothing = float("nan")
    return {
        "antonyms_apart": float((far >= limit).mean()) if len(far) else nothing,
        "antonym_distance": float(far.mean()) if len(far) else nothing,
        "synonym_distance": float(near.mean()) if len(near) else nothing,
        "synonyms_nearer_than_antonyms": float((near < np.median(far)).mean()) if len(near) and len(far) else nothing,
    }


def spearman(vectors: WordVectors, judged: Iterable[tuple[str, str, float]]) -> tuple[float, int]:
    """Spearman's ρ of the cosine and human judgements, and the number of pairs whose words both have vectors."""
    known = [(vectors.row[a], vectors.row[b], score) for a, b, score in judged if a in vectors.row and b in vectors.row]
    if len(known) < 3:
        return float("nan"), len(known)
    pairs = np.array([(a, b) for a, b, _ in known])
    ours, theirs = rank(-compute_distances(vectors.vectors, pairs)), rank(np.array([score for _, _, score in known]))
    return float(np.corrcoef(ours, theirs)[0, 1]), len(known)


def rank(values: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Ranks from 1; ties share their mean rank.

    >>> rank(np.array([3.0, 1.0, 3.0]))
    array([2.5, 1. , 2.5])
    """
    _, inverse, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return np.asarray((last - (count - 1) / 2)[inverse])


def read_simlex(path: str | Path) -> list[tuple[str, str, float]]:
    """Read SimLex-999 as published: tab-separated, with the columns word1, word2 and SimLex999 in its header."""
    lines = list(read_numbered_lines(Path(path)))
    header = lines[0][1].split("\t") if lines else []
    try:
        columns = [header.index(name) for name in ("word1", "word2", "SimLex999")]
    except ValueError:
        raise ValueError(f"{path}: the first line is not SimLex-999's header (word1, word2, …, SimLex999)") from None
    judged = []
    for number, line in lines[1:]:
        row = line.split("\t")
        try:
            judged.append((row[columns[0]], row[columns[1]], float(row[columns[2]])))
        except (IndexError, ValueError):
            if line:
                raise ValueError(f"{path}, line {number}: expected two words and a number, found {line!r}") from None
    return judged
