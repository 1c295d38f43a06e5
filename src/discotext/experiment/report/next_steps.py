"""What to do next, from the run's own figures: each step with its reason, and a command that can be copied.

The commands name the victim and the data of the run where these can be given on a command line; a model that was passed
to `attack` in Python has no such name, and VICTIM stands for it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from discotext.experiment import coverage
from discotext.experiment.record import Budget
from discotext.experiment.report.figures import Strongest, format_percent
from discotext.experiment.report.markup import Markup, element, join
from discotext.experiment.run import Run
from discotext.text.acceptability import DEFAULT_ACCEPT

MOST = 4  # steps that are shown
PREFIXES = ("hf:", "sklearn:", "py:", "http://", "https://")
UNNAMED_VICTIMS = ("function", "sklearn", "network")  # what models are called that were given as Python objects
UNNAMED_DATA = ("given", "-")  # Python objects, standard input
NAMED_DATA = ("imdb", "ag_news", "trec", "movie_reviews")  # they have a training split of their own
MANY_FLIPPED, FEW_WORDS, FEW_TEXTS, LOW_ACCEPT, WIDE = 0.05, 0.1, 0.1, 0.7, 0.2
STAND_FOR = {
    "VICTIM": "your model", "DATA": "your texts", "RUN": "the folder of this run", "FILE": "a file of yours",
    "TRAINING_DATA": "texts and labels to train on",
}  # fmt: skip


@dataclass(frozen=True)
class Step:
    """A reason to do something, what to do, and the command for it, if there is one, or several lines of them."""

    reason: str
    action: str
    command: str | None = None


def find_next_steps(attack: Strongest, folder: str | None = None) -> list[Step]:
    """What the figures of a run suggest, the most urgent first. folder: where the run is, as the user writes it."""
    return list(islice(_find_steps(attack, Commands(attack, folder)), MOST))


def show_next_steps(attack: Strongest, folder: str | None = None) -> Markup:
    """The steps as a list, and what the words in capitals stand for."""
    steps = find_next_steps(attack, folder)
    rows = []
    for step in steps:
        command = (
            None if step.command is None else element("pre", element("code", *_unbroken(step.command)), tabindex="0")
        )
        rows.append(element("li", element("p", step.reason, " ", element("b", step.action)), command))
    words = {word for step in steps for word in (step.command or "").split()}
    notes = [f"{name} stands for {meaning}" for name, meaning in STAND_FOR.items() if name in words]
    if words and Commands(attack, folder).own_candidates:
        notes.append("options for candidates that the run was given are left out")
    note = element("p", f"In these commands {'; '.join(notes)}.", class_="fine") if notes else None
    return join(element("ol", *rows, class_="steps"), note)


def _unbroken(command: str) -> list[Any]:
    """The words of a command, so that a narrow page does not break them at their hyphens."""
    words = re.split(r"([ \n])", command)
    return [element("span", word) if word.startswith("-") else word for word in words]


@dataclass(frozen=True)
class Commands:
    """The command lines for a run."""

    attack: Strongest
    folder: str | None = None

    @property
    def run(self) -> Run:
        return self.attack.run

    @property
    def settings(self) -> dict[str, Any]:
        return self.run.settings

    @property
    def data(self) -> str:
        given = self.settings["data"]
        return "DATA" if given in UNNAMED_DATA else shlex.quote(given)

    @property
    def victim(self) -> str:
        given = self.settings["victim"]
        named = given.startswith(PREFIXES) or (given not in UNNAMED_VICTIMS and self.data != "DATA")
        return shlex.quote(given) if named else "VICTIM"

    @property
    def out(self) -> str:
        return "RUN" if self.folder is None else shlex.quote(self.folder)

    @property
    def own_candidates(self) -> bool:
        """Whether the candidates were not those that the command line takes by default, but for `--accept`."""
        found = self.settings.get("candidates")
        if not isinstance(found, dict):
            return False
        usual = {"source": "thesaurus", "tagger": "light", "limit": 8, "unknown_words": False, "scorer": "light"}
        return any(found.get(name, value) != value for name, value in usual.items())

    @property
    def accept(self) -> float | None:
        return self.attack.summary.accept

    def budget(self, budget: str, larger: bool = False) -> str:
        """A budget as an option; larger: twice of it."""
        parsed = Budget.parse(budget)
        if parsed.words is not None:
            return f"--words {max(1, 2 * parsed.words) if larger else parsed.words}"
        return f"--budget {min(1.0, 2 * parsed.value) if larger else parsed.value:g}"

    def make(self, command: str, *options: str, budget: str | None = None, accept: float | None = None) -> str:
        """A command on the same texts. budget, accept: instead of those of the strongest attack."""
        allowed = self.budget(self.attack.budget) if budget is None else budget
        target = self.settings.get("target")
        level = self.accept if accept is None else accept
        parts = [
            "discotext", command, self.victim, self.data, allowed, f"--limit {self.settings['n']}",
            *([f"--seed {self.settings['seed']}"] if self.settings["seed"] else ()),
            *([] if target is None else [f"--target {target}"]),
            *([] if level in (None, DEFAULT_ACCEPT) else [f"--accept {level:g}"]),
            *options,
        ]  # fmt: skip
        return " ".join(parts)

    def check(self) -> str:
        return f"discotext check {self.victim} {self.data}"

    def resume(self) -> str:
        """The command that began the run, as far as the settings tell."""
        solvers = list(self.settings["solvers"])
        proof = self.settings.get("certify")
        command = "certify" if proof else "attack" if len(solvers) == 1 else "compare"
        parsed = [Budget.parse(one) for one in (proof["budgets"] if proof else self.settings["budgets"])]
        budgets = dict.fromkeys(self.budget(str(one)) for one in parsed)
        levels = dict.fromkeys(f"--accept {one.accept}" for one in parsed if one.accept is not None)
        options = [f"--solver {name}" for name in solvers]
        if self.settings["shard"] != "1/1":
            options.append(f"--shard {self.settings['shard']}")
        level = DEFAULT_ACCEPT if levels else None
        return self.make(command, *levels, *options, f"--out {self.out}", budget=" ".join(budgets), accept=level)

    def harden(self) -> str:
        data, test = self.data, ""
        if self.settings["data"] not in NAMED_DATA:
            data, test = "TRAINING_DATA", f" --test {self.data}"
        share = Budget.parse(self.attack.budget).share
        budget = "" if share is None else f" --budget {float(share):g}"
        return f"discotext harden {data}{test} --model {self.victim}{budget} --out hardened"


def _find_steps(attack: Strongest, commands: Commands) -> Iterator[Step]:
    run, row = attack.run, attack.figures
    there, records = len(run.records), attack.records
    if there < run.expected:
        yield Step(
            f"The run is not finished: {there:,} of {run.expected:,} records are there.",
            "Repeat the command that began it; it resumes.",
            commands.resume(),
        )
    unstable = sum(record.status == "unstable" for record in records)
    for number, what in (
        (row.failed, "The victim failed on"),
        (unstable, "The victim did not give the same score twice on"),
    ):
        if number:
            yield Step(f"{what} {_texts(number)}.", "Find out why before you rely on the figures.", commands.check())
    before = row.original_accuracy
    if before is not None and before.high < 1 / len(run.labels):
        yield Step(
            f"The victim gets {format_percent(before)} of the texts right, fewer than by guessing.",
            "Check the order of its classes.",
            commands.check(),
        )
    if row.success_rate is None:
        yield Step("No text was attacked.", "Check the victim and the labels of the data.", commands.check())
    yield from _suggest_candidates(attack, commands)
    yield from _suggest_proof(attack, commands)
    if row.success_rate is not None and row.success_rate >= MANY_FLIPPED:
        yield Step(
            f"{format_percent(row.success_rate, 0)} of the attacked texts were flipped.",
            "Train a model that holds, and compare both.",
            f"{commands.harden()}\ndiscotext report hardened/before hardened/after",
        )
    elif row.success_rate is not None:
        yield Step(
            f"Few texts were flipped ({format_percent(row.success_rate)} of those attacked).",
            "See how it holds under twice the budget.",
            commands.make("attack", budget=commands.budget(attack.budget, larger=True)),
        )
    yield from _suggest_better_figures(attack, commands)


def _suggest_candidates(attack: Strongest, commands: Commands) -> Iterator[Step]:
    """Where too little can change."""
    summary = attack.summary
    words, fixed, n = summary.changeable_words, summary.unchangeable_texts, summary.n
    if words is None or not summary.budget or (words >= FEW_WORDS and fixed < FEW_TEXTS * n):
        return
    reason = (
        f"Only {format_percent(words)} of the words have candidates; in {fixed:,} of {n:,} texts nothing can change."
    )
    warned = coverage.warn(summary, [record.text for record in attack.records])
    if warned is not None or not summary.accept or summary.accept <= 0.2:
        yield Step(
            reason,
            "Give synonyms of your own, a JSON or TSV file.",
            commands.make("attack", "--synonyms FILE"),
        )
        return
    lower = max(0.1, round(summary.accept - 0.15, 2))
    yield Step(reason, "Allow more candidates, which people accept less often.", commands.make("attack", accept=lower))


def _suggest_proof(attack: Strongest, commands: Commands) -> Iterator[Step]:
    """Where the worst case is not known."""
    row, proof = attack.figures, attack.run.settings.get("certify")
    if proof is not None:
        last = attack.run.certificates[-1]
        open_texts = last.verdicts["open"]
        if open_texts and not last.unstable:
            more = 10 * int(proof["passes"])
            yield Step(
                f"{_texts(open_texts, 'is', 'are')} open: neither flipped nor proved to keep the label.",
                "Spend more on proofs.",
                commands.make("certify", f"--passes {more}"),
            )
    elif row.optimal is not None and row.optimal < 1:
        yield Step(
            f"For {format_percent(1 - row.optimal)} of the attacks nothing is proved: another search might flip them.",
            "Prove what holds.",
            commands.make("certify"),
        )


def _suggest_better_figures(attack: Strongest, commands: Commands) -> Iterator[Step]:
    """Where the figures say less than they could: unlikely swaps, few texts, many queries."""
    row, settings = attack.figures, attack.run.settings
    if row.acceptable is not None and row.acceptable < LOW_ACCEPT and attack.summary.accept is not None:
        higher = min(0.9, round(attack.summary.accept + 0.15, 2))
        yield Step(
            f"People are expected to accept only {format_percent(row.acceptable, 0)} of the swaps.",
            "Ask for more acceptable ones, and read the texts below.",
            commands.make("attack", accept=higher),
        )
    after = row.adversarial_accuracy
    if after is not None and after.high - after.low > WIDE:
        yield Step(
            f"The interval of the accuracy after is {100 * (after.high - after.low):.0f} points wide: there are only "
            f"{_texts(attack.summary.n)}.",
            "Attack more texts, if you have them.",
            commands.make("attack").replace(f" --limit {settings['n']}", f" --limit {10 * settings['n']}"),
        )
    slow = settings["victim"].startswith(("py:", "http")) or settings["victim"] in UNNAMED_VICTIMS
    if slow and not any(name.startswith("disco") for name in settings["solvers"]):
        yield Step(
            "The victim has no gradients, and the solver asks it about every swap.",
            "A surrogate, fitted to its scores, saves most of the queries.",
            commands.make("attack", "--solver disco", "--surrogate auto"),
        )


def _texts(number: int, one: str = "", more: str = "") -> str:
    verb = one if number == 1 else more
    return f"{number:,} {'text' if number == 1 else 'texts'}" + (f" {verb}" if verb else "")
