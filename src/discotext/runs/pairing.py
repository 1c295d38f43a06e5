"""Two runs, text by text: before and after hardening, or one model against another.

Texts are paired by what they say, not by their numbers: two runs may have drawn other samples, in another order. What
is compared is whether a text is still right under attack. Pairs in which the runs agree do not tell which model is more
robust; McNemar's exact test is about the others. The difference of the accuracies has Newcombe's interval for pairs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from discotext.runs.folder import Run
from discotext.runs.record import Budget, Record
from discotext.runs.summary import Estimate, find_accept, make_lines, mcnemar_of_pairs, spread
from discotext.support.intervals import newcombe_paired, wilson

ALL_SOLVERS = "any solver"  # the attack of all solvers of a run together
# Settings that make a difference between the runs that is not one between the victims.
SETTINGS = ("data", "candidates", "max_queries", "to_the_end", "seed", "version")


@dataclass(frozen=True)
class Contingency:
    """In how many pairs the first is good and the second is, and whether that may be chance."""

    both: int
    first: int
    second: int
    neither: int

    @classmethod
    def of(cls, pairs: Iterable[tuple[bool, bool]]) -> Contingency:
        count = Counter(pairs)
        return cls(count[True, True], count[True, False], count[False, True], count[False, False])

    @property
    def n(self) -> int:
        return self.both + self.first + self.second + self.neither

    @property
    def accuracies(self) -> tuple[Estimate, Estimate]:
        """The share of the pairs in which each is good."""
        good = self.both + self.first, self.both + self.second
        one, other = (Estimate(number / self.n, *wilson(number, self.n)) for number in good)
        return one, other

    @property
    def difference(self) -> Estimate:
        """Second minus first, with Newcombe's interval for pairs."""
        ends = newcombe_paired(self.both, self.first, self.second, self.neither)
        return Estimate((self.second - self.first) / self.n, *ends)

    @property
    def p(self) -> float:
        """McNemar's exact two-sided p."""
        return mcnemar_of_pairs([(True, False)] * self.first + [(False, True)] * self.second)

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        one, other = self.accuracies
        return {
            **spread("first", one), **spread("second", other), **spread("difference", self.difference),
            "right_in_both": self.both, "only_first": self.first, "only_second": self.second,
            "right_in_neither": self.neither, "p": self.p,
        }  # fmt: skip


@dataclass(frozen=True)
class PairedAttack:
    """One solver under one budget on the texts of both runs: a pair of records for each text."""

    budget: Budget
    solver: str
    pairs: Sequence[tuple[Record, Record]]

    @cached_property
    def right(self) -> list[tuple[bool, bool]]:
        """For each pair, whether the text is right under attack."""
        lines = [make_lines(records)["right_after"].tolist() for records in zip(*self.pairs, strict=True)]
        return list(zip(*lines, strict=True))

    @cached_property
    def after(self) -> Contingency:
        return Contingency.of(self.right)

    def differing(self, second: bool) -> list[tuple[Record, Record]]:
        """The pairs that are right under attack only in the second run, or only in the first."""
        wanted = (False, True) if second else (True, False)
        return [pair for pair, right in zip(self.pairs, self.right, strict=True) if right == wanted]

    @property
    def other_spaces(self) -> tuple[int, int]:
        """In how many texts attacked in both runs the search spaces differ, and how many these are."""
        tried = [(one.space, other.space) for one, other in self.pairs if one.attacked and other.attacked]
        return sum(one != other for one, other in tried), len(tried)


@dataclass(frozen=True)
class Pairing:
    """Two runs on the same texts.

    names: what to call the runs, such as their folders. before: the texts before any change.
    attacks: one for each budget and solver that both have.
    texts: how many texts are in both, and only in the first and the second.
    mislabelled: how many texts in both do not have the same label there; they are left out.
    """

    runs: tuple[Run, Run]
    names: tuple[str, str]
    before: Contingency
    attacks: Sequence[PairedAttack]
    texts: tuple[int, int, int]
    mislabelled: int

    @property
    def strongest(self) -> PairedAttack:
        """Of the largest budget, the solver that leaves least to both."""

        def strength(attack: PairedAttack) -> tuple[float, float, float]:
            return -attack.budget.value, float(attack.budget.accept or 0), sum(attack.after.accuracies)

        return min(self.attacks, key=strength)

    @cached_property
    def warnings(self) -> list[str]:
        """What beside the victims may have made the difference, a sentence each."""
        first, second = self.names
        found = []
        for run, name in zip(self.runs, self.names, strict=True):
            if len(run.records) < run.expected:
                found.append(f"{name} is not finished: {len(run.records):,} of {run.expected:,} records are there")
            if failed := len({record.id for record in run.records if record.status == "failed"}):
                found.append(f"the victim of {name} failed on {failed:,} texts, which count as before the attack")
        if self.mislabelled:
            found.append(f"{self.mislabelled:,} texts have another label in {second} than in {first} and are left out")
        if self.attacks[0].solver == ALL_SOLVERS:
            known = "; ".join(", ".join(run.settings["solvers"]) for run in self.runs)
            found.append(
                f"the runs have no solver in common ({known}): a text counts as right under attack if no solver of its "
                "run flipped it"
            )
        other, tried = max(attack.other_spaces for attack in self.attacks)
        if other:
            found.append(
                f"the search spaces differ in {other:,} of {tried:,} texts attacked in both runs (a victim's "
                "vocabulary limits its candidates): part of the difference may come from what could be changed"
            )
        if differ := list_differences(*(run.settings for run in self.runs)):
            found.append(f"the runs differ in {'; '.join(differ)}")
        return found

    def as_dicts(self) -> list[dict[str, Any]]:
        """As `--json` prints it: one object for each budget."""
        runs = {
            key: {"run": name, "victim": run.settings["victim"], "data": run.settings["data"]}
            for key, name, run in zip(("first", "second"), self.names, self.runs, strict=True)
        }
        both, first, second = self.texts
        return [
            {
                **runs,
                "n": both,
                "only_in_first": first,
                "only_in_second": second,
                "budget": budget.value,
                "accept": find_accept(self.runs[0].settings, str(budget)),
                "before": self.before.as_dict(),
                "solvers": {one.solver: one.after.as_dict() for one in self.attacks if one.budget == budget},
                "warnings": self.warnings,
            }
            for budget in dict.fromkeys(attack.budget for attack in self.attacks)
        ]


