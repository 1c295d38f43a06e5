"""Any text classifier of the Hugging Face library as a victim.

It is loaded from a folder or from the hub, with weights from safetensors and code from the library alone: neither a
pickle nor a program of the model's author is ever run. Its scores are its logits. How it is asked about many texts is
in `subword_model`, how about mixtures of words in `subwords`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from discotext.extras import need
from discotext.goals import Goal
from discotext.oracle import Oracle
from discotext.redaction import printable
from discotext.segments import Floats
from discotext.text.space import Space
from discotext.victims.function import PROBE, said
from discotext.victims.model_files import check_files, check_size
from discotext.victims.subword_model import SubwordModel
from discotext.victims.subwords import SubwordOracle
from discotext.victims.victim import TextOracle, Victim, checked
from discotext.wrappers import is_out_of_memory

REASON = "a Hugging Face victim"


class HuggingFaceVictim(Victim):
    """A sequence classifier with a fast tokeniser.

    model: a name on the hub, a folder, or a model that is already there (it is then frozen, and put into evaluation
        mode); for the last, tokeniser is its tokeniser. A prefix `hf:` is ignored.
    device: such as "cuda:1"; a GPU where there is one.
    batch: texts of 64 tokens a call; there are more of shorter and fewer of longer ones.
    half: score in half precision, which only a GPU does fast; mixtures are always read in full precision.

    A model with one output is read as a yes or no: its output z becomes the scores −z/2 and z/2.
    """

    uses_gpu = True

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
            # Damage that loading does not notice shows when the model is asked.
            with one_sentence(name):
                self._set_up(name, model, tokeniser, device, batch, bool(half))
                checked(self, [PROBE, f"{PROBE} longer text"])
        else:
            self._set_up(
                model.config._name_or_path or type(model).__name__, model, tokeniser, device, batch, bool(half)
            )

    def _set_up(self, name: str, model: Any, tokeniser: Any, device: str | None, batch: int, half: bool) -> None:
        if tokeniser is None or not tokeniser.is_fast:
            raise ValueError(f"{name!r} has no fast tokeniser; give one that says which letters each token stands for")
        if model.config.problem_type == "multi_label_classification":
            raise ValueError(
                f"{name!r} gives a text several labels at once; choose a model that gives it one, "
                "or make a victim of your own from one of its labels"
            )
        self.name = f"hf:{name}"
        names = [printable(str(model.config.id2label.get(n, n))) for n in range(model.config.num_labels)]
        self.labels = tuple(names) if len(names) > 1 else (f"not {names[0]}", names[0])
        self.reader = SubwordModel(model, tokeniser, device, batch, half)

    def __repr__(self) -> str:
        return f"HuggingFaceVictim({self.name!r})"

    def scores(self, texts: Sequence[str]) -> Floats:
        """(N, C) logits."""
        try:
            return self.reader.scores(texts)
        except Exception as error:
            # Smaller calls are the cure for that, and whoever makes the calls knows it.
            if is_out_of_memory(error):
                raise
            raise ValueError(f"{self.name} raised {said(error)}") from error

    def truncates(self, texts: Sequence[str]) -> list[bool]:
        longest = self.reader.longest
        if longest is None:
            return [False] * len(texts)
        return [length > longest for length in self.reader.read(texts, whole=True).lengths.tolist()]

    @cached_property
    def gradients(self) -> bool:  # type: ignore[override]
        """Whether the model reads vectors in place of tokens, and has gradients for them (BART and T5 do not)."""
        return self.reader.reads_mixtures

    def oracle(self, space: Space, goal: Goal) -> Oracle:
        return SubwordOracle(self, self.reader, space, goal) if self.gradients else TextOracle(self, space, goal)


def load(name: str) -> tuple[Any, Any]:
    """A model and its tokeniser, from a folder or the hub, or a sentence about why not."""
    transformers = need("transformers", extra="hf", reason=REASON)
    torch = need("torch", extra="hf", reason=REASON)
    if not name:
        raise ValueError("hf: names no model; give hf:NAME for one on the hub, or hf:FOLDER")
    # A shell leaves the tilde of `hf:~/model` alone.
    folder = Path(name).expanduser()
    with one_sentence(name), quiet(transformers, folder.is_dir()):
        where = folder if folder.is_dir() else download(name)
        numbers = check_files(where)
        kind = transformers.AutoModelForSequenceClassification
        config = transformers.AutoConfig.from_pretrained(where, trust_remote_code=False)
        with torch.device("meta"):  # it has shapes and takes no memory
            check_size(kind.from_config(config, trust_remote_code=False), numbers)
        model, report = kind.from_pretrained(
            where, use_safetensors=True, trust_remote_code=False, output_loading_info=True, ignore_mismatched_sizes=True
        )
        tokeniser = transformers.AutoTokenizer.from_pretrained(where, trust_remote_code=False)
        check_whole(report, tokeniser)
    return model, tokeniser


def download(name: str) -> Path:
    """The folder with a model of the hub: its settings and its safetensors files, nothing that can run."""
    hub = need("huggingface_hub", extra="hf", reason=REASON)
    wanted = ["*.json", "*.txt", "*.model", "*.safetensors"]
    return Path(hub.snapshot_download(name, allow_patterns=wanted, ignore_patterns=["*/*"]))


def check_whole(report: Mapping[str, Any], tokeniser: Any) -> None:
    """Raise a sentence if a model is not trained, or its weights are another's, or it has no tokeniser."""
    # A number in a name is that of a layer: a model that leaves out a layer is not the one that was trained.
    left = sorted(key for key in report["unexpected_keys"] if re.search(r"\.\d+\.", key))
    if left:
        raise ValueError(f"its weights hold {left[0]}, for which its config.json has no place")
    for key, stored, described in report["mismatched_keys"]:
        raise ValueError(
            f"its weights {key} have shape {tuple(stored)}, but its config.json asks for {tuple(described)}"
        )
    lacking = sorted(report["missing_keys"])
    if lacking:
        more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        raise ValueError(
            f"it is no trained classifier: it lacks {lacking[0]}{more}, which would be made up at random; fine-tune it "
            "first"
        )
    # Where there are no files, the library makes a tokeniser that knows its special tokens and nothing else.
    if len(tokeniser) <= len(tokeniser.all_special_ids):
        raise ValueError("it has no tokeniser; write it beside the model by tokenizer.save_pretrained")


@contextmanager
def one_sentence(name: str) -> Iterator[None]:
    """Whatever a model's files lead the library to raise becomes one sentence about them."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # what libraries written in Rust raise is no Exception
        if is_missing_extra(error):
            raise
        raise ValueError(why_not(name, Path(name).expanduser(), error)) from None


def is_missing_extra(error: BaseException) -> bool:
    return isinstance(error, ImportError) and "pip install" in str(error) and "discotext[" in str(error)


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


def why_not(name: str, folder: Path, error: BaseException) -> str:
    """One sentence about what is wrong with a name or a folder, and the way out."""
    said = (str(error).strip().splitlines() or [""])[0].rstrip(".")
    if not isinstance(error, ValueError | OSError) or not said:
        said = f"{type(error).__name__}: {said}" if said else type(error).__name__
    if folder.is_dir():
        return f"the folder {name!r} cannot be loaded as a text classifier: {said}"
    if name.startswith(("/", ".", "~")) or name.count("/") > 1:
        return f"there is no folder {name!r}; name one written by save_pretrained, or a model on the hub"
    return (
        f"{name!r} is no folder here and could not be had from the Hugging Face hub ({said}); "
        "check the name and the network, or name a folder written by save_pretrained"
    )
