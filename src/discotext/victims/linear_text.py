"""A text and its candidates as features of a linear pipeline: what each word adds, alone and beside its neighbours."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discotext.core.arrays import Ints
from discotext.text.words import Words
from discotext.victims.linear_pipeline import LinearPipeline


@dataclass(frozen=True, eq=False)
class LinearText:
    """The features of one text.

    columns: (F,) of the pipeline that occur in any choice. fixed: (F,) how often each occurs whatever is chosen.
    own: for each candidate, the features (by their place in `columns`) that it adds.
    pairs: by position, the position that comes next without other tokens between, and (k, l) the feature that
        candidates of both make together, −1 for none.
    silent: positions whose options leave no token: changing them changes nothing.
    """

    columns: Ints
    fixed: NDArray[np.float64]
    own: tuple[Ints, ...]
    pairs: dict[int, tuple[int, Ints]]
    silent: frozenset[int]


def find_vanishing(pipeline: LinearPipeline, options: Sequence[Sequence[str]]) -> list[int]:
    """Positions where some of the options leave no token and others do: then words beyond them become neighbours."""
    if pipeline.lengths[1] == 1:
        return []
    kinds = ({bool(pipeline.tokens(word)) for word in some} for some in options)
    return [position for position, found in enumerate(kinds) if len(found) == 2]


def read_text(
    pipeline: LinearPipeline, text: Words, options: Sequence[Sequence[str]], only: Mapping[int, int]
) -> LinearText | None:
    """The features of a text with these options; None if its words cannot be told apart from what is around them.

    only: positions, with the only option that is looked at there.
    """
    if not all(_separates(pipeline.preprocess(gap)) for gap in text.gaps[1:-1]):
        return None  # a token might reach from one word into the next
    if any("Σ" in word for some in options for word in some):
        return None  # its small letter depends on what follows
    gaps = [pipeline.tokens(gap) for gap in text.gaps]
    words = [[pipeline.tokens(word) for word in some] for some in options]
    for position, some in enumerate(options):
        before, after = text.gaps[position], text.gaps[position + 1]
        for word, tokens in zip(some, words[position], strict=True):
            if pipeline.tokens(before[-40:] + word + after[:40]) != (
                *pipeline.tokens(before[-40:]),
                *tokens,
                *pipeline.tokens(after[:40]),
            ):
                return None  # a token crosses the edge of the word
    if pipeline.tokens(str(text)) != tuple(
        token for at, gap in enumerate(gaps) for token in (*gap, *(words[at][0] if at < len(words) else ()))
    ):
        return None
    for position, option in only.items():
        words[position] = [words[position][option]] * len(words[position])
    joins = pipeline.lengths[1] == 2
    fixed: Counter[int] = Counter()
    own: list[list[list[int]]] = [[pipeline.columns(tokens) for tokens in some] for some in words]
    pairs: dict[int, tuple[int, Ints]] = {}
    for gap in gaps:
        fixed.update(pipeline.columns(gap))
    if joins:
        _join(pipeline, gaps, words, fixed, own, pairs)
    used = {column for some in own for one in some for column in one} | set(fixed)
    used |= {column for _, pair in pairs.values() for column in pair.ravel().tolist() if column >= 0}
    columns = np.array(sorted(used), dtype=np.int64)
    place = {column: number for number, column in enumerate(columns.tolist())}
    return LinearText(
        columns,
        np.array([float(fixed[column]) for column in columns.tolist()]),
        tuple(np.array([place[column] for column in one], dtype=np.int64) for some in own for one in some),
        {
            left: (right, np.array([[place.get(column, -1) for column in row] for row in pair.tolist()]))
            for left, (right, pair) in pairs.items()
            if (pair >= 0).any()
        },
        frozenset(position for position, some in enumerate(words) if not any(some)),
    )


def _separates(gap: str) -> bool:
    """Whether a gap, as the vectoriser sees it, has a character that no token holds.

    >>> _separates(", "), _separates("_"), _separates("")
    (True, False, False)
    """
    return any(not (sign.isalnum() or sign in "_-" or unicodedata.category(sign)[0] == "M") for sign in gap)


def _join(
    pipeline: LinearPipeline,
    gaps: Sequence[Sequence[str]],
    words: Sequence[Sequence[Sequence[str]]],
    fixed: Counter[int],
    own: list[list[list[int]]],
    pairs: dict[int, tuple[int, Ints]],
) -> None:
    """Add the features of neighbours. Of each position, either all options have tokens or none."""
    last: tuple[str, ...] | None = None  # the last token of each option of the position before, or of what is fixed
    owner = -1  # the position before, if its tokens come directly before; −1 for fixed tokens
    for at, gap in enumerate(gaps):
        if gap:
            if last is not None:
                _add_pair(pipeline, last, (gap[0],), owner, -1, fixed, own, pairs)
            last, owner = (gap[-1],), -1
        if at == len(words):
            break
        some = words[at]
        if not some[0]:
            continue
        if last is not None:
            _add_pair(pipeline, last, tuple(tokens[0] for tokens in some), owner, at, fixed, own, pairs)
        last, owner = tuple(tokens[-1] for tokens in some), at


def _add_pair(
    pipeline: LinearPipeline,
    left: tuple[str, ...],
    right: tuple[str, ...],
    owner: int,
    at: int,
    fixed: Counter[int],
    own: list[list[list[int]]],
    pairs: dict[int, tuple[int, Ints]],
) -> None:
    """Add the features that tokens on the left make with those on the right. owner, at: their positions, −1: fixed."""
    if owner >= 0 and at >= 0:
        made = np.array([[pipeline.pair(one, other) for other in right] for one in left], dtype=np.int64)
        pairs[owner] = (at, made)
        return
    for first, one in enumerate(left):
        for second, other in enumerate(right):
            column = pipeline.pair(one, other)
            if column < 0:
                continue
            if owner < 0 and at < 0:
                fixed[column] += 1
            elif at >= 0:
                own[at][second].append(column)
            else:
                own[owner][first].append(column)
