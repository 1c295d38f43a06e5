"""decode(): the best word at each position of networks, under language models and a channel."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

from discotext.core.oracle import RelaxedOracle, UnavailableError, can
from discotext.core.problem import Batch, Solution, Status
from discotext.decoding.network import Network, NetworkError, check_possible, make_batch
from discotext.decoding.oracle import NetworkOracle, can_list, find_reach, make_oracle
from discotext.decoding.paths import NBest, PathSolver, PrefixBeam, Recording, Viterbi
from discotext.models.model import LanguageModel
from discotext.models.registry import load_language_model
from discotext.search.loop import check_needs, solve
from discotext.search.solver import Solver, check_solver
from discotext.solvers import Greedy, make_solver
from discotext.support.plain_text import shorten
from discotext.support.progress import Progress
from discotext.text.words import compute_budget

AT_ONCE = 64  # networks that are searched together
WIDE = 1000  # prefixes that a beam keeps where they cost little
PATH_SOLVERS: dict[str, Callable[[], Solver]] = {"viterbi": Viterbi, "prefix-beam": PrefixBeam}


@dataclass(frozen=True)
class WordChange:
    """A position where something else than the original was chosen; start and end are its place in the original."""

    position: int
    start: int
    end: int
    old: str
    new: str


@dataclass(frozen=True)
class ScoredText:
    """An entry of an n-best list."""

    text: str
    score: float


@dataclass(frozen=True)
class Decoded:
    """The decoded text of a network.

    text, words: The text and how many words it has. original: The text without any change.
    score, original_score: The scores of both; NaN where the original is forbidden.
    status: Whether it is proved to be the best, see `Status`.
    unknown: How many of its words a language model does not know.
    nbest: The best texts, this one first. parts: The weighted parts that the score is the sum of.
    solver: What searched. error: Why it failed, where it did.
    """

    id: str
    text: str
    original: str
    words: int
    unknown: int
    score: float
    original_score: float
    status: Status
    changes: tuple[WordChange, ...]
    nbest: tuple[ScoredText, ...]
    parts: dict[str, float]
    solver: str
    error: str | None = None

    def __repr__(self) -> str:
        proof = "proved to be the best" if self.proved else self.status.name.lower()
        shown = f"{shorten(self.text, 100)!r}, changes={len(self.changes):,}, score={self.score:.3f}, {proof}"
        return f"Decoded(id={shorten(self.id, 20)!r}, {shown})"

    @property
    def proved(self) -> bool:
        """Whether no allowed text scores higher, by proof."""
        return self.status.proved

    def as_json(self) -> dict[str, Any]:
        """The result as JSON can hold it; what is not a finite number is null."""
        return {
            "id": self.id,
            "text": self.text,
            "words": self.words,
            "unknown": self.unknown,
            "score": to_json(self.score),
            "original_score": to_json(self.original_score),
            "status": self.status.name.lower(),
            "proved": self.proved,
            "changes": [asdict(change) for change in self.changes],
            "nbest": [{"text": one.text, "score": to_json(one.score)} for one in self.nbest],
            "parts": {name: to_json(part) for name, part in self.parts.items()},
            **({"error": self.error} if self.error else {}),
        }


def to_json(value: float) -> float | None:
    """A number, or None for what JSON cannot hold."""
    return value if math.isfinite(value) else None


@dataclass(frozen=True)
class Decoder:
    """Settings of a decoding. Make one, and call it on as many networks as you like, in as many calls.

    models, weights: The language models, by name or loaded, and one weight for each (1 if None).
    word_penalty: What every word costs.
    budget: The share of positions that may change, above 0 and up to 1; words: or how many. All may if both are None.
    nbest: How many texts to return.
    solver: "auto" takes `viterbi` where all models are n-grams, `prefix-beam` where all read from left to right, and
        otherwise `greedy`.
    seed: The seed of everything random.
    """

    models: Sequence[LanguageModel | str | Path] = ()
    weights: Sequence[float] | None = None
    word_penalty: float = 0.0
    budget: float | None = None
    words: int | None = None
    nbest: int = 1
    solver: str | Solver = "auto"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.budget is not None and self.words is not None:
            raise ValueError("both a budget and a number of words were given; give one of them")
        for name, value, least in (("words", self.words, 0), ("nbest", self.nbest, 1)):
            if value is not None and value < least:
                raise ValueError(f"{name} is {value}; choose {least} or more")
        if self.budget is not None:
            compute_budget(1, self.budget)
        if self.solver != "auto":
            check_solver(self._make_solver())
        make_oracle([], make_batch([], []), self.loaded, self.weights, self.word_penalty)

    @cached_property
    def loaded(self) -> list[LanguageModel]:
        """The language models."""
        return [model if isinstance(model, LanguageModel) else load_language_model(model) for model in self.models]

    def __call__(self, networks: Sequence[Network], watch: Callable[[int, int], None] | None = None) -> list[Decoded]:
        """Decode networks. watch: Called with the networks that are done, and those in all."""
        ready = [(network, self._find_budget(network)) for network in networks]
        found: dict[int, Decoded] = {}
        for group in self._group(networks):
            for first in range(0, len(group), AT_ONCE):
                numbers = group[first : first + AT_ONCE]
                found.update(zip(numbers, self._search([ready[number] for number in numbers]), strict=True))
                if watch is not None:
                    watch(len(found), len(networks))
        return [found[number] for number in range(len(networks))]

    def _find_budget(self, network: Network) -> int:
        """How many positions may change."""
        n = len(network)
        # A number of words is for all networks; the short ones may change in all of their positions.
        most = n if self.words is None else min(n, self.words)
        budget = most if self.budget is None else compute_budget(n, self.budget)
        try:
            check_possible(network, budget)
        except NetworkError as error:
            raise NetworkError(f"network {network.id}: {error}") from None
        return budget

    def _group(self, networks: Sequence[Network]) -> list[list[int]]:
        """The numbers of networks that are searched together: of like length, and n-grams look equally far in them."""
        order = find_reach([], self.loaded)
        groups: dict[tuple[bool, int], list[int]] = defaultdict(list)
        for number in sorted(range(len(networks)), key=lambda number: len(networks[number])):
            network = networks[number]
            # Short texts may reach less far; they do no harm among others.
            reach = max(order, 0 if network.spans else find_reach([network], self.loaded))
            groups[can_list([network], self.loaded), reach].append(number)
        return list(groups.values())

    def _search(self, ready: Sequence[tuple[Network, int]]) -> list[Decoded]:
        networks = [network for network, _ in ready]
        batch = make_batch(networks, [budget for _, budget in ready])
        oracle = make_oracle(networks, batch, self.loaded, self.weights, self.word_penalty)
        solver = self.pick_solver(oracle, batch)
        if solver.needs is RelaxedOracle and not can(oracle, RelaxedOracle):
            raise ValueError(
                f"{type(solver).__name__} needs gradients, which only n-gram models give, on networks without spans "
                "and long runs of words that may be skipped; choose auto, prefix-beam or greedy, or an n-gram model"
            )
        check_needs(batch, oracle, solver)
        # Different choices may give the same text, so that more of them are listed.
        recording = Recording(oracle, batch, 2 * self.nbest)
        lists: list[NBest] = [[] for _ in ready]
        try:
            solutions = solve(batch, oracle if self.nbest == 1 else recording, solver, seed=self.seed)
            # The list of a solver that goes along the text is exact; any other's is what it came across.
            if self.nbest > 1 and isinstance(solver, PathSolver):
                lists = solver.find_nbest(batch, oracle, 2 * self.nbest)
            elif self.nbest > 1:
                lists = recording.nbest()
        except UnavailableError:
            raise
        except Exception as error:
            # `solve` isolates what fails in calls of its own; a search along the texts is repeated one by one.
            if len(ready) > 1:
                return [self._search([one])[0] for one in ready]
            return [self._report_failure(networks[0], repr(solver), f"{type(error).__name__}: {error}")]
        rows = zip(networks, solutions, lists, self._find_parts(networks, solutions), strict=True)
        return [self._report(*row, repr(solver)) for row in rows]

    def pick_solver(self, oracle: NetworkOracle, batch: Batch) -> Solver:
        """The solver that is asked for, or the one that suits the oracle."""
        if self.solver != "auto":
            return self._make_solver()
        if not oracle.sequential:
            return Greedy()
        try:
            Viterbi().refuse(batch, oracle)
            return Viterbi()
        except ValueError:
            return PrefixBeam(width=WIDE) if len(oracle.ngrams) == len(self.loaded) else PrefixBeam()

    def _make_solver(self) -> Solver:
        if not isinstance(self.solver, str):
            return self.solver
        try:
            return (PATH_SOLVERS.get(self.solver.replace("_", "-")) or partial(make_solver, self.solver))()
        except ValueError as error:
            raise ValueError(f"{error}, {' or '.join(PATH_SOLVERS)}") from None

    def _report(
        self, network: Network, solution: Solution, nbest: NBest, parts: dict[str, float], solver: str
    ) -> Decoded:
        if solution.error is not None:
            return self._report_failure(network, solver, solution.error)
        choice = solution.choice.tolist()
        tokens, texts = network.tokens(choice), {network.text(choice): solution.score}
        for other, score in nbest:
            if network.is_consistent(other):
                texts.setdefault(network.text(other), score)
        return Decoded(
            id=network.id,
            text=network.text(choice),
            original=network.text(network.original),
            words=len(tokens),
            unknown=sum(not self._is_known(token.word) for token in tokens),
            score=solution.score,
            original_score=solution.original_score,
            status=solution.status,
            changes=list_changes(network, choice),
            nbest=tuple(ScoredText(text, score) for text, score in list(texts.items())[: self.nbest]),
            parts=parts,
            solver=solver,
        )

    def _report_failure(self, network: Network, solver: str, error: str) -> Decoded:
        text, words = network.text(network.original), len(network.tokens(network.original))
        nothing = math.nan, math.nan, Status.FAILED, (), (ScoredText(text, math.nan),), dict[str, float]()
        return Decoded(network.id, text, text, words, 0, *nothing, solver, error)

    def _find_parts(self, networks: Sequence[Network], solutions: Sequence[Solution]) -> list[dict[str, float]]:
        """The parts of scores, by name: the channel, each language model, and the word penalty if there is one."""
        pairs = list(zip(networks, solutions, strict=True))
        tokens = [network.tokens(one.choice.tolist()) if one.error is None else [] for network, one in pairs]
        paths = [network.path(one.choice.tolist()) for network, one in pairs]
        parts = {"channel": [sum(one.score for _, one in path if one.score > -math.inf) for path in paths]}
        for number, model in enumerate(self.loaded):
            weight = 1.0 if self.weights is None else self.weights[number]
            name = model.name if model.name not in parts else f"{model.name} ({number + 1})"
            parts[name] = [weight * score for score in model.score(tokens).tolist()]
        if self.word_penalty:
            parts["word penalty"] = [-self.word_penalty * len(sentence) for sentence in tokens]
        return [dict(zip(parts, column, strict=True)) for column in zip(*parts.values(), strict=True)]

    @cached_property
    def _is_known(self) -> Callable[[str], bool]:
        """Whether all language models know a word."""
        return cache(lambda word: all(model.knows(word) for model in self.loaded))


def list_changes(network: Network, choice: Sequence[int]) -> tuple[WordChange, ...]:
    """The changes of a choice, with their places in the original text.

    >>> list_changes(Network.of("1", [["a"], ["god", "good"]]), (0, 1))
    (WordChange(position=1, start=2, end=5, old='god', new='good'),)
    """
    places, end, begun = {}, 0, False
    for position, one in network.path(network.original):
        start = end + len(network.gap(position if begun else 0)) if one.word else end
        end = start + len(one.word)
        begun = begun or bool(one.word)
        places[position] = (start, end)
    # A position that the original path covers is not in its text; it would stand at its end.
    return tuple(
        WordChange(position, *places.get(position, (end, end)), network.positions[position][0].word, one.word)
        for position, one in network.path(choice)
        if choice[position]
    )


def check_words(networks: Sequence[Network], words: int | None) -> None:
    """Raise ValueError if even the longest of some networks has fewer positions than words may change."""
    longest = max(map(len, networks), default=0)
    if words is not None and networks and words > longest:
        where = f"network {networks[0].id} has" if len(networks) == 1 else "the longest network has"
        raise ValueError(f"words is {words}, but {where} {longest} positions; choose 0 to {longest}")


def decode(
    networks: Sequence[Network],
    models: Sequence[LanguageModel | str | Path] = (),
    *,
    watch: Callable[[int, int], None] | None = None,
    progress: bool = True,
    **settings: Any,
) -> list[Decoded]:
    """Find the best word at each position of networks, and return one result for each.

    settings: Those of `Decoder`: weights, word_penalty, budget, words, nbest, solver, seed.
    watch: Called with the networks that are done, and those in all. progress: Show a bar in a terminal or a notebook,
    if the work takes more than a second.

    >>> network = Network.of("1", [[("I", 0.0)], [("sea", -0.2), ("see", -1.8)]])
    >>> found, = decode([network], nbest=2)
    >>> found.text, found.status.name, [text.text for text in found.nbest]
    ('I sea', 'OPTIMAL', ['I sea', 'I see'])
    """
    listed = [networks] if isinstance(networks, Network) else list(networks)
    check_words(listed, settings.get("words"))
    decoder = Decoder(models, **settings)
    with Progress(wanted=progress) as bar:

        def tell(done: int, total: int) -> None:
            bar.update(f"{done:,} of {total:,} networks decoded", done, total)
            if watch is not None:
                watch(done, total)

        return decoder(listed, tell)
