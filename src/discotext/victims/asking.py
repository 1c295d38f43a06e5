"""Asking a victim about texts, one by one where one of them makes it fail; and how exact its answers are.

A model's arithmetic is not exact: the same text, asked alone and in company, gets scores that differ in their last
digits, and classes that are meant to tie do not. A prediction that hangs on such digits is a coin that was never
tossed. So a flipped label counts as success only beyond a tolerance, which is measured here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discotext.oracle import UnavailableError
from discotext.segments import Floats, Ints
from discotext.victims.victim import Victim, checked

TOGETHER, ALONE = 16, 2  # texts that are asked together, and those of them that are asked once more alone
MARGIN = 4  # times the difference that was seen: two texts do not show the largest there is
# Of the size of the scores. Scores in single precision show themselves: they are numbers that single precision has.
SINGLE, DOUBLE = 1e-6, 1e-9
MOST = 0.01  # of the size of the scores; a victim whose answers differ by more is not inexact but random


@dataclass(frozen=True)
class Asked:
    """Answers to texts. scores: (N, C), NaN for a text whose error says why. forwards: (N,) what reached the model."""

    scores: Floats
    errors: list[str | None]
    forwards: Ints


def ask(victim: Victim, texts: Sequence[str]) -> Asked:
    """The scores of texts; where the victim fails on one of them, its error and no score."""
    forwards = _forwards(victim, texts)
    try:
        return Asked(checked(victim, texts), [None] * len(texts), forwards)
    except UnavailableError:
        raise
    except Exception:
        # One text spoils the call: ask for each alone, and keep what can be kept.
        scores = np.full((len(texts), len(victim.labels)), np.nan)
        errors: list[str | None] = [None] * len(texts)
        for number, text in enumerate(texts):
            forwards[number] += _forwards(victim, [text])[0]
            try:
                scores[number] = checked(victim, [text])[0]
            except UnavailableError:
                raise
            except Exception as error:
                errors[number] = f"{type(error).__name__}: {error}"
        return Asked(scores, errors, forwards)


def _forwards(victim: Victim, texts: Sequence[str]) -> Ints:
    """(N,) 1 for each text that would reach the model, 0 for one that is remembered."""
    return np.asarray(~victim.remembers(texts), dtype=np.int64)


def measure_tolerance(victim: Victim, texts: Sequence[str]) -> float:
    """How far apart two scores must be to differ by more than the victim's arithmetic.

    The texts are asked together, and the first of them once more alone.
    """
    asked = ask(victim, texts[:TOGETHER])
    answered = np.flatnonzero(np.isfinite(asked.scores).all(axis=1))
    if not len(answered):
        return 0.0
    scores = asked.scores[answered]
    size = float(np.median(np.abs(scores).max(axis=1)))
    single = bool((scores.astype(np.float32) == scores).all())
    seen = 0.0
    for number in answered[:ALONE].tolist() if len(texts) > 1 else ():
        again = ask(victim, [texts[number]])
        if again.errors[0] is None:
            seen = max(seen, float(np.abs(again.scores[0] - asked.scores[number]).max()))
    return max((SINGLE if single else DOUBLE) * size, min(MARGIN * seen, MOST * size))
