"""Any text classifier of the Hugging Face library as a victim.

It is loaded from a folder or from the hub, with weights from safetensors and code from the library alone: neither a
pickle nor code by the model's author is ever executed. Its scores are its logits. `subword_model` scores many texts,
`subwords` mixtures of words.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from discotext.core.arrays import Floats
from discotext.core.objectives import Objective
from discotext.core.oracle import Oracle
from discotext.core.wrappers import is_out_of_memory
from discotext.models.pretrained import explain_loading_errors, load_pretrained, silence
from discotext.support.extras import require
from discotext.support.plain_text import describe_error, escape_unprintable
from discotext.text.space import Space
from discotext.victims.folder import write_folder
from discotext.victims.function import FunctionVictim
from discotext.victims.score_reader import PROBE
from discotext.victims.transformers.subword_model import SubwordModel, choose_device
from discotext.victims.transformers.subwords import SubwordOracle
from discotext.victims.victim import Capabilities, TextOracle, Victim, check_distinct, compute_scores

FOLDER_KIND, MODEL = "hf", "model"  # of a saved victim, and the folder inside that save_pretrained writes
ROLE = "a text classifier"
PAIR = "the pair (model, tokenizer)"
PROBES = [PROBE, "This is a long text about a good film, and a very bad book."]
# How far the logits of a pipeline and of its model may be apart, relative to their size: in single and half precision.
AGREES, AGREES_HALF = 1e-4, 1e-2


class HuggingFaceVictim(Victim):
    """A sequence classifier with a fast tokeniser.

    model: a name on the hub, a folder, or a loaded model, which is then frozen and put into evaluation mode. A prefix
        `hf:` is ignored.
    tokeniser: of a loaded model; otherwise it is loaded with the model.
    device: such as "cuda:1"; by default a GPU if there is one.
    batch: texts of 64 tokens per call; more of shorter and fewer of longer texts.
    half: compute scores in half precision, on a GPU only; mixtures are always read in full precision.

    A model with a single output z is read as binary: the scores of the two classes are −z/2 and z/2.
    """

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
        device = choose_device(device)
        named = isinstance(model, str | Path)
        name = str(model).removeprefix("hf:") if named else model.config._name_or_path or type(model).__name__
        if not name:
            raise ValueError("hf: is followed by no name; use hf:NAME for a model on the hub, or hf:FOLDER")
        if named:
            tokeniser, model = load_pretrained(name, "AutoModelForSequenceClassification", ROLE)
        with explain_loading_errors(name, ROLE) if named else nullcontext():
            if tokeniser is None or not tokeniser.is_fast:
                raise ValueError(
                    f"{name!r} has no fast tokeniser; pass one, since only those report the characters of each token"
                )
            if model.config.problem_type in ("multi_label_classification", "regression"):
                raise ValueError(
                    f"{name!r} does not choose one class (problem_type of its config.json is "
                    f"{model.config.problem_type}); choose a single-label classifier, or pass a function that makes "
                    "one of its outputs"
                )
            self.name = f"hf:{name}"
            names = [escape_unprintable(str(model.config.id2label.get(n, n))) for n in range(model.config.num_labels)]
            check_distinct(names, f"{name!r} (id2label of its config.json)")
            self.labels = tuple(names) if len(names) > 1 else (f"not {names[0]}", names[0])
            self.reader = SubwordModel(model, tokeniser, device, batch, bool(half))
            if named:
                # Damage that loading does not notice shows in the first scores.
                compute_scores(self, [PROBE, f"{PROBE} longer text"])

    def save(
        self, folder: str | Path, settings: Mapping[str, Any] | None = None, more: Mapping[str, bytes] | None = None
    ) -> None:
        inner = Path(folder) / MODEL
        inner.mkdir(parents=True, exist_ok=True)
        with silence(require("transformers", extra="hf", reason=ROLE)):
            self.reader.model.save_pretrained(inner, safe_serialization=True)
            self.reader.tokeniser.save_pretrained(inner)
        written = sorted(path.relative_to(folder).as_posix() for path in inner.rglob("*") if path.is_file())
        write_folder(folder, {"kind": FOLDER_KIND}, self.labels, settings or {}, more or {}, written)

    def scores(self, texts: Sequence[str]) -> Floats:
        """(N, C) logits."""
        try:
            return self.reader.scores(texts)
        except Exception as error:
            # The caller handles this one by making smaller calls.
            if is_out_of_memory(error):
                raise
            raise ValueError(f"{self.name} raised {describe_error(error)}") from error

    def truncates(self, texts: Sequence[str]) -> list[bool]:
        longest = self.reader.longest
        if longest is None:
            return [False] * len(texts)
        return [length > longest for length in self.reader.read(texts, whole=True).lengths.tolist()]

    @cached_property
    def capabilities(self) -> Capabilities:  # type: ignore[override]
        """It has gradients if the model accepts vectors in place of tokens, and has them there (BART and T5 do not).

        Finding out takes a few passes, so it is done when it is first needed.
        """
        return Capabilities(gradients=self.reader.reads_mixtures, uses_gpu=True)

    def oracle(self, space: Space, objective: Objective) -> Oracle:
        if self.capabilities.gradients:
            return SubwordOracle(self, self.reader, space, objective)
        return TextOracle(self, space, objective)


# --- what people hold in Python


def hold(given: Any) -> Victim:
    """Return a pipeline, or a pair (model, tokenizer) in either order, as a victim."""
    transformers = require("transformers", extra="hf", reason="a Hugging Face model")
    if isinstance(given, transformers.Pipeline):
        return _hold_pipeline(given, transformers)
    parts = given if isinstance(given, list | tuple) else [given]
    tokenizers = [one for one in parts if isinstance(one, transformers.PreTrainedTokenizerBase)]
    # A model of transformers, or one that is wrapped, with the same configuration.
    models = [one for one in parts if hasattr(getattr(one, "config", None), "id2label")]
    if not len(models) == len(tokenizers) == 1 or len(parts) > 2:
        found = ", ".join(type(one).__name__ for one in parts[:4]) or "nothing"
        raise TypeError(f"{found} is not a classifier of transformers with its tokenizer; pass a pipeline or {PAIR}")
    return hold_model(models[0], tokenizers[0])


def hold_model(model: Any, tokenizer: Any) -> HuggingFaceVictim:
    """A classifier, on the device where it is."""
    victim = HuggingFaceVictim(model, tokenizer, device=str(model.device))
    try:
        compute_scores(victim, PROBES)
    except ValueError as error:
        raise ValueError(
            f"the {type(model).__name__} does not classify texts ({error}); pass a model of "
            "AutoModelForSequenceClassification"
        ) from error
    return victim


def _hold_pipeline(pipe: Any, transformers: Any) -> Victim:
    """The model of a pipeline, so that it has gradients; the pipeline itself if it does more than its model."""
    if not isinstance(pipe, transformers.TextClassificationPipeline) or pipe.tokenizer is None:
        raise TypeError(
            f"a transformers pipeline for {pipe.task!r} does not classify texts; pass one for 'text-classification', "
            "with a tokenizer"
        )
    victim = hold_model(pipe.model, pipe.tokenizer)
    limit = vars(pipe).get("_preprocess_params", {}).get("max_length")
    if isinstance(limit, int):
        victim.reader.longest = min(limit, victim.reader.longest or limit)
    if _agrees(pipe, victim):
        return victim
    warnings.warn(
        f"the transformers pipeline answers differently from its model and tokenizer ({victim.name}), so that it is "
        "attacked by its own answers, without gradients",
        stacklevel=2,
    )
    # The answers name the classes in no order; the model has one.
    return FunctionVictim(functools.partial(pipe, top_k=None), labels=victim.labels, name=victim.name)


def _agrees(pipe: Any, victim: Victim) -> bool:
    """Whether a pipeline returns its model's logits when asked for them."""
    scores = victim.scores(PROBES)
    try:
        found = [pipe(text, top_k=None, function_to_apply="none") for text in PROBES]
        rows = [{one["label"]: float(one["score"]) for one in row} for row in found]
        if len(rows[0]) == 1:  # a single logit, which the victim has halved
            ours, theirs = scores[:, 1:] - scores[:, :1], np.array([list(row.values()) for row in rows])
        else:
            ours, theirs = scores, np.array([[row[label] for label in victim.labels] for row in rows])
    except Exception:  # a pipeline of one's own may take other arguments, or return anything
        return False
    apart = AGREES_HALF if "float16" in str(pipe.model.dtype) else AGREES
    return bool(np.abs(ours - theirs).max() <= apart * (1 + np.abs(ours).max()))
