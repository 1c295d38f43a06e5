"""The score of a text in a network: the channel, language models and a word penalty, weighted and added.

    score(text) = Σ channel scores + Σ_m weight_m · ln p_m(text) − word penalty · words

What such a sum can do depends on its models. `NetworkOracle` reads from left to right if all of them do (`sequential`),
and if all are n-grams it knows how far a word looks back (`order`); `RelaxedNetworkOracle` then also scores mixtures of
alternatives. `make_oracle` picks the class.

An n-gram looks at as many positions as it needs to see `order − 1` words that are surely there: more where words may be
skipped. In word graphs, and where that is too far, its windows are not listed: there are neither mixtures nor an order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from discotext.core.arrays import Bools, Choices, Floats, Ints
from discotext.core.problem import Batch
from discotext.decoding.network import Network
from discotext.models.model import LanguageModel, NGramModel, SequentialModel, Token

TABLES = 1_000_000  # windows of all positions of one network at most, for an oracle that lists them
FORBIDDEN = -1e4  # what −inf is in a mixture, where zero times infinity would be nothing
LETTERS = "abcdefghijklmnopqrstuvwxy"
SKIPPED = Token("", "")


class NGramReader:
    """Reads the alternatives of networks with an n-gram model, many rows at once; words are looked up once.

    Alternatives are named by their place in the concatenation of all positions of all networks. ids: (K, slots), the
    words of each, −1 where it has fewer than the longest phrase. A context is a row of `order − 1` ids.
    """

    def __init__(self, model: NGramModel, phrases: Sequence[Sequence[str]]) -> None:
        self.model = model
        words = sorted({word for phrase in phrases for word in phrase})
        number = dict(zip(words, model.ids(words).tolist(), strict=True))
        self.ids: Ints = np.full((len(phrases), max(map(len, phrases), default=0)), -1, dtype=np.int64)
        for row, phrase in enumerate(phrases):
            self.ids[row, : len(phrase)] = [number[word] for word in phrase]

    def read(self, contexts: Ints, places: Ints) -> tuple[Ints, Floats]:
        """Read an alternative each after some contexts. Returns the new contexts, and the log-probabilities (R,)."""
        gains = np.zeros(len(contexts))
        for words in self.ids[places].T:
            there = np.flatnonzero(words >= 0)
            gains[there] += self.model.log_probs(contexts[there], words[there])
            contexts = self._push(contexts, words)
        return contexts, gains

    def skip(self, contexts: Ints, places: Ints) -> Ints:
        """The contexts after alternatives, whose probabilities are not asked for."""
        for words in self.ids[places].T:
            contexts = self._push(contexts, words)
        return contexts

    def _push(self, contexts: Ints, words: Ints) -> Ints:
        if self.model.order == 1:
            return contexts
        pushed = np.concatenate([contexts[:, 1:], words[:, None]], axis=1)
        return np.where((words >= 0)[:, None], pushed, contexts)


@dataclass(frozen=True)
class PathStates:
    """States of prefixes. problems, until (the next position that is not covered), begun (whether a word is there
    yet): (R,). models: by the number of a model, its states."""

    problems: Ints
    until: Ints
    begun: Bools
    models: dict[int, Any]


class NetworkOracle:
    """Scores texts of networks. batch: Their problems, see `make_batch`. weights: One for each model."""

    def __init__(
        self,
        networks: Sequence[Network],
        batch: Batch,
        models: Sequence[LanguageModel],
        weights: Sequence[float],
        word_penalty: float,
    ) -> None:
        self.networks, self.batch, self.models = list(networks), batch, list(models)
        self.weights = np.array(weights, dtype=np.float64)
        every = [one for network in networks for row in network.positions for one in row]
        phrases = [one.word.split() for one in every]
        self.words: Ints = np.array([len(one) for one in phrases], dtype=np.int64)
        self.channel: Floats = np.array([one.score for one in every], dtype=np.float64) - word_penalty * self.words
        self.span: Ints = np.array([one.span for one in every], dtype=np.int64)
        self.readers = {
            number: NGramReader(model, phrases) for number, model in enumerate(models) if isinstance(model, NGramModel)
        }
        self.sequential = all(isinstance(model, SequentialModel) for model in models)
        self.order = find_reach(networks, models) if can_list(networks, models) else None

    def places(self, problems: Ints, position: int, candidates: Ints) -> Ints:
        """(R,) the places of candidates in the concatenation of all positions."""
        return np.asarray(self.batch.starts[self.batch.first_position[problems] + position] + candidates)

    def score(self, problems: Ints, choices: Choices) -> Floats:
        """Score whole texts: n-grams from left to right, other models sentence by sentence."""
        sizes = self.batch.sizes[problems]
        states, rows = self._start(problems, self.readers), np.arange(len(problems))
        empty = np.flatnonzero(sizes == 0)
        total = np.zeros(len(problems))
        for number, reader in self.readers.items():
            total[empty] += self.weights[number] * reader.model.finish(states.models[number][empty])
        for position in range(int(sizes.max(initial=0))):
            going = np.flatnonzero(sizes[rows] > position)
            rows = rows[going]
            states, gains = self.extend(states, going, position, choices[rows, position].astype(np.int64))
            total[rows] += gains
        asked = np.flatnonzero(total > -np.inf)
        rest = [number for number in range(len(self.models)) if number not in self.readers]
        if rest and len(asked):
            pairs = zip(problems[asked].tolist(), choices[asked].tolist(), strict=True)
            sentences = [self.networks[problem].tokens(choice) for problem, choice in pairs]
            for number in rest:
                total[asked] += self.weights[number] * self.models[number].score(sentences)
        return total

    def start(self, problems: Ints) -> PathStates:
        """The states of empty prefixes; see `PathOracle` for this and the next two."""
        return self._start(problems, range(len(self.models)))

    def _start(self, problems: Ints, numbers: Iterable[int]) -> PathStates:
        none = np.zeros(len(problems), dtype=np.int64)
        models = {number: as_sequential(self.models[number]).start(len(problems)) for number in numbers}
        return PathStates(np.asarray(problems), none, none.astype(bool), models)

    def extend(self, states: PathStates, parents: Ints, position: int, candidates: Ints) -> tuple[PathStates, Floats]:
        problems, until, begun = states.problems[parents], states.until[parents], states.begun[parents]
        covered = until > position
        places = self.places(problems, position, candidates)
        gains = np.where(covered, np.where(candidates > 0, -np.inf, 0.0), self.channel[places])
        read = np.flatnonzero(~covered)
        last = np.flatnonzero(self.batch.sizes[problems] == position + 1)
        new: dict[int, Any] = {}
        for number, before in states.models.items():
            gained = np.zeros(len(parents))
            if number in self.readers:
                contexts = before[parents]
                contexts[read], gained[read] = self.readers[number].read(contexts[read], places[read])
                gained[last] += self.readers[number].model.finish(contexts[last])
                new[number] = contexts
            else:
                model = as_sequential(self.models[number])
                rows = zip(problems.tolist(), candidates.tolist(), covered.tolist(), begun.tolist(), strict=True)
                phrases = [
                    [] if hidden else split_phrase(self.networks[problem], position, candidate, seen)
                    for problem, candidate, hidden, seen in rows
                ]
                new[number], gained = read_phrases(model, before, parents, phrases)
                if len(last):
                    # Nothing more is read, only these rows are picked.
                    ending, _ = model.extend(new[number], last, [SKIPPED] * len(last))
                    gained[last] += model.finish(ending)
            gains += self.weights[number] * gained
        after = np.where(covered, until, position + self.span[places])
        return PathStates(problems, after, begun | (~covered & (self.words[places] > 0)), new), gains

    def recombine(self, states: PathStates) -> Ints | None:
        columns = [states.until]
        for number, state in states.models.items():
            if number in self.readers:
                columns += list(state.T)
                continue
            known = as_sequential(self.models[number]).recombine(state)
            if known is None:
                return None
            ids: dict[Any, int] = {}
            columns += [np.array([ids.setdefault(key, len(ids)) for key in known], dtype=np.int64)]
            columns.append(states.begun.astype(np.int64))
        keys = states.problems
        for column in columns:
            # Numbered anew each time, so that they stay small.
            keys = np.unique(keys * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1]
        return np.asarray(keys)


class RelaxedNetworkOracle(NetworkOracle):
    """Also scores mixtures of alternatives: each position holds its words by weights.

    The channel and n-gram models are extended multilinearly: each position draws its word from its weights,
    independently, and the score is the mean, Σ over windows of Π α · term. That is a small tensor for each position,
    contracted with the weights of the positions it looks at; the gradient leaves one of them out. So a mixture of one
    scores as its text.
    """

    exact_at_vertices = True

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._tables: dict[int, list[Floats]] = {}

    def relaxed(self, problems: Ints, alpha: Floats) -> tuple[Floats, Floats]:
        """Scores (R,) and gradients of mixtures, as `RelaxedOracle.relaxed`."""
        scores, gradient = np.zeros(len(problems)), np.zeros(len(alpha))
        ends = np.cumsum(self.batch.widths[problems])
        for problem in np.unique(problems).tolist():
            rows = np.flatnonzero(problems == problem)
            width = int(self.batch.widths[problem])
            places = (ends[rows] - width)[:, None] + np.arange(width)
            scores[rows], gradient[places] = self._contract(problem, alpha[places])
        return scores, gradient

    def _contract(self, problem: int, alpha: Floats) -> tuple[Floats, Floats]:
        """The multilinear part of one problem. alpha: (R, its candidates). Returns (R,), and a gradient like alpha."""
        counts = np.array(self.networks[problem].counts, dtype=np.int64)
        ends = np.cumsum(counts)
        weights = [alpha[:, end - count : end] for count, end in zip(counts, ends, strict=True)]
        scores, gradient = np.zeros(len(alpha)), np.zeros(alpha.shape)
        for position, table in enumerate(self._tabulate(problem)):
            first = position + 1 - table.ndim
            held = weights[first : position + 1]
            for place in range(table.ndim):
                others = [one for at, one in enumerate(held) if at != place]
                found = np.einsum(spell(table.ndim, place), table, *others, optimize=True)
                at = first + place
                gradient[:, ends[at] - counts[at] : ends[at]] += found if found.ndim == 2 else found[None]
            scores += (held[-1] * (found if found.ndim == 2 else found[None])).sum(axis=1)
        return scores, gradient

    def _tabulate(self, problem: int) -> list[Floats]:
        """The terms of each position of a problem, as a tensor with an axis for each position it looks at."""
        if problem not in self._tables:
            counts, order = self.networks[problem].counts, self.order or 1
            self._tables[problem] = [
                self._find_terms(problem, position, counts[max(0, position + 1 - order) : position + 1])
                for position in range(len(counts))
            ]
        return self._tables[problem]

    def _find_terms(self, problem: int, position: int, shape: tuple[int, ...]) -> Floats:
        """The channel and all n-gram models at a position, after what may stand at the positions before it."""
        windows = np.indices(shape, dtype=np.int64).reshape(len(shape), -1)
        first = position + 1 - len(shape)
        *before, here = [self.places(np.array(problem), first + at, row) for at, row in enumerate(windows)]
        total = self.channel[here].copy()
        for number, reader in self.readers.items():
            contexts = reader.model.start(len(here))
            for places in before:
                contexts = reader.skip(contexts, places)
            contexts, gains = reader.read(contexts, here)
            if position + 1 == self.batch.sizes[problem]:
                gains += reader.model.finish(contexts)
            total += self.weights[number] * gains
        return np.asarray(np.maximum(total, FORBIDDEN).reshape(shape))


@lru_cache(maxsize=64)
def spell(axes: int, kept: int) -> str:
    """How einsum contracts a tensor with the weights of all its axes but one; rows are the letter z.

    >>> spell(3, 1)
    'abc,za,zc->zb'
    """
    letters = LETTERS[:axes]
    others = "".join(f",z{letter}" for letter in letters if letter != letters[kept])
    return f"{letters}{others}->{'z' if others else ''}{letters[kept]}"


def as_sequential(model: LanguageModel) -> SequentialModel:
    """The model, which is known to read from left to right."""
    assert isinstance(model, SequentialModel)
    return model


def split_phrase(network: Network, position: int, candidate: int, begun: bool) -> list[Token]:
    """The tokens of an alternative. begun: whether a word stands before it."""
    words = network.positions[position][candidate].word.split()
    return [Token(" " if slot else network.gap(position if begun else 0), word) for slot, word in enumerate(words)]


def read_phrases(
    model: SequentialModel, states: Any, parents: Ints, phrases: Sequence[Sequence[Token]]
) -> tuple[Any, Floats]:
    """Put phrases, which may be empty, behind prefixes; returns new states and (R,) the log-probabilities."""
    gains = np.zeros(len(parents))
    for slot in range(max(map(len, phrases), default=0) or 1):
        tokens = [phrase[slot] if slot < len(phrase) else SKIPPED for phrase in phrases]
        states, found = model.extend(states, parents, tokens)
        gains += found
        parents = np.arange(len(gains))
    return states, gains


def make_oracle(
    networks: Sequence[Network],
    batch: Batch,
    models: Sequence[LanguageModel],
    weights: Sequence[float] | None = None,
    word_penalty: float = 0.0,
) -> NetworkOracle:
    """The oracle of networks under models. weights: One for each model, 1 if None.

    >>> from discotext.decoding.network import make_batch
    >>> networks = [Network.of("1", [[("a", -1.0), ("the", -2.0)], ["film"]])]
    >>> oracle = make_oracle(networks, make_batch(networks, [2]), [])
    >>> oracle.order, oracle.score(np.array([0]), np.array([[1, 0]], dtype=np.int32))
    (1, array([-2.]))
    """
    given = [1.0] * len(models) if weights is None else list(weights)
    if len(given) != len(models):
        raise ValueError(f"{len(given)} weights were given for {len(models)} language models; give one for each")
    for value in (*given, word_penalty):
        if not np.isfinite(value):
            raise ValueError(f"a weight is {value}; give a finite number")
    kind = RelaxedNetworkOracle if can_list(networks, models) else NetworkOracle
    return kind(networks, batch, models, given, word_penalty)


def can_list(networks: Sequence[Network], models: Sequence[LanguageModel]) -> bool:
    """Whether all models are n-grams whose windows can be listed: no graph, no long runs that may be skipped."""
    if any(network.spans for network in networks) or not all(isinstance(model, NGramModel) for model in models):
        return False
    if not models:
        return True
    reach = find_reach(networks, models)
    most = 0.0
    for network in networks:
        totals = np.concatenate([[0.0], np.cumsum(np.log(np.array(network.counts, dtype=np.float64)))])
        ends = np.arange(1, len(network) + 1)
        most = max(most, float(np.exp(totals[ends] - totals[np.maximum(ends - reach, 0)]).sum()))
    return most <= TABLES


def find_reach(networks: Sequence[Network], models: Sequence[LanguageModel]) -> int:
    """How many positions the gain of one looks at: the highest order of the n-gram models, and one more for each
    position in between that may be skipped."""
    order = max((model.order for model in models if isinstance(model, NGramModel)), default=1)
    furthest = 1
    for network in networks:
        words = [min(len(one.word.split()) for one in row) for row in network.positions]
        first, seen = 0, 0  # the positions from `first` up to the one before `last` hold at least `seen` words
        # At the end of the text, its end is read too, after the last position.
        for last in range(len(words)):
            furthest = max(furthest, last - first + 1)
            seen += words[last]
            while first < last + 1 and seen - words[first] >= order - 1:
                seen -= words[first]
                first += 1
        if words:
            furthest = max(furthest, len(words) - first)
    return furthest
