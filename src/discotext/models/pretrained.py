"""Pretrained Hugging Face models: loading them safely, cutting sentences into their pieces, and reading those.

Weights come from safetensors files and code from the library alone: neither a pickle nor code of a model's author is
ever run. All of this needs the extra `hf`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError

from discotext.models.model import Sentence, Token
from discotext.support.extras import require

if TYPE_CHECKING:
    from torch import Tensor

TOKENS_PER_TEXT = 64  # the length of a typical text: a batch size is given in texts of this length
UNLIMITED = 10**9  # tokenisers without a limit report 10 ** 30
LONE_SURROGATES = re.compile("[\ud800-\udfff]")
MEMORY = 1 << 16  # tokens whose pieces are remembered
TOKENS_PER_CALL = 2048  # pieces that are predicted at once: each needs a score for every piece of the vocabulary
Pieces = list[int]


def load_pretrained(name: str, kind: str, role: str, **settings: Any) -> tuple[Any, Any]:
    """Load a tokeniser and a model from a folder, a GGUF file or the hub; a ValueError says why they cannot be loaded.

    A model with missing weights is refused, since the library would initialise them at random. Only a pooler may be
    missing, which is not used here.
    kind: a class of the library, such as "AutoModel". role: what the model is for, such as "a sentence encoder".
    settings: further arguments for the model.
    """
    require("torch", extra="hf", reason=role)
    transformers = require("transformers", extra="hf", reason=role)
    path = find_local(name, role, gguf=True)
    where, common = str(path or name), dict[str, Any](local_files_only=path is not None)
    packed = path is not None and path.suffix == ".gguf"
    if path is not None and packed:
        require("gguf", extra="hf", reason="a GGUF file")
        where, common["gguf_file"] = str(path.parent), path.name
    try:
        # Unpacking a GGUF file draws a bar of its own.
        with silence(transformers, path is not None), redirect_stderr(io.StringIO()) if packed else nullcontext():
            if not packed:
                settings |= {"use_safetensors": True, "config": load_config(where, path is not None)}
            model, report = getattr(transformers, kind).from_pretrained(
                where, trust_remote_code=False, output_loading_info=True, **common, **settings
            )
            tokeniser = transformers.AutoTokenizer.from_pretrained(where, trust_remote_code=False, **common)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError, SafetensorError) as error:
        message = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise ValueError(
            f"{name!r} cannot be loaded as {role}: {message}; name a folder written by save_pretrained, a model on the "
            "hub, or a .gguf file"
        ) from None
    missing = sorted(key for key in report.get("missing_keys", ()) if "pooler" not in key)
    if missing and not packed:
        raise ValueError(
            f"{name!r} cannot be loaded as {role}: it lacks {missing[0]}, which would be initialised at random; "
            "choose a model that was trained for this"
        )
    if not has_vocabulary(tokeniser):
        raise ValueError(f"{name!r} has no tokeniser; save it in the same folder with tokenizer.save_pretrained")
    return tokeniser, model.eval()


def find_local(name: str, role: str, gguf: bool = False) -> Path | None:
    """The folder, or GGUF file if allowed, that a name means; None for a name on the hub.

    Nothing but such a name is ever looked for there.

    >>> find_local("someone/model", "a model") is None
    True
    """
    # A shell does not expand the tilde of `--option=~/model`.
    path = Path(name).expanduser()
    is_gguf = gguf and path.suffix == ".gguf"
    if path.is_dir() or (is_gguf and path.is_file()):
        return path
    if path.exists() or is_gguf or not name or name.startswith(("/", ".", "~")) or name.count("/") > 1 or "\\" in name:
        file = " or .gguf file" if gguf else ""
        raise ValueError(
            f"there is no folder{file} {name!r} with {role}; name one written by save_pretrained, or a model on the hub"
        )
    return None


def load_config(where: str | Path, local: bool) -> Any:
    """The configuration of a model, without the attention that it asks for.

    That could be the name of code on the hub, which the library would download and run; its own is used instead.
    """
    transformers = require("transformers", extra="hf", reason="a pretrained model")
    config = transformers.AutoConfig.from_pretrained(where, trust_remote_code=False, local_files_only=local)
    config._attn_implementation = None
    return config


def has_vocabulary(tokeniser: Any) -> bool:
    """Whether a tokeniser knows more than special tokens; without its files, the library makes one that does not."""
    return len(tokeniser) > len(tokeniser.all_special_ids)


@contextmanager
def silence(transformers: Any, wanted: bool = True) -> Iterator[None]:
    """Switch off the library's progress bars and reports in this block, if wanted: problems are raised as errors."""
    log = transformers.logging
    level, bars = log.get_verbosity(), log.is_progress_bar_enabled()
    if wanted:
        log.set_verbosity_error()
        log.disable_progress_bar()
    try:
        yield
    finally:
        log.set_verbosity(level)
        if bars:
            log.enable_progress_bar()


