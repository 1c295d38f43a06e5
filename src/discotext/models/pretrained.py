"""Pretrained Hugging Face models: loading them safely, and running them on batches of texts of similar length.

Weights come from safetensors files and code from the library alone: neither a pickle nor code of a model's author is
ever run. All of this needs the extra `hf`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import SafetensorError

from discotext.core.arrays import Floats, Ints
from discotext.core.padding import group_by_length, largest_first
from discotext.support.extras import require

if TYPE_CHECKING:
    from torch import Tensor

TOKENS_PER_TEXT = 64  # the length of a typical text: a batch size is given in texts of this length
UNLIMITED = 10**9  # tokenisers without a limit report 10 ** 30
LONE_SURROGATES = re.compile("[\ud800-\udfff]")

TextProgress = Callable[[str, int, int], None]  # called with what is being done, texts done, and texts in all


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
    if path.exists():
        raise ValueError(f"{name!r} is not a folder with {role}; name one written by save_pretrained")
    if is_gguf:
        raise ValueError(f"there is no file {name!r} with {role}; name a .gguf file or a folder")
    if not name or name.startswith(("/", ".", "~")) or name.count("/") > 1 or "\\" in name:
        raise ValueError(
            f"there is no folder {name!r} with {role}; name one written by save_pretrained, or a model on the hub"
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


class BatchedModel:
    """A pretrained model that reads many texts, in calls of similar length; on a GPU if there is one.

    name, kind, role: as for `load_pretrained`. batch: texts of 64 tokens per call; more of shorter and fewer of longer
    ones. longest: the most tokens the model reads, None if there is no limit. tokens: per call, padding included.
    """

    def __init__(self, name: str, kind: str, role: str, batch: int = 64) -> None:
        if batch < 1:
            raise ValueError(f"batch is {batch}; choose 1 or more")
        torch = require("torch", extra="hf", reason=role)
        self.tokeniser, model = load_pretrained(name, kind, role)
        self.tokens, self.longest = batch * TOKENS_PER_TEXT, find_longest(model, self.tokeniser)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = model.to(self.device).requires_grad_(False)

    def tokenise(self, texts: Sequence[str], limit: int | None, special: bool = True) -> tuple[list[list[int]], int]:
        """The tokens of each text, truncated to a limit, and the number of truncated texts.

        special: whether to add the model's special tokens.
        """
        # Tokenisers do not accept lone surrogates.
        clean = [LONE_SURROGATES.sub("\ufffd", text) for text in texts]
        settings: dict[str, Any] = {"add_special_tokens": special, "verbose": False}
        rows: list[list[int]] = self.tokeniser(clean, **settings)["input_ids"] if clean else []
        long = [number for number, row in enumerate(rows) if limit is not None and len(row) > limit]
        for number in long:
            rows[number] = self.tokeniser(clean[number], truncation=True, max_length=limit, **settings)["input_ids"]
        return rows, len(long)

    def apply(
        self,
        function: Callable[[Tensor, Tensor], Tensor],
        rows: Sequence[Sequence[int]],
        stage: str,
        watch: TextProgress | None = None,
    ) -> list[Any]:
        """Apply a function of tokens (R, n) and their attention mask (R, n) to all rows; None where the result is NaN.

        stage: what is being done, for `watch`.
        """
        import torch

        found: list[Any] = [None] * len(rows)
        done = 0
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        # The largest call comes first, so that running out of memory shows at once.
        for numbers in largest_first(group_by_length(lengths, self.tokens, spare_rows=0), lengths):
            ids, mask = _pad([rows[number] for number in numbers.tolist()], self.tokeniser.pad_token_id or 0)
            with torch.inference_mode():
                results = function(ids.to(self.device), mask.to(self.device)).cpu().numpy()
            for number, result in zip(numbers.tolist(), results, strict=True):
                found[number] = result if np.isfinite(result).all() else None
            done += len(numbers)
            if watch is not None:
                watch(stage, done, len(rows))
        return found


def _pad(rows: Sequence[Sequence[int]], fill: int) -> tuple[Tensor, Tensor]:
    """Rows of different lengths as one tensor (R, n), and the mask (R, n) of what is not padding."""
    import torch

    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    mask = np.arange(max(1, int(lengths.max(initial=0)))) < lengths[:, None]
    ids: Ints = np.full(mask.shape, fill, dtype=np.int64)
    ids[mask] = np.concatenate([np.asarray(row, dtype=np.int64) for row in rows])
    return torch.from_numpy(ids), torch.from_numpy(mask)


class SentenceEncoder:
    """Texts as unit vectors: the mean of the model's last hidden states.

    name: a model on the hub, or a folder with an `AutoModel` and its tokeniser. batch: texts of 64 tokens per call.
    """

    def __init__(self, name: str, batch: int = 64) -> None:
        self.name, self.batched = name, BatchedModel(name, "AutoModel", "a sentence encoder", batch)
        if self.batched.model.config.is_encoder_decoder:
            raise ValueError(f"{name!r} is an encoder-decoder model; choose an encoder, such as a MiniLM")

    def __call__(self, texts: Sequence[str], watch: TextProgress | None = None) -> tuple[list[Floats | None], int]:
        """(d,) for each text, None if it has no tokens; and the number of truncated texts."""
        rows, truncated = self.batched.tokenise(texts, self.batched.longest)
        return self.batched.apply(self._encode, rows, "encoding texts", watch), truncated

    def _encode(self, ids: Tensor, mask: Tensor) -> Tensor:
        states: Tensor = self.batched.model(input_ids=ids, attention_mask=mask.long()).last_hidden_state.double()
        means = (states * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)
        unit: Tensor = means / means.norm(dim=1, keepdim=True).clamp(min=1e-12)
        return unit