def pair_runs(first: Run, second: Run, names: tuple[str, str] = ("A", "B")) -> Pairing:
    """Pair two runs; ValueError if they have no text, no budget or no target in common."""
    runs, both = (first, second), f"{names[0]} and {names[1]}"
    targets = [None if run.settings.get("target") is None else run.label(run.settings["target"]) for run in runs]
    if targets[0] != targets[1]:
        said = [f"{name} attacks into {one or 'any wrong class'}" for name, one in zip(names, targets, strict=True)]
        raise ValueError(f"{' and '.join(said)}; compare runs with the same target")
    shared = [budget for budget in first.settings["budgets"] if budget in second.settings["budgets"]]
    if not shared:
        said = [f"{name} has {', '.join(run.settings['budgets'])}" for name, run in zip(names, runs, strict=True)]
        raise ValueError(f"the runs have no budget in common: {'; '.join(said)}; attack both under the same budget")
    matched, mislabelled, texts = match_texts(first, second)
    if not matched and mislabelled:
        raise ValueError(
            f"the {mislabelled:,} texts that {both} share have other labels in each; are the classes in the same order?"
        )
    if not matched:
        raise ValueError(f"{both} have no text in common; attack the same data with the same --limit and --seed")
    solvers = [name for name in first.settings["solvers"] if name in second.settings["solvers"]]
    attacks: list[PairedAttack] = []
    for budget in shared:
        for solver in solvers or [ALL_SOLVERS]:
            rows = [_by_text(run, budget, solver) for run in runs]
            pairs = [(rows[0][one], rows[1][other]) for one, other in matched if one in rows[0] and other in rows[1]]
            if pairs:
                attacks.append(PairedAttack(Budget.parse(budget), solver, pairs))
    if not attacks:
        raise ValueError(f"{both} have no finished text in common yet; finish both runs first")
    right = [{row.id: row.predicted == row.label for row in run.records} for run in runs]
    before = Contingency.of((right[0][one], right[1][other]) for one, other in matched)
    return Pairing(runs, names, before, attacks, texts, mislabelled)


def match_texts(first: Run, second: Run) -> tuple[list[tuple[int, int]], int, tuple[int, int, int]]:
    """Pairs of numbers of the same text in both runs, how many have another label, and how many texts are where.

    Texts that occur several times are paired in their order. Labels are compared by the names that the data gives them.
    """
    places: list[Mapping[str, list[tuple[int, str]]]] = []
    for run in (first, second):
        names = list(map(str, run.settings.get("classes") or run.settings["labels"]))
        found: dict[str, dict[int, str]] = defaultdict(dict)
        for row in run.records:
            found[row.text].setdefault(row.id, names[row.label])
        places.append({text: list(rows.items()) for text, rows in found.items()})
    matched, mislabelled = [], 0
    for text, rows in places[0].items():
        left = list(places[1].get(text, ()))
        for number, label in rows:
            same = next((one for one in left if one[1] == label), None)
            if same is not None:
                left.remove(same)
                matched.append((number, same[0]))
            elif left:
                left.pop(0)
                mislabelled += 1
    sizes = [sum(map(len, found.values())) for found in places]
    used = len(matched) + mislabelled
    return matched, mislabelled, (len(matched), sizes[0] - used, sizes[1] - used)


def _by_text(run: Run, budget: str, solver: str) -> dict[int, Record]:
    """The record of each text; of all solvers together, one that flipped it where there is one."""
    found: dict[int, Record] = {}
    for row in run.records:
        mine = str(row.run_budget) == budget and solver in (row.solver, ALL_SOLVERS)
        if mine and (row.id not in found or (row.succeeded and not found[row.id].succeeded)):
            found[row.id] = row
    return found


def list_differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """Settings in which two runs differ beside their victims, with both values where these are short.

    >>> list_differences({"seed": 0, "candidates": {"accept": 0.5}}, {"seed": 1, "candidates": {"accept": 0.6}})
    ['candidates.accept (0.5 and 0.6)', 'seed (0 and 1)']
    """
    pairs: dict[str, tuple[Any, Any]] = {}
    for name in SETTINGS:
        one, other = first.get(name), second.get(name)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            pairs |= {f"{name}.{key}": (one.get(key), other.get(key)) for key in dict.fromkeys([*one, *other])}
        else:
            pairs[name] = one, other
    shown = {name: f"{one} and {other}" for name, (one, other) in pairs.items() if one != other}
    return [f"{name} ({values})" if len(values) <= 60 else name for name, values in shown.items()]
