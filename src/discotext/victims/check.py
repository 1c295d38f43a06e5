"""Is a victim fit to be attacked? What to look at before anyone believes a number.

Each finding is a sentence with a verdict: fine, worth knowing, or wrong. Attacks rely on a victim that answers the same
whenever it is asked, whoever else is in the call; on labels that mean what the data's labels mean; and, for the
relaxation, on gradients that are there and on mixtures that agree with real texts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from discotext.data.examples import Examples
from discotext.goals import Untargeted, predictions
from discotext.intervals import wilson
from discotext.oracle import RelaxedOracle
from discotext.sampling import random_choices
from discotext.segments import Floats, Ints
from discotext.text.candidates import Candidates
from discotext.text.space import Space
from discotext.victims.victim import Victim, checked

Verdict = Literal["fine", "note", "wrong"]
CLOSE = 1e-3  # how far scores may be apart, as a share of how far they spread
PERMUTED = 6  # classes up to which all orders of labels are tried
ALARM = 0.01  # the p-value below which labels are said to be in another order


@dataclass(frozen=True)
class Finding:
    """What was looked at, the verdict, and a sentence."""

    name: str
    verdict: Verdict
    says: str


def check_victim(
    victim: Victim, examples: Examples, candidates: Candidates | None = None, seed: int = 0
) -> list[Finding]:
    """Look at a victim on some examples; some fifty are enough."""
    scores = checked(victim, examples.texts)
    found = [
        _accuracy(scores, examples),
        *_order(scores, examples),
        _repeatable(victim, scores, examples),
        _alone(victim, scores, examples, seed),
        _scale(scores),
        _truncation(victim, examples),
        *_unknown(victim, examples),
    ]
    if victim.gradients:
        finder = (candidates or Candidates()).known_to(victim.vocabulary)
        space = Space.of(examples.texts, finder)
        oracle = victim.oracle(space, Untargeted(examples.labels))
        if not isinstance(oracle, RelaxedOracle):
            raise TypeError(f"{victim.name} declares gradients, but its oracle has no method `relaxed`")
        found += _gradients(oracle, space, seed)
    else:
        found.append(Finding("gradients", "note", "there are none: solvers that only ask for scores are used"))
    return found


def _spread(scores: Floats) -> float:
    return max(float(np.ptp(scores)), 1e-12)


def _accuracy(scores: Floats, examples: Examples) -> Finding:
    right = int((predictions(scores) == examples.labels).sum())
    low, high = wilson(right, len(examples))
    chance = float(examples.counts.max() / len(examples))
    says = f"{100 * right / len(examples):.1f} % of {len(examples)} texts right ({100 * low:.1f} to {100 * high:.1f})"
    if high < chance:
        return Finding(
            "accuracy", "wrong", says + f", less than always saying the commonest class ({100 * chance:.1f} %)"
        )
    if low < chance:
        return Finding("accuracy", "note", says + f", not surely more than the commonest class ({100 * chance:.1f} %)")
    return Finding("accuracy", "fine", says)


def _order(scores: Floats, examples: Examples) -> list[Finding]:
    """Whether another order of the labels would fit much better."""
    classes = scores.shape[1]
    if classes > PERMUTED:
        return []
    predicted = predictions(scores)
    table = np.zeros((classes, classes), dtype=np.int64)
    np.add.at(table, (predicted, examples.labels), 1)
    best = max(itertools.permutations(range(classes)), key=lambda order: sum(table[i, j] for i, j in enumerate(order)))
    # Texts that only the other order gets right, and those that only the given one does.
    only_best = sum(int(table[i, j]) for i, j in enumerate(best) if i != j)
    only_given = sum(int(table[i, i]) for i, j in enumerate(best) if i != j)
    if only_best <= only_given:
        return [Finding("labels", "fine", "no other order of the labels fits better")]
    # The best of all orders was picked, so its p-value is multiplied by how many there are (Bonferroni).
    p = min(1.0, binomial_tail(only_best, only_best + only_given) * (math.factorial(classes) - 1))
    order = ", ".join(f"{i} means {j}" for i, j in enumerate(best) if i != j)
    gained = f"{order} would be right for {only_best - only_given} texts more (p = {p:.2g}, sign test)"
    if p < ALARM:
        return [Finding("labels", "wrong", f"they seem to be in another order than the data's: {gained}")]
    return [Finding("labels", "fine", f"no evidence of another order of the labels: {gained}")]


def binomial_tail(successes: int, trials: int) -> float:
    """The chance of at least so many heads from a fair coin.

    >>> binomial_tail(1, 1), binomial_tail(9, 9)
    (0.5, 0.001953125)
    """
    return float(sum(math.comb(trials, heads) for heads in range(successes, trials + 1)) / 2**trials)


def _repeatable(victim: Victim, scores: Floats, examples: Examples) -> Finding:
    gap = float(np.abs(checked(victim, examples.texts) - scores).max()) / _spread(scores)
    if gap > CLOSE:
        says = f"asked again, scores move by {100 * gap:.2g} % of their range; is dropout left on (model.eval())?"
        return Finding("repeatable", "wrong", says)
    return Finding("repeatable", "fine", f"asked again, scores move by {100 * gap:.1g} % of their range")


def _alone(victim: Victim, scores: Floats, examples: Examples, seed: int) -> Finding:
    few = np.sort(np.random.default_rng(seed).permutation(len(examples))[:8])
    singly = np.concatenate([checked(victim, [examples.texts[number]]) for number in few])
    gap = float(np.abs(singly - scores[few]).max()) / _spread(scores)
    if gap > CLOSE:
        says = f"a text alone and among others gets scores {100 * gap:.2g} % of their range apart; does padding leak?"
        return Finding("batches", "wrong", says)
    return Finding(
        "batches", "fine", f"a text gets the same scores alone and among others (apart by {100 * gap:.1g} %)"
    )


def _scale(scores: Floats) -> Finding:
    if np.ptp(scores, axis=0).max() < 1e-9 and len(scores) > 1:
        return Finding("scale", "wrong", "every text gets the same scores")
    if scores.min() >= 0 and np.allclose(scores.sum(axis=1), 1.0, atol=1e-4):
        sure = float((scores.max(axis=1) > 1 - 1e-6).mean())
        says = "these are probabilities; logits would tell near successes apart"
        says += f" ({100 * sure:.0f} % of texts are at 1 already, where nothing is left to climb)" if sure else ""
        return Finding("scale", "wrong" if sure > 0.5 else "note", says)
    return Finding("scale", "fine", f"logits or other open scores, from {scores.min():.3g} to {scores.max():.3g}")


def _truncation(victim: Victim, examples: Examples) -> Finding:
    cut = int(np.sum(victim.truncates(examples.texts)))
    if cut:
        says = f"{cut} of {len(examples)} texts are longer than the victim reads; changes beyond its limit do nothing"
        return Finding("length", "note", says)
    return Finding("length", "fine", "no text is longer than the victim reads")


def _unknown(victim: Victim, examples: Examples) -> list[Finding]:
    if victim.vocabulary is None:
        return []
    from discotext.text.words import split

    words = [word for text in examples.texts for word in split(text).words]
    share = sum(word not in victim.vocabulary for word in words) / max(len(words), 1)
    return [
        Finding("words", "note" if share > 0.1 else "fine", f"{100 * share:.1f} % of words are unknown to the victim")
    ]


def _gradients(oracle: RelaxedOracle, space: Space, seed: int) -> list[Finding]:
    problems = np.flatnonzero(np.asarray(space.batch.sizes) > 0)
    some = space.batch.take(problems)
    rng = np.random.default_rng(seed)
    originals = some.one_hot(some.originals())
    _, slope = oracle.relaxed(problems, originals)
    found = []
    if not np.isfinite(slope).all():
        found.append(Finding("gradients", "wrong", "some are not finite"))
    else:
        sizes = [np.abs(part).max(initial=0.0) for part in np.split(slope, _ends(some.widths))]
        flat = float(np.mean(np.array(sizes) < 1e-8))
        verdict: Verdict = "wrong" if flat > 0.5 else "note" if flat > 0.05 else "fine"
        found.append(Finding("gradients", verdict, f"{100 * flat:.0f} % of texts have none to speak of (below 1e-8)"))
    choices = random_choices(some, rng)
    real = oracle.score(problems, choices)
    mixed, _ = oracle.relaxed(problems, some.one_hot(choices))
    gap = float(np.abs(real - mixed).max()) / _spread(real)
    verdict = "fine" if gap < CLOSE else "note" if gap < 0.05 else "wrong"
    found.append(
        Finding("mixtures", verdict, f"a mixture that is all one word and the real text differ by {100 * gap:.2g} %")
    )
    return found


def _ends(sizes: Ints | Sequence[int]) -> Ints:
    return np.cumsum(sizes)[:-1]
