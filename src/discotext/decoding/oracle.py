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
from itertools import chain
from typing import Any

import numpy as np

from discotext.core.arrays import Bools, Choices, Floats, Ints
from discotext.core.problem import Batch
from discotext.decoding.network import Network, make_tokens
from discotext.models.model import LanguageModel, NGramModel, SequentialModel, Token

TABLES = 1_000_000  # windows of all positions of one network at most, for an oracle that lists them
FORBIDDEN = -1e4  # what −inf is in a mixture, where zero times infinity would be nothing
SKIPPED = Token("", "")


class NGramReader:
    """Reads the alternatives of networks with an n-gram model, many rows at once; words are looked up once.

    ids: (K, slots), the words of each alternative, −1 where it has fewer than the longest phrase. A state is a row of
    `order − 1` ids.
    """

    def __init__(self, model: NGramModel, phrases: Sequence[Sequence[str]]) -> None:
        self.model = model
        words = sorted({word for phrase in phrases for word in phrase})
        number = dict(zip(words, model.ids(words).tolist(), strict=True))
        self.ids: Ints = np.full((len(phrases), max(map(len, phrases), default=0)), -1, dtype=np.int64)
        for row, phrase in enumerate(phrases):
            self.ids[row, : len(phrase)] = [number[word] for word in phrase]

    def read(self, states: Ints, parents: Ints, places: Ints, wanted: Bools, begun: Bools) -> tuple[Ints, Floats]:
        """Put an alternative each behind some prefixes where it is wanted; new states and (R,) log-probabilities.

        places: where alternatives stand in the concatenation of all positions. begun: whether a word is there yet.
        """
        contexts, gains = states[parents], np.zeros(len(parents))
        for words in np.where(wanted[:, None], self.ids[places], -1).T:
            contexts, found = self.model.append(contexts, words)
            gains += found
        return contexts, gains

    def finish(self, states: Ints, rows: Ints) -> Floats:
        """The log-probability that the text ends after some of the states."""
        return self.model.finish(states[rows])

    def list_keys(self, states: Ints, begun: Bools) -> list[Ints] | None:
        """Columns of numbers: what agrees in all of them has equal futures. None if nothing has."""
        return list(states.T)


