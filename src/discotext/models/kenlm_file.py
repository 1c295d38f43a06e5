"""KenLM's binary files, read through the package `kenlm` (extra `kenlm`).

The package scores one word at a time and tells no ids, so that such a model is sequential, not an `NGramModel`. The
ARPA file that a binary was built from is faster here and allows exact search.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discotext.core.arrays import Floats, Ints
from discotext.models.arpa import LN_10
from discotext.models.model import Sentence, SequentialModel, Token, normalise
from discotext.support.extras import require
from discotext.support.plain_text import describe_error

MAGIC = b"mmap lm http://kheafield.com/code"


class KenLMModel(SequentialModel):
    """An n-gram model in KenLM's binary format. A word is looked up as it is, then in lower case."""

    def __init__(self, path: str | Path) -> None:
        self._kenlm: Any = require("kenlm", extra="kenlm", reason="a binary file of KenLM")
        try:
            self._model = self._kenlm.Model(str(path))
        except (OSError, RuntimeError) as error:
            raise ValueError(f"{path} cannot be read as a KenLM file ({describe_error(error)})") from None
        self.name = str(path)

    def knows(self, word: str) -> bool:
        return self._find(word) in self._model

    def _find(self, word: str) -> str:
        plain = normalise(word)
        return plain if plain in self._model else plain.lower()

    def score(self, sentences: Sequence[Sentence]) -> Floats:
        words = ([self._find(token.word) for token in sentence if token.word] for sentence in sentences)
        return np.array([self._model.score(" ".join(sentence)) * LN_10 for sentence in words], dtype=np.float64)

    def start(self, count: int) -> list[Any]:
        state = self._kenlm.State()
        self._model.BeginSentenceWrite(state)
        return [state] * count

    def extend(self, states: list[Any], parents: Ints, tokens: Sequence[Token]) -> tuple[list[Any], Floats]:
        after, gains = [], np.zeros(len(parents))
        for row, (parent, token) in enumerate(zip(parents.tolist(), tokens, strict=True)):
            state = states[parent]
            if token.word:
                new = self._kenlm.State()
                gains[row] = self._model.BaseScore(state, self._find(token.word), new) * LN_10
                state = new
            after.append(state)
        return after, gains

    def finish(self, states: list[Any]) -> Floats:
        last = self._kenlm.State()
        return np.array([self._model.BaseScore(state, "</s>", last) * LN_10 for state in states], dtype=np.float64)

    def recombine(self, states: list[Any]) -> list[Hashable] | None:
        return list(states)
