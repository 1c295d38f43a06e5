"""Checks whether a set function is monotone or submodular, with a witness if it is not.

Submodularity is stated for all A ⊆ B and e outside B: the gain of e at A is at least its gain at B. It is sufficient to
check B = A + b, one step: f(S + a) + f(S + b) ≥ f(S + a + b) + f(S) for all S and a ≠ b outside it, because the gain
at B is reached from the gain at A by adding elements one at a time. That is 2^n n² checks instead of 3^n n, and it
turns into a few vector operations on the table of all values. Where 2^n is too large, sets are sampled instead, and
the verdict says so: not refuted is not proved.

A difference counts as a violation only beyond `tolerance` times the largest of the values it was computed from.
"""

from __future__ import annotations

import numpy as np

from discotext.core.arrays import Floats, Ints
from discotext.theory.set_function import SetFunction, decode_mask, tabulate
from discotext.theory.verdict import Subset, Verdict, Witness, format_set


def is_monotone(
    f: SetFunction, *, exhaustive_up_to: int = 14, samples: int = 2000, seed: int = 0, tolerance: float = 1e-9
) -> Verdict:
    """Check that no element ever lowers the value: f(S + e) ≥ f(S) for all S and e.

    Every set is tried up to `exhaustive_up_to` elements; beyond, `samples` pairs (S, e) are drawn from `seed`.

    >>> from discotext.theory.set_function import modular
    >>> print(is_monotone(modular([1.0, -2.0])))
    monotone: refuted; adding 1 to {} changes f by -2
    """
    worst, witness, checks = 0.0, None, 0
    if f.n <= exhaustive_up_to:
        values = tabulate(f)
        for element in f.ground:
            without = list_masks_without(f.n, element)
            before, after = values[without], values[without | 1 << element]
            excess, where = find_worst_excess(before - after, (before, after), tolerance)
            checks += len(without)
            if excess > worst:
                worst, witness = excess, make_fall_witness(f, decode_mask(int(without[where]), f.n), element)
        return Verdict("monotone", witness is None, exhaustive=True, checks=checks, witness=witness)
    rng = np.random.default_rng(seed)
    drawn = [draw_outside(f.n, 1, rng) for _ in range(samples)]
    before = f.values(inside for inside, _ in drawn)
    after = f.values(inside | set(outside) for inside, outside in drawn)
    excess, where = find_worst_excess(before - after, (before, after), tolerance)
    if excess > 0:
        witness = make_fall_witness(f, drawn[where][0], drawn[where][1][0])
    return Verdict("monotone", witness is None, exhaustive=False, checks=samples, witness=witness)


def is_submodular(
    f: SetFunction, *, exhaustive_up_to: int = 14, samples: int = 2000, seed: int = 0, tolerance: float = 1e-9
) -> Verdict:
    """Check that gains never grow: Δ(e | A) ≥ Δ(e | B) for all A ⊆ B and e outside B.

    Every set is tried up to `exhaustive_up_to` elements; beyond, `samples` triples (S, a, b) are drawn from `seed`.
    The witness is the worst violation found: A = S, B = S + b, e = a and its two gains.

    >>> f = SetFunction(2, lambda members: float(len(members) == 2))
    >>> print(is_submodular(f))
    submodular: refuted; the gain of 0 grows from 0 at {} to 1 at {1}
    """
    worst, witness, checks = 0.0, None, 0
    if f.n <= exhaustive_up_to:
        values = tabulate(f)
        for a in f.ground:
            for b in range(a + 1, f.n):
                without = list_masks_without(f.n, a, b)
                four = tuple(values[without | bits] for bits in (0, 1 << a, 1 << b, 1 << a | 1 << b))
                excess, where = find_worst_excess(four[3] + four[0] - four[1] - four[2], four, tolerance)
                checks += len(without)
                if excess > worst:
                    worst, witness = excess, make_growth_witness(f, decode_mask(int(without[where]), f.n), a, b)
        return Verdict("submodular", witness is None, exhaustive=True, checks=checks, witness=witness)
    if f.n < 2:
        return Verdict("submodular", holds=True, exhaustive=True, checks=0)
    rng = np.random.default_rng(seed)
    drawn = [draw_outside(f.n, 2, rng) for _ in range(samples)]
    four = tuple(
        f.values(inside.union(outside[place] for place in added) for inside, outside in drawn)
        for added in ((), (0,), (1,), (0, 1))
    )
    excess, where = find_worst_excess(four[3] + four[0] - four[1] - four[2], four, tolerance)
    if excess > 0:
        inside, (a, b) = drawn[where]
        witness = make_growth_witness(f, inside, a, b)
    return Verdict("submodular", witness is None, exhaustive=False, checks=samples, witness=witness)


def list_masks_without(n: int, *elements: int) -> Ints:
    """Return the sets, as bit masks, that contain none of these elements."""
    masks = np.arange(2**n)
    return np.asarray(masks[(masks & sum(1 << element for element in elements)) == 0])


def find_worst_excess(violation: Floats, values: tuple[Floats, ...], tolerance: float) -> tuple[float, int]:
    """Return the largest violation beyond rounding errors, and where it is; (0, 0) if there is none."""
    if not len(violation):
        return 0.0, 0
    noise = tolerance * np.max(np.abs(values), axis=0)
    real = np.where(violation > noise, violation, 0.0)
    where = int(np.argmax(real))
    return float(real[where]), where


def draw_outside(n: int, elements: int, rng: np.random.Generator) -> tuple[Subset, tuple[int, ...]]:
    """Draw a random set of random size, and so many elements outside it."""
    order = rng.permutation(n).tolist()
    size = int(rng.integers(n - elements + 1))
    return frozenset(order[elements : elements + size]), tuple(order[:elements])


def make_fall_witness(f: SetFunction, inside: Subset, element: int) -> Witness:
    """Return the witness that adding an element lowers f."""
    gain = f.gain(element, inside)
    sentence = f"adding {element} to {format_set(inside)} changes f by {gain:g}"
    return Witness(inside, inside | {element}, element, (gain,), sentence)


def make_growth_witness(f: SetFunction, inside: Subset, a: int, b: int) -> Witness:
    """Return the witness that the gain of a grows when b is added."""
    larger = inside | {b}
    gains = f.gain(a, inside), f.gain(a, larger)
    sentence = (
        f"the gain of {a} grows from {gains[0]:g} at {format_set(inside)} to {gains[1]:g} at {format_set(larger)}"
    )
    return Witness(inside, larger, a, gains, sentence)
