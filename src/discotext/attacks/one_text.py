"""One text at a time: what the victim says of it, which words may change, and an attack that is followed step by step.

    text → look: prediction and candidates → attack: steps, and in the end the record that `attack` would write

The attack is that of many texts with one text in it: the same job, task and search, and the same record. A proof is
that of `certify`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discotext.attacks.job import Job
from discotext.attacks.observation import Observer, Step, WatchedVictim
from discotext.attacks.settings import Settings, check_whole
from discotext.attacks.task import TaskRunner
from discotext.core.arrays import Floats
from discotext.core.oracle import UnavailableError
from discotext.data.examples import Examples
from discotext.runs.record import Record
from discotext.search.solver import Solver
from discotext.text.candidates import Candidates, Replacements
from discotext.text.space import count_allowed_changes
from discotext.text.words import Words, split
from discotext.victims.registry import load_victim
from discotext.victims.victim import Victim, compute_scores


@dataclass(frozen=True, kw_only=True)
class Look:
    """What is known of a text before it is attacked.

    labels: the names of the classes. scores: one for each. predicted: the class number.
    words: each word with its start and end, its candidates with their probabilities, and those that were refused.
    allowed: how many words may change. truncated: whether the victim reads only the beginning of the text.
    victim_seconds: spent inside the victim.
    """

    text: str
    labels: tuple[str, ...]
    scores: tuple[float, ...]
    predicted: int
    words: tuple[Replacements, ...]
    allowed: int
    truncated: bool = False
    victim_seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The record of an attack, with the class scores of the text before and after, and the names of the classes.

    learning_queries: what it took to learn a surrogate for a victim without gradients; not among those of the record.
    """

    record: Record
    labels: tuple[str, ...]
    scores: tuple[float, ...]
    adversarial_scores: tuple[float, ...] | None
    learning_queries: int = 0


class TextAttacker:
    """Attacks one text at a time.

    victim: as `attack` takes it. candidates: where replacements come from [default: as in `attack`].
    patience: seconds that a call of the model should not exceed by much, so that steps are shown and an attack can be
        cancelled while a slow model is asked about many texts; the last bits of scores then depend on the clock.
        None makes the calls that `attack` makes.

    >>> attacker = TextAttacker(lambda texts: [[text.count("purchased"), 0.5] for text in texts])
    >>> found = attacker.look("We purchased it", words=1)
    >>> found.predicted, [one.candidates for one in found.words if one.candidates], found.allowed
    (0, [('bought',)], 1)
    >>> outcome = attacker.attack("We purchased it", words=1)
    >>> outcome.record.adversarial_text, outcome.record.status, outcome.adversarial_scores
    ('We bought it', 'fewest', (0.0, 0.5))
    """

    def __init__(
        self,
        victim: Any,
        candidates: Candidates | None = None,
        *,
        trust: bool = False,
        patience: float | None = None,
    ) -> None:
        self.victim, self.patience = load_victim(victim, trust), patience
        self.candidates = candidates or Candidates()
        # Kept, because it remembers the candidates of the words that it has seen.
        self._finder = self.candidates.restrict_to(self.victim.capabilities.vocabulary)

    def find(self, text: str | Words) -> tuple[Replacements, ...]:
        """What may replace each word of a text; the victim is not asked."""
        return tuple(self._finder(text))

    def look(self, text: str, *, budget: float | str = 0.2, words: int | None = None) -> Look:
        """The prediction for a text, and what may replace each of its words."""
        check_text(text)
        (given,) = Settings(budget=budget, words=words).budgets
        began = time.perf_counter()
        scores = score_text(self.victim, text)
        seconds = time.perf_counter() - began
        found = split(text)
        return Look(
            text=text,
            labels=tuple(self.victim.labels),
            scores=tuple(scores.tolist()),
            predicted=int(scores.argmax()),
            words=self.find(found),
            allowed=count_allowed_changes(found, given.share, given.words),
            truncated=self.victim.truncates([text])[0],
            victim_seconds=seconds,
        )

    def attack(
        self,
        text: str,
        solver: str | Solver = "auto",
        settings: Settings | None = None,
        *,
        label: int | None = None,
        watch: Callable[[Step], None] = lambda step: None,
        cancelled: Callable[[], bool] = lambda: False,
        **changes: Any,
    ) -> Outcome:
        """Attack a text; the record is the one that `attack` makes of it alone, or `certify` where passes are given.

        settings: what the attack may do, see `Settings`; its fields can also be given by keyword. With `passes`, the
            record has a verdict.
        label: the true class, by number [default: the one that the victim predicts].
        watch: called with a step after each call of the model, and once more with the outcome.
        cancelled: asked before each call of the model; once it says True, CancelledError is raised.

        A victim without gradients is asked about the text with words exchanged at random (`learning_queries`), and a
        surrogate is learnt from that.
        """
        check_text(text)
        asked = Settings.of(settings, {"candidates": self.candidates, **changes})
        observer = Observer(watch, cancelled)
        victim = WatchedVictim(self.victim, observer, self.patience)
        scores = score_text(victim, text)
        true = int(scores.argmax()) if label is None else check_whole("label", label, 0)
        if true >= len(victim.labels):
            raise ValueError(f"the label is class {true}; choose 0 to {len(victim.labels) - 1}")
        # No warning of a poor surrogate: from one text it can hardly be good, and the search learns on.
        job = Job.of(victim, Examples.of([text], [true], victim.labels), [solver], asked).identify().learn()
        first = job.model.first_answers
        observer.begin(2 * (job.model.tolerance or 0.0), 0 if first is None else int(first[1].forwards.sum()))
        (record,) = TaskRunner(job).run(job.task(job.schedule.units[0]))
        observer.conclude(record)
        after = victim.answers.get(record.adversarial_text)
        return Outcome(
            record=record,
            labels=tuple(victim.labels),
            scores=tuple(scores.tolist()),
            adversarial_scores=None if after is None or not np.isfinite(after).all() else tuple(after.tolist()),
            learning_queries=0 if job.model.learnt is None else job.model.learnt.queries,
        )


