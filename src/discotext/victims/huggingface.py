"""Any text classifier of the Hugging Face library as a victim.

It is loaded from a folder or from the hub, with weights from safetensors and code from the library alone: neither a
pickle nor a program of the model's author is ever run. Its scores are its logits. How it is asked about many texts is
in `subword_model`, how about mixtures of words in `subwords`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from discotext.extras import need
from discotext.goals import Goal
from discotext.oracle import Oracle
from discotext.segments import Floats
from discotext.text.space import Space
from discotext.victims.subword_model import SubwordModel
from discotext.victims.subwords import SubwordOracle
from discotext.victims.victim import TextOracle

REASON = "a Hugging Face victim"


class HuggingFaceVictim:
    """A sequence classifier with a fast tokeniser.

    model: a name on the hub, a folder, or a model that is already there (it is then frozen, and put into evaluation
        mode); for the last, tokeniser is its tokeniser. A prefix `hf:` is ignored.
    device: such as "cuda:1"; a GPU where there is one.
    batch: texts of 64 tokens a call; there are more of shorter and fewer of longer ones.
    half: score in half precision, which only a GPU does fast; mixtures are always read in full precision.

    A model with one output is read as a yes or no: its output z becomes the scores −z/2 and z/2.
    """

    vocabulary = None  # it can read anything

    def __init__(
        self,
        model: Any,
        tokeniser: Any = None,
        *,
        device: str | None = None,
        batch: int = 64,
        half: bool | None = None,
    ) -> None:
        if batch < 1:
            raise ValueError(f"batch is {batch}; choose 1 or more")
        if isinstance(model, str | Path):
            name = str(model).removeprefix("hf:")
            model, tokeniser = load(name)
        else:
            name = model.config._name_or_path or type(model).__name__
        if tokeniser is None or not tokeniser.is_fast:
            raise ValueError(f"{name!r} has no fast tokeniser; give one that says which letters each token stands for")
        if model.config.problem_type == "multi_label_classification":
            raise ValueError(
                f"{name!r} gives a text several labels at once; choose a model that gives it one, "
                "or make a victim of your own from one of its labels"
            )
        self.name = f"hf:{name}"
        names = [str(model.config.id2label.get(number, number)) for number in range(model.config.num_labels)]
        self.labels = tuple(names) if len(names) > 1 else (f"not {names[0]}", names[0])
        self.reader = SubwordModel(model, tokeniser, device, batch, bool(half))

    def __repr__(self) -> str:
        return f"HuggingFaceVictim({self.name!r})"

    def scores(self, texts: Sequence[str]) -> Floats:
        """(N, C) logits."""
        return self.reader.scores(texts)

    def cut(self, texts: Sequence[str]) -> list[bool]:
        """Whether each text is longer than the model reads."""
        longest = self.reader.longest
        if longest is None:
            return [False] * len(texts)
        return [length > longest for length in self.reader.read(texts, whole=True).lengths.tolist()]

    def oracle(self, space: Space, goal: Goal) -> Oracle:
        """With gradients, unless the model cannot be given vectors in place of tokens (as BART and T5)."""
        return (SubwordOracle if self.reader.reads_mixtures else TextOracle)(self, space, goal)


def load(name: str) -> tuple[Any, Any]:
    """A model and its tokeniser, from a folder or the hub, or a sentence about why not."""
    transformers = need("transformers", extra="hf", reason=REASON)
    need("torch", extra="hf", reason=REASON)
    if not name:
        raise ValueError("hf: names no model; give hf:NAME for one on the hub, or hf:FOLDER")
    # A shell leaves the tilde of `hf:~/model` alone.
    folder = Path(name).expanduser()
    where = str(folder) if folder.is_dir() else name
    if folder.is_dir() and any(folder.glob("*.bin")) and not any(folder.glob("*.safetensors")):
        raise ValueError(
            f"the folder {name!r} has its weights only as a pickle, which could run anything; load it where you trust "
            "it, and save it again by save_pretrained, which writes safetensors"
        )
    try:
        with quiet(transformers, folder.is_dir()):
            model, report = transformers.AutoModelForSequenceClassification.from_pretrained(
                where, use_safetensors=True, trust_remote_code=False, output_loading_info=True
            )
            tokeniser = transformers.AutoTokenizer.from_pretrained(where, trust_remote_code=False)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ImportError, SafetensorError) as error:
        raise ValueError(why_not(name, folder, error)) from None
    missing = sorted(report["missing_keys"])
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise ValueError(
            f"{name!r} is no trained classifier: it lacks {missing[0]}{more}, which would be made up at random; "
            "fine-tune it first"
        )
    # Where there are no files, the library makes a tokeniser that knows its special tokens and nothing else.
    if len(tokeniser) <= len(tokeniser.all_special_ids):
        raise ValueError(f"{name!r} has no tokeniser; write it beside the model by tokenizer.save_pretrained")
    return model, tokeniser


@contextmanager
def quiet(transformers: Any, wanted: bool) -> Iterator[None]:
    """No bars and no reports of the library while this lasts: what they say of a folder is said here, in a sentence."""
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


def why_not(name: str, folder: Path, error: Exception) -> str:
    """One sentence about what is wrong with a name or a folder, and the way out."""
    said = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            return f"the folder {name!r} holds no model (no config.json); name one written by save_pretrained"
        return f"the folder {name!r} cannot be loaded as a text classifier: {said}"
    if name.startswith(("/", ".", "~")) or name.count("/") > 1:
        return f"there is no folder {name!r}; name one written by save_pretrained, or a model on the hub"
    return (
        f"{name!r} is no folder here and could not be had from the Hugging Face hub ({said}); "
        "check the name and the network, or name a folder written by save_pretrained"
    )