class PhraseReader:
    """The same with any other model that reads from left to right.

    tokens: of each alternative, at the start of a text and after a word.
    """

    def __init__(self, model: SequentialModel, tokens: Sequence[Sequence[Sequence[Token]]]) -> None:
        self.model, self.tokens = model, tokens

    def read(self, states: Any, parents: Ints, places: Ints, wanted: Bools, begun: Bools) -> tuple[Any, Floats]:
        rows = [
            self.tokens[seen][place] if there else ()
            for place, there, seen in zip(places.tolist(), wanted.tolist(), begun.tolist(), strict=True)
        ]
        gains = np.zeros(len(parents))
        for slot in range(max(map(len, rows), default=0) or 1):
            tokens = [row[slot] if slot < len(row) else SKIPPED for row in rows]
            states, found = self.model.extend(states, parents, tokens)
            gains += found
            parents = np.arange(len(gains))
        return states, gains

    def finish(self, states: Any, rows: Ints) -> Floats:
        # Nothing more is read, only these rows are picked.
        ending, _ = self.model.extend(states, rows, [SKIPPED] * len(rows))
        return self.model.finish(ending)

    def list_keys(self, states: Any, begun: Bools) -> list[Ints] | None:
        known, ids = self.model.recombine(states), dict[Any, int]()
        if known is None:
            return None
        return [np.array([ids.setdefault(key, len(ids)) for key in known], dtype=np.int64), begun.astype(np.int64)]


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
        rows = [(network, at, one) for network in networks for at, row in enumerate(network.positions) for one in row]
        phrases = [one.word.split() for _, _, one in rows]
        gaps = [[network.gap(0) for network, _, _ in rows], [network.gap(at) for network, at, _ in rows]]
        tokens = [[make_tokens(*pair) for pair in zip(before, phrases, strict=True)] for before in gaps]
        self.words: Ints = np.array([len(one) for one in phrases], dtype=np.int64)
        scores: Floats = np.array([one.score for _, _, one in rows], dtype=np.float64)
        self.channel = scores - word_penalty * self.words
        self.span: Ints = np.array([one.span for _, _, one in rows], dtype=np.int64)
        self.readers: dict[int, NGramReader | PhraseReader] = {}
        for number, model in enumerate(models):
            if isinstance(model, NGramModel):
                self.readers[number] = NGramReader(model, phrases)
            elif isinstance(model, SequentialModel):
                self.readers[number] = PhraseReader(model, tokens)
        self.ngrams = {number: one for number, one in self.readers.items() if isinstance(one, NGramReader)}
        self.sequential = len(self.readers) == len(models)
        self.order = find_reach(networks, models) if can_list(networks, models) else None

    def places(self, problems: Ints, position: int, candidates: Ints) -> Ints:
        """(R,) the places of candidates in the concatenation of all positions."""
        return np.asarray(self.batch.starts[self.batch.first_position[problems] + position] + candidates)

    def score(self, problems: Ints, choices: Choices) -> Floats:
        """Score whole texts: n-grams from left to right, other models sentence by sentence."""
        sizes = self.batch.sizes[problems]
        states, rows = self.start(problems, self.ngrams), np.arange(len(problems))
        total, empty = np.zeros(len(problems)), np.flatnonzero(sizes == 0)
        for number, reader in self.ngrams.items():
            total[empty] += self.weights[number] * reader.finish(states.models[number], empty)
        for position in range(int(sizes.max(initial=0))):
            going = np.flatnonzero(sizes[rows] > position)
            rows = rows[going]
            states, gains = self.extend(states, going, position, choices[rows, position].astype(np.int64))
            total[rows] += gains
        asked = np.flatnonzero(total > -np.inf)
        pairs = zip(problems[asked].tolist(), choices[asked].tolist(), strict=True)
        others = [number for number in range(len(self.models)) if number not in self.ngrams]
        sentences = [self.networks[problem].tokens(choice) for problem, choice in pairs] if others else []
        for number in others if sentences else ():
            total[asked] += self.weights[number] * self.models[number].score(sentences)
        return total

    def start(self, problems: Ints, numbers: Iterable[int] | None = None) -> PathStates:
        """The states of empty prefixes, of some models or all; see `PathOracle` for this and the next two."""
        none = np.zeros(len(problems), dtype=np.int64)
        asked = self.readers if numbers is None else numbers
        models = {number: self.readers[number].model.start(len(problems)) for number in asked}
        return PathStates(np.asarray(problems), none, none.astype(bool), models)

    def extend(self, states: PathStates, parents: Ints, position: int, candidates: Ints) -> tuple[PathStates, Floats]:
        problems, until, begun = states.problems[parents], states.until[parents], states.begun[parents]
        free = until <= position
        places = self.places(problems, position, candidates)
        gains = np.where(free, self.channel[places], np.where(candidates > 0, -np.inf, 0.0))
        last = np.flatnonzero(self.batch.sizes[problems] == position + 1)
        new: dict[int, Any] = {}
        for number, before in states.models.items():
            reader = self.readers[number]
            new[number], gained = reader.read(before, parents, places, free, begun)
            if len(last):
                gained[last] += reader.finish(new[number], last)
            gains += self.weights[number] * gained
        after = np.where(free, position + self.span[places], until)
        return PathStates(problems, after, begun | (free & (self.words[places] > 0)), new), gains

    def recombine(self, states: PathStates) -> Ints | None:
        columns = [states.until]
        for number, state in states.models.items():
            found = self.readers[number].list_keys(state, states.begun)
            if found is None:
                return None
            columns += found
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
            rows = table.ndim  # the number of their axis
            for at in range(first, position + 1):
                others = [(weights[i], [rows, i - first]) for i in range(first, position + 1) if i != at]
                operands: list[Any] = [table, range(rows), *chain.from_iterable(others)]
                found = np.einsum(*operands, [rows, at - first] if others else [at - first], optimize=True)
                gradient[:, ends[at] - counts[at] : ends[at]] += found
            scores += (weights[position] * found).sum(axis=1)
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
        total, rows = self.channel[here].copy(), np.arange(len(here))
        everywhere = np.ones(len(here), dtype=bool)
        for number, reader in self.ngrams.items():
            contexts = reader.model.start(len(here))
            for words in (column for places in before for column in reader.ids[places].T):
                contexts = reader.model.push(contexts, words)
            contexts, gains = reader.read(contexts, rows, here, everywhere, everywhere)
            if position + 1 == self.batch.sizes[problem]:
                gains += reader.finish(contexts, rows)
            total += self.weights[number] * gains
        return np.asarray(np.maximum(total, FORBIDDEN).reshape(shape))


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
    reach, most = find_reach(networks, models), 0.0
    for network in networks if models else ():
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
        seen = np.cumsum([0, *(min(len(one.word.split()) for one in row) for row in network.positions)])
        ends = np.arange(len(seen))
        # From here on up to each end there are surely order − 1 words; after the last position the text's end is read.
        firsts = np.minimum(np.searchsorted(seen, seen - (order - 1), side="right") - 1, ends).clip(0)
        furthest = max(furthest, int((ends - firsts + (ends < len(network))).max()))
    return furthest