def score_text(victim: Victim, text: str) -> Floats:
    """(C,) the scores of a text; RuntimeError says why the victim failed on it."""
    try:
        return np.asarray(compute_scores(victim, [text])[0])
    except UnavailableError:
        raise
    except Exception as error:
        raise RuntimeError(f"the victim failed on this text: {type(error).__name__}: {error}") from error


def check_text(text: str) -> None:
    """Raise ValueError if a text is blank, or cannot be written down."""
    if not text.strip():
        raise ValueError("the text is blank; give some words")
    # JSON can express half a surrogate pair, but no record could contain it.
    if not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text):
        raise ValueError("the text contains a lone surrogate, which is not valid Unicode")


def explain_outcome(outcome: Outcome) -> str:
    """How an attack on one text ended."""
    record, labels = outcome.record, outcome.labels
    if record.status == "misclassified" and record.predicted not in (None, record.label):
        return f"Not attacked: the prediction is {labels[record.predicted]} already, and not {labels[record.label]}."
    if record.status == "misclassified":
        return "Not attacked: the text is of the target class already."
    if record.succeeded and record.adversarial_predicted is not None:
        fewest = "; it is proved that fewer do not flip it" if record.status == "fewest" else ""
        return f"Flipped to {labels[record.adversarial_predicted]} by {count_words(len(record.changes))}{fewest}."
    return f"Not flipped: {_explain_failure(record)}."


def _explain_failure(record: Record) -> str:
    if record.status == "failed":
        return f"the victim failed on a changed text ({' '.join(str(record.error).split())})"
    if not record.words:
        return "the text has no words"
    if not record.changeable:
        return "none of its words has a candidate"
    if not record.budget:
        return "the budget is 0 words"
    if record.status == "impossible":
        return f"it is proved that no choice of up to {count_words(record.budget)} flips it"
    if record.status == "unstable":
        return "the victim does not answer the same when asked again"
    if record.tied:
        return "the two best classes end within the victim's rounding errors"
    if record.status == "unchanged":
        return "no change was found that helps"
    limit = "; a limit stopped the search" if record.status == "stopped" else ""
    return f"the best found is {count_words(len(record.changes))}, and the prediction stays{limit}"


def explain_proof(outcome: Outcome) -> str:
    """What is proved of a text: robust, broken or open, and up to how many changed words."""
    record = outcome.record
    if record.verdict == "robust":
        # Such a text keeps its label, and counts as robust; but nothing was tested, so it says nothing of the victim.
        if record.status == "misclassified":
            return "Nothing to prove: the text is of the target class already."
        if not record.changeable or not record.budget:
            return f"Nothing to prove: {_explain_failure(record)}."
        return f"Robust: it is proved that no choice of up to {count_words(record.budget)} flips the label."
    if record.verdict == "broken":
        known = f"; it is proved that up to {count_words(record.radius)} cannot" if record.radius else ""
        flips = "flips" if len(record.changes) == 1 else "flip"
        return f"Broken: {count_words(len(record.changes))} {flips} the label{known}."
    if record.verdict == "open":
        return f"Open: {record.reason}."
    return "Not proved: the prediction is wrong as it is."


def count_words(number: int) -> str:
    """A number of changed words.

    >>> count_words(1), count_words(3)
    ('1 changed word', '3 changed words')
    """
    return f"{number} changed word{'' if number == 1 else 's'}"
