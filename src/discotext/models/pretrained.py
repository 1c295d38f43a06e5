"""Pretrained Hugging Face models: loading them safely, cutting sentences into their pieces, and reading those.

Weights come from safetensors files and code from the library alone: neither a pickle nor code of a model's author is
ever run. All of this needs the extra `hf`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discotext.models.model import Sentence, Token
from discotext.models.model_files import check_files, check_size
from discotext.support.extras import require

if TYPE_CHECKING:
    from torch import Tensor

TOKENS_PER_TEXT = 64  # the length of a typical text: a batch size is given in texts of this length
UNLIMITED = 10**9  # tokenisers without a limit report 10 ** 30
LONE_SURROGATES = re.compile("[\ud800-\udfff]")
MEMORY = 1 << 16  # tokens whose pieces are remembered
TOKENS_PER_CALL = 2048  # pieces that are predicted at once: each needs a score for every piece of the vocabulary
Pieces = list[int]

# Constants that older versions of the library stored beside the weights, and that today's models make anew.
BUFFERS = re.compile(r"\.(masked_bias|attn\.bias|attn\.attention\.bias|rotary_emb\.inv_freq)$")


def load_pretrained(name: str, kind: str, role: str, **settings: Any) -> tuple[Any, Any]:
    """Load a tokeniser and a model from a folder, a GGUF file or the hub; a ValueError says why they cannot be loaded.

    A model with missing weights is refused, since the library would initialise them at random.
    kind: a class of the library, such as "AutoModel"; GGUF files are for causal models. role: what the model is for,
    such as "a sentence encoder". settings: further arguments for the model.
    """
    torch = require("torch", extra="hf", reason=role)
    transformers = require("transformers", extra="hf", reason=role)
    path, library = find_local(name, role, gguf=kind == "AutoModelForCausalLM"), getattr(transformers, kind)
    packed = path is not None and path.suffix == ".gguf"
    common: dict[str, Any] = {"trust_remote_code": False, "local_files_only": True}
    if packed:
        require("gguf", extra="hf", reason="a GGUF file")
    with explain_loading_errors(name, role):
        where = path or download(name)
        # Unpacking a GGUF file draws a bar of its own.
        with silence(transformers), redirect_stderr(io.StringIO()) if packed else nullcontext():
            if packed:
                where, common["gguf_file"] = where.parent, where.name
            else:
                numbers = check_files(where)
                config = transformers.AutoConfig.from_pretrained(where, **common)
                # It may ask for an attention that is code on the hub, which the library would download and run.
                config._attn_implementation = None
                with torch.device("meta"):  # tensors on it have shapes but no memory
                    check_size(library.from_config(config, trust_remote_code=False), numbers)
                settings |= {"config": config, "use_safetensors": True, "ignore_mismatched_sizes": True}
            model, report = library.from_pretrained(where, output_loading_info=True, **common, **settings)
            tokeniser = transformers.AutoTokenizer.from_pretrained(where, **common)
        if not packed:
            # The bare models of encoders are often stored without the pooler, which is not used here.
            check_loaded(report, unused="pooler" if kind == "AutoModel" else None)
        if not has_vocabulary(tokeniser):
            raise ValueError("it has no tokeniser; save it in the same folder with tokenizer.save_pretrained")
    return tokeniser, model.eval()


def download(name: str) -> Path:
    """Download a model's configuration and safetensors files, nothing executable; return the local folder."""
    hub = require("huggingface_hub", extra="hf", reason="a model on the hub")
    wanted = ["*.json", "*.txt", "*.model", "*.safetensors"]
    return Path(hub.snapshot_download(name, allow_patterns=wanted, ignore_patterns=["*/*"]))


def check_loaded(report: Mapping[str, Any], unused: str | None = None) -> None:
    """Raise ValueError if weights are missing or do not fit the configuration.

    report: the loading info of transformers. unused: a word in the names of weights that may be missing.
    """
    # A number in a name is that of a layer: a model without one of its layers is not the one that was trained.
    left = sorted(key for key in report["unexpected_keys"] if re.search(r"\.\d+\.", key) and not BUFFERS.search(key))
    if left:
        raise ValueError(f"its weights contain {left[0]}, which its config.json does not describe")
    for key, stored, described in report["mismatched_keys"]:
        raise ValueError(
            f"its weights {key} have shape {tuple(stored)}, but its config.json describes {tuple(described)}"
        )
    missing = sorted(key for key in report["missing_keys"] if unused is None or unused not in key)
    if missing:
        raise ValueError(
            f"it lacks {missing[0]}, which would be initialised at random; choose a model that was trained for this"
        )


@contextmanager
def explain_loading_errors(name: str, role: str) -> Iterator[None]:
    """Turn whatever the library raises about a model's files into a ValueError of one line."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # panics of libraries written in Rust are not Exceptions
        message = (str(error).strip().splitlines() or [""])[0].rstrip(".")
        if not isinstance(error, ValueError | OSError) or not message:
            message = f"{type(error).__name__}: {message}"
        raise ValueError(
            f"{name!r} cannot be loaded as {role}: {message}; give a folder written by save_pretrained, or check the "
            "name of the model on the hub, and the network"
        ) from None


def find_local(name: str, role: str, gguf: bool = False) -> Path | None:
    """The folder, or GGUF file if allowed, that a name means; None for a name on the hub.

    Nothing but such a name is ever looked for there.

    >>> find_local("someone/model", "a model") is None
    True
    """
    # A shell does not expand the tilde of `--option=~/model`.
    path = Path(name).expanduser()
    is_gguf = path.suffix == ".gguf"
    if path.is_dir() or (gguf and is_gguf and path.is_file()):
        return path
    if path.exists() or is_gguf or not name or name.startswith(("/", ".", "~")) or name.count("/") > 1 or "\\" in name:
        file = " or .gguf file" if gguf else ""
        raise ValueError(
            f"there is no folder{file} {name!r} with {role}; name one written by save_pretrained, or a model on the hub"
        )
    return None


def has_vocabulary(tokeniser: Any) -> bool:
    """Whether a tokeniser knows more than special tokens; without its files, the library makes one that does not."""
    return len(tokeniser) > len(tokeniser.all_special_ids)


@contextmanager
def silence(transformers: Any) -> Iterator[None]:
    """Switch off the library's progress bars and reports in this block: problems are raised as errors."""
    log = transformers.logging
    level, bars = log.get_verbosity(), log.is_progress_bar_enabled()
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
