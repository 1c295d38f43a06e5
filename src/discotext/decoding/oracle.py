"""The score of a text in a network: the channel, language models and a word penalty, weighted and added.

    score(text) = channel weight · Σ channel scores + Σ_m weight_m · ln p_m(text) − word penalty · words

What such a sum can do depends on its models, and the class says so (`make_oracle` picks it):

    NGramOracle               all are n-grams: terms of neighbouring positions, states of prefixes, and mixtures
    SequentialNetworkOracle   all read from left to right: states of prefixes
    MixtureOracle             all score mixtures, or are n-grams: mixtures with gradients
    LeftRightMixtureOracle    both of the last two
    NetworkOracle             whole texts only

A term looks at as many positions as it needs to see `order − 1` words that are surely there: more where words may be
skipped. If that is too far for tables, and in word graphs, n-grams are a SequentialNetworkOracle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discotext.core.arrays import Bools, Choices, Floats, Ints
from discotext.core.problem import Batch
from discotext.decoding.mixtures import MixtureSum
from discotext.decoding.network import Network
from discotext.decoding.ngram_reader import NGramReader, find_reach
from discotext.language.model import LanguageModel, MixtureModel, NGramModel, SequentialModel, Token

TABLES = 1_000_000  # windows of all positions of one network at most, for an oracle that lists them


class NetworkOracle:
    """Scores whole texts. batch: the problems of the networks, see `make_batch`."""

    def __init__(
        self,
        networks: Sequence[Network],
        batch: Batch,
        models: Sequence[LanguageModel],
        weights: Sequence[float],
        channel_weight: float = 1.0,
        word_penalty: float = 0.0,
    ) -> None:
        self.networks, self.batch, self.models = list(networks), batch, list(models)
        self.weights = np.array(weights, dtype=np.float64)
        every = [one for network in networks for row in network.positions for one in row]
        scores = np.array([one.score for one in every])
        words = np.array([len(one.word.split()) for one in every], dtype=np.float64)
        # A weight of 0 would make NaN of what is forbidden.
        channel = channel_weight * np.where(np.isfinite(scores), scores, 0.0) - word_penalty * words
        self.channel: Floats = np.where(np.isfinite(scores), channel, -np.inf)
        self.span: Ints = np.array([one.span for one in every], dtype=np.int64)
        self.spans = bool((self.span > 1).any())
        self.readers = [NGramReader(one, self.networks) if isinstance(one, NGramModel) else None for one in models]

    def alternatives(self, problems: Ints, positions: Ints, candidates: Ints) -> Ints:
        """(R,) the places of candidates in the concatenation of all positions."""
        return np.asarray(self.batch.starts[self.batch.first_position[problems] + positions] + candidates)

    def score(self, problems: Ints, choices: Choices) -> Floats:
        walk = Walk.begin(self, problems)
        for position in range(int(self.batch.sizes[problems].max(initial=0))):
            going = np.flatnonzero(self.batch.sizes[problems] > position)
            walk.read(going, np.full(len(going), position), choices[going, position].astype(np.int64))
        scores = walk.finish()
        asked = np.flatnonzero(scores > -np.inf)
        rest = [number for number, reader in enumerate(self.readers) if reader is None]
        if rest and len(asked):
            pairs = zip(problems[asked].tolist(), choices[asked].tolist(), strict=True)
            sentences = [self.networks[problem].tokens(choice) for problem, choice in pairs]
            for number in rest:
                scores[asked] += self.weights[number] * self.models[number].score(sentences)
        return scores


@dataclass
class Walk:
    """Whole choices read from left to right by the channel and the n-gram models.

    total: (R,); until: (R,) the next position that is not covered; contexts: of each n-gram model.
    """

    oracle: NetworkOracle
    problems: Ints
    total: Floats
    until: Ints
    contexts: list[Ints | None]

    @classmethod
    def begin(cls, oracle: NetworkOracle, problems: Ints) -> Walk:
        count = len(problems)
        contexts = [None if reader is None else reader.begin(count) for reader in oracle.readers]
        return cls(oracle, problems, np.zeros(count), np.zeros(count, dtype=np.int64), contexts)

    def read(self, rows: Ints, positions: Ints, candidates: Ints) -> None:
        """Go one position on in some rows."""
        covered = self.until[rows] > positions
        self.total[rows[covered & (candidates > 0)]] = -np.inf
        rows, positions, candidates = rows[~covered], positions[~covered], candidates[~covered]
        places = self.oracle.alternatives(self.problems[rows], positions, candidates)
        self.total[rows] += self.oracle.channel[places]
        self.until[rows] = positions + self.oracle.span[places]
        for weight, reader, contexts in zip(self.oracle.weights, self.oracle.readers, self.contexts, strict=True):
            if reader is not None and contexts is not None:
                contexts[rows], gains = reader.read(contexts[rows], places)
                self.total[rows] += weight * gains

    def finish(self) -> Floats:
        """(R,) the totals with the ends of the sentences."""
        for weight, reader, contexts in zip(self.oracle.weights, self.oracle.readers, self.contexts, strict=True):
            if reader is not None and contexts is not None:
                self.total += weight * reader.finish(contexts)
        return self.total


@dataclass(frozen=True)
class Prefix:
    """States of prefixes. problems, until, begun (whether a word is there yet): (R,). models: a state of each."""

    problems: Ints
    until: Ints
    begun: Bools
    models: tuple[Any, ...]


class SequentialNetworkOracle(NetworkOracle):
    """Also goes from left to right."""

    def start(self, problems: Ints) -> Prefix:
        count = len(problems)
        states = [
            reader.begin(count) if reader is not None else as_sequential(model).start(count)
            for reader, model in zip(self.readers, self.models, strict=True)
        ]
        none = np.zeros(count, dtype=np.int64)
        return Prefix(np.asarray(problems), none, none.astype(bool), tuple(states))

    def extend(self, states: Prefix, parents: Ints, positions: Ints, candidates: Ints) -> tuple[Prefix, Floats]:
        problems, until, begun = states.problems[parents], states.until[parents], states.begun[parents]
        covered = until > positions
        places = self.alternatives(problems, positions, candidates)
        gains = np.where(covered, np.where(candidates > 0, -np.inf, 0.0), self.channel[places])
        words = [
            () if hidden else tuple(self.networks[problem].positions[position][candidate].word.split())
            for problem, position, candidate, hidden in zip(
                problems.tolist(), positions.tolist(), candidates.tolist(), covered.tolist(), strict=True
            )
        ]
        last = np.flatnonzero(positions + 1 == self.batch.sizes[problems])
        new: list[Any] = []
        for number, reader in enumerate(self.readers):
            if reader is not None:
                contexts = states.models[number][parents]
                read = np.flatnonzero(~covered)
                contexts[read], found = reader.read(contexts[read], places[read])
                gained = np.zeros(len(parents))
                gained[read] = found
                gained[last] += reader.finish(contexts[last])
                new.append(contexts)
            else:
                before = [
                    self.networks[problem].gap(position if seen else 0)
                    for problem, position, seen in zip(
                        problems.tolist(), positions.tolist(), begun.tolist(), strict=True
                    )
                ]
                model = as_sequential(self.models[number])
                state, gained = read_phrases(model, states.models[number], parents, before, words)
                if len(last):
                    # Nothing more is read, only these rows are picked.
                    ending, _ = model.extend(state, last, [Token("", "")] * len(last))
                    gained[last] += model.finish(ending)
                new.append(state)
            gains += self.weights[number] * gained
        after = np.where(covered, until, positions + self.span[places])
        there = begun | np.array([bool(one) for one in words], dtype=bool)
        return Prefix(problems, after, there, tuple(new)), gains

    def recombine(self, states: Prefix) -> Ints | None:
        columns = [states.until[:, None]]
        for reader, model, state in zip(self.readers, self.models, states.models, strict=True):
            if reader is not None:
                columns.append(state)
                continue
            keys = as_sequential(model).recombine(state)
            if keys is None:
                return None
            known: dict[Any, int] = {}
            numbers = np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.int64)
            columns += [numbers[:, None], states.begun[:, None].astype(np.int64)]
        return np.asarray(np.unique(np.concatenate(columns, axis=1), axis=0, return_inverse=True)[1]).ravel()


class MixtureOracle(NetworkOracle):
    """Also scores mixtures of alternatives. exact_at_vertices: whether a mixture of one scores as its text."""

    def __init__(self, *given: Any, **settings: Any) -> None:
        super().__init__(*given, **settings)
        self.mixtures = make_mixtures(self, find_reach(self.networks, get_order(self.models)))
        self.exact_at_vertices = self.mixtures.exact

    def relaxed(self, problems: Ints, alpha: Floats) -> tuple[Floats, Floats]:
        return self.mixtures.relaxed(problems, alpha)


class LeftRightMixtureOracle(SequentialNetworkOracle):
    """Goes from left to right, and scores mixtures."""

    def __init__(self, *given: Any, **settings: Any) -> None:
        super().__init__(*given, **settings)
        self.mixtures = make_mixtures(self, find_reach(self.networks, get_order(self.models)))
        self.exact_at_vertices = self.mixtures.exact

    def relaxed(self, problems: Ints, alpha: Floats) -> tuple[Floats, Floats]:
        return self.mixtures.relaxed(problems, alpha)


class NGramOracle(LeftRightMixtureOracle):
    """A sum of n-gram models: its score is a sum of terms that look at `order` positions each."""

    def __init__(self, *given: Any, **settings: Any) -> None:
        super().__init__(*given, **settings)
        self.order = find_reach(self.networks, get_order(self.models))

    def terms(self, problems: Ints, positions: Ints, windows: Choices) -> Floats:
        return find_terms(self, problems, positions, windows)


def find_terms(oracle: NetworkOracle, problems: Ints, positions: Ints, windows: Choices) -> Floats:
    """(R,) the channel and all n-gram models at one position each, after what windows (R, any) hold before it."""
    wide = windows.shape[1]
    places = [
        oracle.alternatives(problems, np.maximum(positions - wide + 1 + column, 0), windows[:, column].astype(np.int64))
        for column in range(wide)
    ]
    total = oracle.channel[places[-1]].copy()
    last = np.flatnonzero(positions + 1 == oracle.batch.sizes[problems])
    for weight, reader in zip(oracle.weights, oracle.readers, strict=True):
        if reader is None:
            continue
        contexts = reader.begin(len(problems))
        for column in range(wide - 1):
            inside = np.flatnonzero(positions - wide + 1 + column >= 0)
            contexts[inside] = reader.skip_over(contexts[inside], places[column][inside])
        contexts, gains = reader.read(contexts, places[-1])
        gains[last] += reader.finish(contexts[last])
        total += weight * gains
    return total


def make_mixtures(oracle: NetworkOracle, order: int) -> MixtureSum:
    """The relaxation of a sum: the channel is linear, n-grams are multilinear, and other models mix vectors."""
    has_ngrams = any(reader is not None for reader in oracle.readers)

    def terms(problems: Ints, positions: Ints, windows: Choices) -> Floats:
        return find_terms(oracle, problems, positions, windows)

    mixing = [
        (float(weight), model)
        for weight, model in zip(oracle.weights, oracle.models, strict=True)
        if not isinstance(model, NGramModel) and isinstance(model, MixtureModel)
    ]
    return MixtureSum(oracle.networks, oracle.batch, terms, order if has_ngrams else 1, mixing)


def as_sequential(model: LanguageModel) -> SequentialModel:
    """The model, which is known to read from left to right."""
    assert isinstance(model, SequentialModel)
    return model


def get_order(models: Sequence[LanguageModel]) -> int:
    """The highest order of the n-gram models; 1 without any."""
    return max((model.order for model in models if isinstance(model, NGramModel)), default=1)


def read_phrases(
    model: SequentialModel, states: Any, parents: Ints, before: Sequence[str], phrases: Sequence[Sequence[str]]
) -> tuple[Any, Floats]:
    """Put phrases, which may be empty, behind prefixes. before: what stands before each phrase."""
    gains = np.zeros(len(parents))
    for slot in range(max((len(phrase) for phrase in phrases), default=0) or 1):
        tokens = [
            Token(gap if slot == 0 else " ", phrase[slot]) if slot < len(phrase) else Token("", "")
            for gap, phrase in zip(before, phrases, strict=True)
        ]
        states, found = model.extend(states, parents, tokens)
        gains += found
        parents = np.arange(len(gains))
    return states, gains


def make_oracle(
    networks: Sequence[Network],
    batch: Batch,
    models: Sequence[LanguageModel],
    weights: Sequence[float] | None = None,
    channel_weight: float = 1.0,
    word_penalty: float = 0.0,
) -> NetworkOracle:
    """The oracle of networks under models. weights: one for each model, 1 if None.

    >>> from discotext.decoding.network import make_batch
    >>> networks = [Network.of("1", [[("a", -1.0), ("the", -2.0)], ["film"]])]
    >>> oracle = make_oracle(networks, make_batch(networks, [2]), [])
    >>> type(oracle).__name__, oracle.score(np.array([0]), np.array([[1, 0]], dtype=np.int32))
    ('NGramOracle', array([-2.]))
    """
    given = [1.0] * len(models) if weights is None else list(weights)
    if len(given) != len(models):
        raise ValueError(f"{len(given)} weights were given for {len(models)} language models; give one for each")
    for name, value in [("channel weight", channel_weight), ("word penalty", word_penalty)] + [
        ("weight", weight) for weight in given
    ]:
        if not np.isfinite(value):
            raise ValueError(f"the {name} is {value}; give a finite number")
    kind = pick_class(networks, models)
    return kind(networks, batch, models, given, channel_weight, word_penalty)


def pick_class(networks: Sequence[Network], models: Sequence[LanguageModel]) -> type[NetworkOracle]:
    """The class whose abilities these models have on these networks."""
    ngrams = [isinstance(model, NGramModel) for model in models]
    # The relaxation and dynamic programming list windows; in a graph, and where long runs may be skipped, they cannot.
    small = not any(network.spans for network in networks)
    small = small and (not any(ngrams) or count_windows(networks, get_order(models)) <= TABLES)
    sequential = all(isinstance(model, SequentialModel) for model in models)
    mixing = small and all(
        isinstance(model, MixtureModel) or known for model, known in zip(models, ngrams, strict=True)
    )
    if small and all(ngrams):
        return NGramOracle
    if sequential and mixing:
        return LeftRightMixtureOracle
    if sequential:
        return SequentialNetworkOracle
    return MixtureOracle if mixing else NetworkOracle


def count_windows(networks: Sequence[Network], order: int) -> float:
    """How many windows the positions of a network have together, at most."""
    reach = find_reach(networks, order)
    most = 0.0
    for network in networks:
        counts = np.log(np.maximum(network.counts, 1)) if len(network) else np.zeros(0)
        totals = np.concatenate([[0.0], np.cumsum(counts)])
        ends = np.arange(1, len(network) + 1)
        most = max(most, float(np.exp(totals[ends] - totals[np.maximum(ends - reach, 0)]).sum()))
    return most
