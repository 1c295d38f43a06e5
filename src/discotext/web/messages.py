"""What the page sends and gets, as JSON: requests are checked here, and results are put into plain objects.

Words are named by number, and a text is sent as its words and the gaps between them: a browser counts characters
differently from Python, so offsets would not agree.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discotext.attacks.observation import Step
from discotext.attacks.one_text import Look, Outcome, explain_outcome, explain_proof
from discotext.runs.record import Change
from discotext.solvers import SOLVERS
from discotext.text.words import split

show = reprlib.repr  # any value in a message: short, and however deep it is nested
MOST_CHARACTERS, MOST_WORDS = 20_000, 2_000
MOST_SOLVERS = 4  # side by side
# The least and the most of each number; 2**32 is that of the solvers' random numbers.
WHOLE = {"words": (0, MOST_WORDS), "target": (0, 1_000_000), "seed": (0, 2**32 - 1), "passes": (1, 100_000)}
REFUSED_SHOWN = 12  # refused candidates of a word


class RequestError(ValueError):
    """A request that cannot be answered, in one sentence for its sender."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A text to look at, or to attack by several solvers, one after the other.

    words: how many words may change [default: a fifth]. passes: what a proof may take; None attacks only.
    """

    text: str
    words: int | None = None
    solvers: tuple[str, ...] = ("auto",)
    target: int | None = None
    seed: int = 0
    passes: int | None = None


def read_look(raw: Any) -> Asked:
    """A request to look at a text."""
    return _read(raw, ("text", "words"))


def read_attack(raw: Any) -> Asked:
    """A request to attack a text."""
    return _read(raw, ("text", "words", "solvers", "target", "seed", "passes"))


def _read(raw: Any, known: Sequence[str]) -> Asked:
    unknown = [name for name in raw if name not in known] if isinstance(raw, dict) else [raw]
    if unknown:
        raise RequestError(f"there is {show(unknown[0])}; expected a JSON object with the keys {', '.join(known)}")
    text, solvers = raw.get("text"), raw.get("solvers", ["auto"])
    if not isinstance(text, str):
        raise RequestError("the text is missing; expected a string")
    for count, most, what in ((len(text), MOST_CHARACTERS, "characters"), (len(split(text)), MOST_WORDS, "words")):
        if count > most:
            raise RequestError(
                f"the text has {count:,} {what}; this page takes {most:,} at most: shorten it, or use discotext attack"
            )
    numbers = {name: raw[name] for name in WHOLE if raw.get(name) is not None}
    for name, value in numbers.items():
        least, most = WHOLE[name]
        if type(value) is not int or not least <= value <= most:
            raise RequestError(f"{name} is {show(value)}; choose a whole number from {least} to {most:,}")
    if not isinstance(solvers, list) or not 1 <= len(solvers) <= MOST_SOLVERS:
        raise RequestError(f"solvers is {show(solvers)}; give a list of 1 to {MOST_SOLVERS} names")
    for place, name in enumerate(solvers):
        if not isinstance(name, str) or name not in ("auto", *SOLVERS):
            raise RequestError(f"there is no solver {show(name)}; choose auto or one of {', '.join(SOLVERS)}")
        if name in solvers[:place]:
            raise RequestError(f"the solver {name} is given twice; give each once")
    return Asked(text=text, solvers=tuple(solvers), **numbers)


def write_look(look: Look) -> dict[str, Any]:
    """A look, for the page."""
    text = split(look.text)
    words = []
    for gap, one in zip(text.gaps, look.words, strict=False):
        offered = [{"word": word, "accept": chance} for word, chance in zip(one.candidates, one.accept, strict=True)]
        # Only words with candidates can be chosen on the page; those of the others would be most of the answer.
        shown = REFUSED_SHOWN if one.candidates else 0
        refused = [{"word": word, "filter": name} for word, name in one.refused[:shown]]
        more = max(len(one.refused) - shown, 0)
        words.append({"before": gap, "word": one.word, "candidates": offered, "refused": refused, "more_refused": more})
    return {
        "words": words,
        "rest": text.gaps[-1],
        "allowed": look.allowed,
        "truncated": look.truncated,
        "victim_seconds": look.victim_seconds,
        **write_scores(look.labels, look.scores, look.predicted),
    }


def write_scores(labels: Sequence[str], scores: Sequence[float], predicted: int | None = None) -> dict[str, Any]:
    """Class scores with a share of 1 for each, to be drawn as bars: themselves if they are shares, else by softmax.

    >>> write_scores(["no", "yes"], [0.25, 0.75])["shares"], write_scores(["no", "yes"], [0.0, 0.0])["shares"]
    ([0.25, 0.75], [0.5, 0.5])
    """
    are_shares = all(0 <= one <= 1 for one in scores) and abs(sum(scores) - 1) < 1e-3
    weights = [math.exp(one - max(scores)) for one in scores]
    return {
        "labels": list(labels),
        "scores": list(scores),
        "shares": list(scores) if are_shares else [one / sum(weights) for one in weights],
        "softmax": not are_shares,
        "predicted": max(range(len(scores)), key=lambda one: scores[one]) if predicted is None else predicted,
    }


def write_changes(changes: Sequence[Change]) -> list[dict[str, Any]]:
    """Changed words, by number."""
    return [{"position": one.position, "old": one.old, "new": one.new, "accept": one.accept} for one in changes]


def write_step(step: Step, solver: str) -> dict[str, Any]:
    """The best choice so far."""
    told = {name: vars(step)[name] for name in ("queries", "seconds", "margin", "flipped")}
    return {"solver": solver, **told, "changes": write_changes(step.changes)}


def write_outcome(outcome: Outcome, solver: str, seconds: float) -> dict[str, Any]:
    """How an attack or a proof ended. solver: as it was asked for. seconds: of all of it."""
    record, after = outcome.record, outcome.adversarial_scores
    return {
        "solver": solver,
        "ran": record.solver,
        "status": record.status,
        "flipped": record.succeeded,
        "sentence": explain_outcome(outcome),
        "changes": write_changes(record.changes),
        "text": record.adversarial_text,
        "queries": record.forwards,
        "gradients": record.backwards,
        "bounds": record.bounds,
        "passes": record.forwards + record.backwards + record.bounds,
        "learning_queries": outcome.learning_queries,
        "seconds": seconds,
        "margins": [record.score, record.adversarial_score],
        "after": None if after is None else write_scores(outcome.labels, after),
        "verdict": record.verdict,
        "untested": record.status == "misclassified" or not record.changeable or not record.budget,
        "radius": record.radius,
        "proof": None if record.verdict is None else explain_proof(outcome),
    }
