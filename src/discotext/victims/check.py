"""Is a victim fit to be attacked? Checks to run before trusting any figure.

Each finding has a verdict (fine, worth knowing, or wrong) and a sentence. Attacks rely on a victim whose scores are
deterministic and do not depend on the other texts in the call; on labels that mean the same as the data's; and, for the
relaxation, on gradients that are not zero and on mixtures that agree with real texts.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from discotext.core.arrays import Bools, Floats
from discotext.core.objectives import Untargeted, predictions
from discotext.core.oracle import DeletingOracle, RelaxedOracle
from discotext.core.problem import random_choices
from discotext.data.examples import Examples
from discotext.search.loop import solve
from discotext.solvers import Disco, Greedy
from discotext.support.intervals import wilson
from discotext.text.candidates import Candidates
from discotext.text.space import Space
from discotext.text.words import split
from discotext.victims.victim import Victim, compute_scores

Verdict = Literal["fine", "note", "wrong"]
TOLERANCE = 1e-3  # how far apart equal scores may be, as a share of the range of all scores
MOST_PERMUTED = 6  # the largest number of classes for which all orders of the labels are tried
SIGNIFICANCE = 0.01  # the p-value below which the labels are reported to be in a different order
ALONE = 8  # texts that are also scored alone
MASKING_TEXTS, MASKING_LENGTH, MASKING_WORDS = 16, 60, 2  # texts, words of each at most, and words that may change
MASKED = (0.8, 0.5)  # shares of what search without gradients gains: below the first is suspect, below the second wrong
FLAT = 1e-8  # a text whose largest gradient is smaller has none


@dataclass(frozen=True)
class Finding:
    """What was checked, the verdict, and a sentence that explains it."""

    name: str
    verdict: Verdict
    says: str


def check_victim(
    victim: Victim, examples: Examples, candidates: Candidates | None = None, seed: int = 0
) -> list[Finding]:
    """Check a victim on examples; about fifty are enough.

    candidates: what words are swapped for in the check of gradients, by default those of `Candidates()`. seed: of the
    texts that are scored alone, and of the swaps.
    """
    scores = compute_scores(victim, examples.texts)
    found = [
        _check_accuracy(scores, examples),
        *_check_label_order(victim, scores, examples),
        *_check_repeatability(victim, scores, examples, seed),
        _check_scale(scores),
        _check_truncation(victim, examples),
        *_check_vocabulary(victim, examples),
    ]
    if victim.capabilities.gradients:
        finder = (candidates or Candidates()).restrict_to(victim.capabilities.vocabulary)
        space = Space.of(examples.texts, finder)
        oracle = victim.oracle(space, Untargeted(examples.labels))
        if not isinstance(oracle, RelaxedOracle):
            raise TypeError(
                f"{victim.name} declares gradients, but its oracle has no method `relaxed`; write it, or set "
                "`gradients=False`"
            )
        if victim.capabilities.deletes and not isinstance(oracle, DeletingOracle):
            says = "the oracle has no method `without`, so words cannot be ranked by deletion; set `deletes=False`"
            found.append(Finding("deletions", "note", says))
        found += _check_gradients(oracle, space, seed)
        found += _check_masking(victim, examples, predictions(scores) == examples.labels, finder)
    else:
        says = "none; by default, an attack learns a surrogate from its answers, whose gradients disco uses"
        found.append(Finding("gradients", "note", f"{says} (--surrogate none: solvers without gradients only)"))
    return found


def _grade(value: float, note: float, wrong: float) -> Verdict:
    """The verdict on a value that is the worse the larger it is."""
    return "wrong" if value > wrong else "note" if value > note else "fine"


def _compare(first: Floats, second: Floats, scores: Floats) -> float:
    """The largest difference of two arrays, as a share of the range of all scores."""
    return float(np.abs(first - second).max()) / max(float(np.ptp(scores)), 1e-12)


def _check_accuracy(scores: Floats, examples: Examples) -> Finding:
    right = int((predictions(scores) == examples.labels).sum())
    low, high = wilson(right, len(examples))
    chance = float(examples.counts.max() / len(examples))
    says = f"{100 * right / len(examples):.1f} % of {len(examples)} texts correct ({100 * low:.1f} to {100 * high:.1f})"
    if low < chance:
        than = "worse" if high < chance else "not significantly better"
        says += f", {than} than always predicting the most frequent class ({100 * chance:.1f} %)"
    return Finding("accuracy", "wrong" if high < chance else "note" if low < chance else "fine", says)


def _check_label_order(victim: Victim, scores: Floats, examples: Examples) -> list[Finding]:
    """Check whether a different order of the labels would fit much better."""
    classes = scores.shape[1]
    if classes > MOST_PERMUTED:
        return []
    predicted = predictions(scores)
    table = np.zeros((classes, classes), dtype=np.int64)
    np.add.at(table, (predicted, examples.labels), 1)
    best = max(itertools.permutations(range(classes)), key=lambda order: sum(table[i, j] for i, j in enumerate(order)))
    # Texts that are correct only in the other order, and those that are correct only in the given one.
    only_best = sum(int(table[i, j]) for i, j in enumerate(best) if i != j)
    only_given = sum(int(table[i, i]) for i, j in enumerate(best) if i != j)
    if only_best <= only_given:
        return [Finding("labels", "fine", "no different order of the labels fits better")]
    # The best of all orders was selected, so its p-value is multiplied by their number (Bonferroni).
    p = min(1.0, binomial_tail(only_best, only_best + only_given) * (math.factorial(classes) - 1))
    own = examples.own or examples.names
    order = ", ".join(f"{victim.labels[i]} means {own[j]}" for i, j in enumerate(best) if i != j)
    gain = f"with {order}, {only_best - only_given} more texts would be correct (p = {p:.2g}, sign test)"
    if p < SIGNIFICANCE:
        return [Finding("labels", "wrong", f"probably in a different order than the data's: {gain}")]
    return [Finding("labels", "fine", f"no evidence of a different order of the labels: {gain}")]


def binomial_tail(successes: int, trials: int) -> float:
    """Return the probability of at least so many successes in fair coin tosses.

    >>> binomial_tail(1, 1), binomial_tail(9, 9)
    (0.5, 0.001953125)
    """
    return float(sum(math.comb(trials, heads) for heads in range(successes, trials + 1)) / 2**trials)


def _check_repeatability(victim: Victim, scores: Floats, examples: Examples, seed: int) -> list[Finding]:
    """Scores are the same when asked for again, and when a text is alone."""
    few = np.sort(np.random.default_rng(seed).permutation(len(examples))[:ALONE])
    alone = np.concatenate([compute_scores(victim, [examples.texts[number]]) for number in few])
    found = []
    for name, again, before, what, hint in (
        ("repeatable", compute_scores(victim, examples.texts), scores, "when asked twice", "is dropout on (eval())?"),
        ("batches", alone, scores[few], "between alone and in a batch", "does padding affect them?"),
    ):
        gap = _compare(again, before, scores)
        verdict = _grade(gap, TOLERANCE, TOLERANCE)
        says = f"scores differ by at most {100 * gap:.2g} % of their range {what}"
        found.append(Finding(name, verdict, says if verdict == "fine" else f"{says}; {hint}"))
    return found


def _check_scale(scores: Floats) -> Finding:
    if np.ptp(scores, axis=0).max() < 1e-9 and len(scores) > 1:
        return Finding("scale", "wrong", "all texts have the same scores")
    if scores.min() >= 0 and np.allclose(scores.sum(axis=1), 1.0, atol=1e-4):
        sure = float((scores.max(axis=1) > 1 - 1e-6).mean())
        says = "probabilities; logits would distinguish near successes"
        says += f" ({100 * sure:.0f} % of texts are at 1, where a search finds nothing to climb)" if sure else ""
        return Finding("scale", "wrong" if sure > 0.5 else "note", says)
    return Finding("scale", "fine", f"logits or other unbounded scores, from {scores.min():.3g} to {scores.max():.3g}")


def _check_truncation(victim: Victim, examples: Examples) -> Finding:
    cut = int(np.sum(victim.truncates(examples.texts)))
    says = f"{cut} of {len(examples)} texts are longer than the victim reads"
    return Finding("length", _grade(cut, 0, np.inf), says + ("; swaps beyond its limit have no effect" if cut else ""))


def _check_vocabulary(victim: Victim, examples: Examples) -> list[Finding]:
    known = victim.capabilities.vocabulary
    if known is None:
        return []
    words = [word for text in examples.texts for word in split(text).words]
    share = sum(word not in known for word in words) / max(len(words), 1)
    says = f"{100 * share:.1f} % of words are not in the victim's vocabulary"
    return [Finding("words", _grade(share, 0.1, np.inf), says)]


def _check_gradients(oracle: RelaxedOracle, space: Space, seed: int) -> list[Finding]:
    problems = np.flatnonzero(np.asarray(space.batch.sizes) > 0)
    some = space.batch.take(problems)
    _, gradient = oracle.relaxed(problems, some.one_hot(some.originals()))
    if np.isfinite(gradient).all():
        sizes = [np.abs(part).max(initial=0.0) for part in np.split(gradient, np.cumsum(some.widths)[:-1])]
        flat = float(np.mean(np.array(sizes) < FLAT))
        says = f"{100 * flat:.0f} % of texts have a zero gradient (below {FLAT:g})"
        found = Finding("gradients", _grade(flat, 0.05, 0.5), says)
    else:
        found = Finding("gradients", "wrong", "some gradients are not finite")
    choices = random_choices(some, np.random.default_rng(seed))
    real = oracle.score(problems, choices)
    gap = _compare(oracle.relaxed(problems, some.one_hot(choices))[0], real, real)
    says = f"one-hot mixtures and the real texts differ by {100 * gap:.2g} % of the range"
    return [found, Finding("mixtures", _grade(gap, TOLERANCE, 0.05), says)]


def _check_masking(victim: Victim, examples: Examples, right: Bools, finder: Candidates) -> list[Finding]:
    """Whether a search without gradients finds much more than one with them: then these hide what they should show."""
    short = [
        number for number in np.flatnonzero(right).tolist() if len(split(examples.texts[number])) <= MASKING_LENGTH
    ]
    some = examples.take(short[:MASKING_TEXTS])
    space = Space.of(some.texts, finder, words=MASKING_WORDS)
    changeable = [number for number in range(len(space)) if space.can_change(number)]
    if not changeable:
        return []
    space = space.take(changeable)
    oracle = victim.oracle(space, Untargeted(some.labels[changeable]))
    gains = []
    for solver in (Disco(), Greedy()):
        solutions = solve(space.batch, oracle, solver)
        gains.append(float(np.mean([one.score - one.original_score for one in solutions])))
    share = gains[0] / gains[1] if gains[1] > 0 else 1.0
    verdict = _grade(-share, -MASKED[0], -MASKED[1])
    says = (
        f"with {MASKING_WORDS} words changed in {len(space)} texts, search with gradients gains {100 * share:.0f} % of "
        "what search without them gains"
    )
    hint = "" if verdict == "fine" else "; attack it without gradients, too (--solver greedy)"
    return [Finding("masking", verdict, says + hint)]