def find_longest(model: Any, tokeniser: Any) -> int | None:
    """Return how many tokens the model reads, special ones included; None if it has no limit."""
    import torch

    limits = [tokeniser.model_max_length]
    positions = getattr(model.config, "max_position_embeddings", None)
    if isinstance(positions, int) and positions > 0:
        # RoBERTa and its descendants number positions from the padding token's id + 1, and have that many fewer.
        skipped = [
            module.padding_idx + 1
            for name, module in model.named_modules()
            if name.endswith("position_embeddings")
            and isinstance(module, torch.nn.Embedding)
            and module.padding_idx is not None
        ]
        limits.append(positions - max(skipped, default=0))
    least = min(limits)
    return None if least >= UNLIMITED else int(least)


@dataclass(frozen=True)
class Pretrained:
    """A tokeniser and a model in single precision, on a GPU if there is one."""

    tokeniser: Any
    model: Any

    @property
    def device(self) -> Any:
        return self.model.device

    @cached_property
    def longest(self) -> int | None:
        """The most tokens the model reads, None if there is no limit."""
        return find_longest(self.model, self.tokeniser)


def load_model(name: str, kind: str, role: str) -> Pretrained:
    """Load a model to be used as it is; see `load_pretrained`."""
    torch = require("torch", extra="hf", reason=role)
    tokeniser, model = load_pretrained(name, kind, role, dtype=torch.float32)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return Pretrained(tokeniser, model.to(device).requires_grad_(False))


class Cutter:
    """Cuts the tokens of a sentence into the pieces (subwords) that a model reads, and remembers them.

    Each token is cut on its own, with what stands before it. So a sentence has the same pieces whether it is read at
    once or word by word, and its score is the sum of what its words add.
    """

    def __init__(self, tokeniser: Any) -> None:
        self.tokeniser = tokeniser
        self.cut = lru_cache(maxsize=MEMORY)(self._cut)

    def _cut(self, text: str) -> tuple[int, ...]:
        # Tokenisers do not accept lone surrogates.
        clean = LONE_SURROGATES.sub("\ufffd", text)
        return tuple(self.tokeniser(clean, add_special_tokens=False, verbose=False)["input_ids"]) if text else ()

    def pieces(self, token: Token) -> Pieces:
        """The pieces of a token; none if it is skipped."""
        return list(self.cut(token.before + token.word)) if token.word else []

    def sentence(self, sentence: Sentence) -> Pieces:
        """The pieces of a sentence."""
        return [piece for token in sentence for piece in self.pieces(token)]

    def knows(self, word: str) -> bool:
        """Whether a word has pieces, none of them the unknown one."""
        pieces = self.pieces(Token(" ", word))
        return bool(pieces) and self.tokeniser.unk_token_id not in pieces


def pad(rows: Sequence[Pieces], device: Any) -> tuple[Tensor, Tensor]:
    """(R, longest) pieces with zeros after them, and where they are."""
    import torch

    lengths = torch.tensor([len(row) for row in rows])
    mask = torch.arange(int(lengths.max())) < lengths[:, None]
    ids = torch.zeros(mask.shape, dtype=torch.long)
    ids[mask] = torch.tensor([piece for row in rows for piece in row], dtype=torch.long)
    return ids.to(device), mask.long().to(device)


def predict(model: Any, rows: Tensor, places: Tensor, **given: Any) -> tuple[Tensor, Any]:
    """(P, V) ln p of all pieces, as a model predicts them at places (P,) of rows (P,), and all that it returns.

    given: What it reads. The head takes as long as the rest of a small model, and as much memory: only what is asked
    for goes into it.
    """
    import torch

    hook = model.get_output_embeddings().register_forward_pre_hook(lambda _, hidden: hidden[0][rows, places])
    try:
        with torch.inference_mode():
            read = model(**given)
            return torch.log_softmax(read.logits.float(), dim=-1), read
    finally:
        hook.remove()
