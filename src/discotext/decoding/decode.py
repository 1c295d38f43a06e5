"""decode(): the best word at each position of networks, under language models and a channel."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from discotext.core.arrays import Choices
from discotext.core.oracle import MarkovOracle, Oracle, RelaxedOracle, SequentialOracle, can
from discotext.core.problem import Batch
from discotext.decoding.constraints import Constraints, check_budget
from discotext.decoding.network import Network, NetworkError, check_possible, make_batch
from discotext.decoding.ngram_reader import find_reach
from discotext.decoding.oracle import NetworkOracle, get_order, make_oracle, pick_class
from discotext.decoding.result import Decoded, explain_changes, list_changes, list_texts, make_decoded, score_parts
from discotext.language.model import LanguageModel, NGramModel
from discotext.language.registry import load_language_model
from discotext.search.loop import solve
from discotext.search.nbest import NBest
from discotext.search.recording import Recording
from discotext.search.solver import Solver, check_solver
from discotext.solvers import Disco, Greedy, PrefixBeam, Viterbi, make_solver
from discotext.solvers.prefix_beam import prefix_beam_nbest
from discotext.solvers.viterbi import viterbi_nbest
from discotext.support.progress import make_bar
from discotext.text.words import compute_budget

AT_ONCE = 64  # networks that are searched together
WIDE = 1000  # prefixes that a beam keeps where they cost little


@dataclass(frozen=True)
class Decoder:
    """Settings of a decoding. Make one, and call it on as many networks as you like, in as many calls.

    models, weights: language models, by name or loaded, and one weight for each (1 if None).
    channel_weight, word_penalty: see `decoding.oracle`.
    budget: the share of positions that may change, above 0 and up to 1; words: or how many. All may if both are None.
    constraints: what the words must be like.
    nbest: how many texts to return.
    solver: "auto" takes `viterbi` where terms of neighbouring positions are known, `prefix-beam` where models read from
        left to right, `disco` where they score mixtures, and otherwise `greedy`.
    explain: also say of each change what the alternatives would have scored.
    seed: of everything random.
    """

    models: Sequence[LanguageModel | str | Path] = ()
    weights: Sequence[float] | None = None
    channel_weight: float = 1.0
    word_penalty: float = 0.0
    budget: float | None = None
    words: int | None = None
    constraints: Constraints | None = None
    nbest: int = 1
    solver: str | Solver = "auto"
    explain: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.budget is not None and self.words is not None:
            raise ValueError("both a budget and a number of words were given; give one of them")
        if self.words is not None and self.words < 0:
            raise ValueError(f"words is {self.words}; choose 0 or more")
        if self.nbest < 1:
            raise ValueError(f"nbest is {self.nbest}; choose 1 or more")
        if self.budget is not None:
            compute_budget(1, self.budget)
        if not isinstance(self.solver, str):
            check_solver(self.solver)
        elif self.solver != "auto":
            make_solver(self.solver)
        make_oracle([], make_batch([], []), self.loaded, self.weights, self.channel_weight, self.word_penalty)

    @cached_property
    def loaded(self) -> list[LanguageModel]:
        """The language models."""
        return [model if isinstance(model, LanguageModel) else load_language_model(model) for model in self.models]

    def __call__(self, networks: Sequence[Network], watch: Callable[[int, int], None] | None = None) -> list[Decoded]:
        """Decode networks. watch: called with (networks done, networks in all)."""
        ready = [self._prepare(network) for network in networks]
        found: list[Decoded | None] = [None] * len(networks)
        done = 0
        for group in self._group([network for network, _ in ready]):
            for first in range(0, len(group), AT_ONCE):
                numbers = group[first : first + AT_ONCE]
                some = [ready[number] for number in numbers]
                for number, decoded in zip(numbers, self._search(some), strict=True):
                    found[number] = decoded
                done += len(numbers)
                if watch is not None:
                    watch(done, len(networks))
        return [one for one in found if one is not None]

    def pick_solver(self, oracle: Oracle, batch: Batch) -> Solver:
        """The solver that is asked for, or the one that suits the oracle."""
        if isinstance(self.solver, Solver):
            return self.solver
        if self.solver != "auto":
            return make_solver(self.solver)
        if can(oracle, MarkovOracle):
            try:
                Viterbi().refuse(batch, oracle)
                return Viterbi()
            except ValueError:
                return PrefixBeam(width=WIDE)
        if can(oracle, SequentialOracle):
            cheap = all(isinstance(model, NGramModel) for model in self.loaded)
            return PrefixBeam(width=WIDE) if cheap else PrefixBeam()
        return Disco() if can(oracle, RelaxedOracle) else Greedy()

    def _prepare(self, network: Network) -> tuple[Network, int]:
        """The network with its constraints, and how many positions may change."""
        try:
            constrained = self.constraints.apply(network) if self.constraints else network
            check_possible(constrained)
            n = len(network)
            # A number of words is for all networks; the short ones may change in all of their positions.
            most = n if self.words is None else min(n, self.words)
            budget = most if self.budget is None else compute_budget(n, self.budget)
            check_budget(constrained, budget)
        except NetworkError as error:
            raise NetworkError(f"network {network.id}: {error}") from None
        return constrained, budget

    def _group(self, networks: Sequence[Network]) -> list[list[int]]:
        """The numbers of networks that are searched together: those that terms look equally far in, of like length."""
        order = get_order(self.loaded)
        groups: dict[tuple[str, int], list[int]] = defaultdict(list)
        for number, network in enumerate(networks):
            kind = pick_class([network], self.loaded)
            reach = 0 if network.spans else find_reach([network], order)
            # Short texts may reach less far; they do no harm among others.
            groups[kind.__name__, max(reach, order)].append(number)
        return [sorted(group, key=lambda number: len(networks[number])) for group in groups.values()]

    def _search(self, ready: Sequence[tuple[Network, int]]) -> list[Decoded]:
        networks = [network for network, _ in ready]
        batch = make_batch(networks, [budget for _, budget in ready])
        oracle = make_oracle(networks, batch, self.loaded, self.weights, self.channel_weight, self.word_penalty)
        solver = self.pick_solver(oracle, batch)
        # Any other solver's list is what it came across.
        recorded = self.nbest > 1 and not isinstance(solver, Viterbi | PrefixBeam)
        recording = Recording(oracle, batch, 2 * self.nbest) if recorded else None
        solutions = solve(batch, recording or oracle, solver, seed=self.seed)
        lists = self._list(batch, oracle, solver, recording) if self.nbest > 1 else [None] * len(networks)
        choices = [tuple(solution.choice.tolist()) for solution in solutions]
        weights = [1.0] * len(self.loaded) if self.weights is None else list(self.weights)
        parts = score_parts(networks, choices, self.loaded, weights, self.channel_weight, self.word_penalty)
        found = []
        for number, (network, choice, solution) in enumerate(zip(networks, choices, solutions, strict=True)):
            changes = list_changes(network, choice)
            if self.explain:
                ask = partial(ask_scores, oracle, number)
                changes = explain_changes(network, choice, changes, solution.score, ask)
            texts = list_texts(network, solution, lists[number], self.nbest)
            unknown = sum(not self._is_known(word) for word in network.words(choice))
            found.append(make_decoded(network, choice, solution, changes, texts, parts[number], unknown, repr(solver)))
        return found

    def _is_known(self, word: str) -> bool:
        """Whether all language models know a word."""
        if word not in self._known:
            self._known[word] = all(model.knows(word) for model in self.loaded)
        return self._known[word]

    @cached_property
    def _known(self) -> dict[str, bool]:
        return {}

    def _list(
        self, batch: Batch, oracle: NetworkOracle, solver: Solver, recording: Recording | None
    ) -> Sequence[NBest | None]:
        """The n-best lists; different choices may give the same text, so more are asked for."""
        if isinstance(solver, Viterbi):
            return viterbi_nbest(batch, oracle, 2 * self.nbest)  # type: ignore[arg-type]
        if isinstance(solver, PrefixBeam):
            return prefix_beam_nbest(batch, oracle, 2 * self.nbest, solver)  # type: ignore[arg-type]
        assert recording is not None
        return recording.nbest()


def ask_scores(oracle: NetworkOracle, number: int, choices: Choices) -> list[float]:
    """The scores of choices of one network."""
    return [float(score) for score in oracle.score(np.full(len(choices), number, dtype=np.int64), choices)]


def decode(
    networks: Sequence[Network],
    models: Sequence[LanguageModel | str | Path] = (),
    *,
    weights: Sequence[float] | None = None,
    channel_weight: float = 1.0,
    word_penalty: float = 0.0,
    budget: float | None = None,
    words: int | None = None,
    constraints: Constraints | None = None,
    nbest: int = 1,
    solver: str | Solver = "auto",
    explain: bool = False,
    seed: int = 0,
    watch: Callable[[int, int], None] | None = None,
    progress: bool = True,
) -> list[Decoded]:
    """Find the best word at each position of networks, and return one result for each. See `Decoder` for the settings.

    watch: called with networks done, and networks in all. progress: show a bar in a terminal or a notebook, if the work
    takes more than a second.

    >>> network = Network.of("1", [[("I", 0.0)], [("sea", -0.2), ("see", -1.8)]])
    >>> found, = decode([network], nbest=2)
    >>> found.text, found.status.name, [text.text for text in found.nbest]
    ('I sea', 'OPTIMAL', ['I sea', 'I see'])
    """
    listed = [networks] if isinstance(networks, Network) else list(networks)
    longest = max(map(len, listed), default=0)
    if words is not None and listed and words > longest:
        where = f"network {listed[0].id} has" if len(listed) == 1 else "the longest network has"
        raise ValueError(f"words is {words}, but {where} {longest} positions; choose 0 to {longest}")
    decoder = Decoder(
        models, weights, channel_weight, word_penalty, budget, words, constraints, nbest, solver, explain, seed
    )
    with make_bar(progress) as bar:

        def tell(done: int, total: int) -> None:
            bar.update(f"{done:,} of {total:,} networks decoded", done, total)
            if watch is not None:
                watch(done, total)

        return decoder(listed, tell)
