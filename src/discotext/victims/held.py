"""Objects that people hold in Python, as victims: models and pipelines of transformers, scikit-learn, spaCy and Keras.

They are recognised by the modules of their classes, so that looking at an object of one library imports none of the
others. What is not recognised is left to the caller; what is recognised and cannot be attacked raises an error of one
sentence that says what to pass instead.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from discotext.support.errors import describe_error
from discotext.support.extras import require
from discotext.victims.function import PROBE, FunctionVictim
from discotext.victims.victim import Victim, compute_scores

ACCEPTED = (
    "a transformers text-classification pipeline, a pair (model, tokenizer) of transformers, a fitted scikit-learn "
    "pipeline, a spaCy pipeline with a textcat, a Keras model that takes strings, a function from a list of texts to "
    "scores, or a Victim"
)
FUNCTION = "a function from a list of texts to scores, such as lambda texts: model(tokenize(texts))"
PROBES = [PROBE, "This is a long text about a good film, and a very bad book."]
# How far the logits of a pipeline and of its model may be apart, relative to their size: in single and half precision.
AGREES, AGREES_HALF = 1e-4, 1e-2


def adopt(given: Any) -> Victim | None:
    """Return the victim that an object is; None for one that is not recognised, such as a function."""
    if isinstance(given, type):
        raise TypeError(f"{given.__name__} is a class; pass an object of it, fitted or loaded")
    if isinstance(given, list | tuple):
        return _hold_pair(given)
    for belongs, hold in HELD:
        if belongs(given):
            return hold(given)
    return None


def comes_from(given: Any, library: str, *names: str) -> bool:
    """Return whether an object's class, or one it inherits from, is of a library, and has one of these names.

    >>> from collections import Counter
    >>> comes_from(Counter(), "collections"), comes_from(Counter(), "collections", "OrderedDict")
    (True, False)
    """
    return any(
        one.__module__.partition(".")[0] == library and (not names or one.__name__ in names)
        for one in type(given).__mro__
    )


# --- transformers


def is_transformer(given: Any) -> bool:
    """Return whether an object is a model of transformers, or one that is wrapped, with the same configuration."""
    if comes_from(given, "transformers", "PreTrainedModel"):
        return True
    return comes_from(given, "torch", "Module") and hasattr(getattr(given, "config", None), "id2label")


def _is_tokenizer(given: Any) -> bool:
    return comes_from(given, "transformers", "PreTrainedTokenizerBase")


def _hold_pair(given: Any) -> Victim:
    """A model and its tokenizer, in either order."""
    models, tokenizers = [one for one in given if is_transformer(one)], [one for one in given if _is_tokenizer(one)]
    if len(given) != 2 or len(models) != 1 or len(tokenizers) != 1:
        parts = ", ".join(type(one).__name__ for one in given[:4])
        raise TypeError(
            f"a {type(given).__name__} of {len(given)} ({parts or 'nothing'}) is not a pair (model, tokenizer) of "
            f"transformers; pass {ACCEPTED}"
        )
    return _hold_model(models[0], tokenizers[0])


def _hold_model(model: Any, tokenizer: Any) -> Victim:
    """A classifier of transformers, on the device where it is."""
    from discotext.victims.huggingface import HuggingFaceVictim

    kind = type(model).__name__
    try:
        victim = HuggingFaceVictim(model, tokenizer, device=str(model.device))
        compute_scores(victim, PROBES)
    except ValueError as error:
        if "ForSequenceClassification" in kind:
            raise
        raise ValueError(
            f"the {kind} does not classify texts ({error}); pass a model of AutoModelForSequenceClassification"
        ) from error
    return victim


def _find_tokenizer(model: Any) -> Victim:
    """A classifier of transformers, with the tokenizer that its name leads to."""
    name = getattr(model.config, "_name_or_path", None) or getattr(model, "name_or_path", None)
    kind = type(model).__name__
    way = f"pass the pair (model, tokenizer) instead of the {kind} alone"
    if not name:
        raise ValueError(f"the {kind} has no name by which its tokenizer could be found; {way}")
    transformers = require("transformers", extra="hf", reason="a Hugging Face model")
    from discotext.text.pretrained import find_local, has_vocabulary, silence

    try:
        with silence(transformers, True):
            local = find_local(str(name), "a tokenizer") is not None
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                name, trust_remote_code=False, local_files_only=local
            )
        found = has_vocabulary(tokenizer)
    except Exception as error:  # whatever the library raises about a name or a folder
        reason = describe_error(error)[:120]
        raise ValueError(f"no tokenizer of the {kind} was found at {str(name)!r} ({reason}); {way}") from None
    rows = model.get_input_embeddings().weight.shape[0]
    if not found or len(tokenizer) > rows:
        what = f"has {len(tokenizer):,} tokens, but the model {rows:,}" if found else "is empty"
        raise ValueError(f"the tokenizer at {str(name)!r} is not that of the {kind}: it {what}; {way}")
    return _hold_model(model, tokenizer)


def _unwrap_pipeline(pipe: Any) -> Victim:
    """The model of a pipeline, so that it has gradients; the pipeline itself if it does more than its model."""
    if not comes_from(pipe, "transformers", "TextClassificationPipeline"):
        raise TypeError(
            f"a transformers pipeline for {getattr(pipe, 'task', None)!r} does not classify texts; pass one for "
            f"'text-classification', or {FUNCTION}"
        )
    if pipe.tokenizer is None:
        raise ValueError("the transformers pipeline has no tokenizer; pass the pair (model, tokenizer)")
    victim = _hold_model(pipe.model, pipe.tokenizer)
    limit = getattr(pipe, "_preprocess_params", {}).get("max_length")
    if isinstance(limit, int):
        victim.reader.longest = min(limit, victim.reader.longest or limit)  # type: ignore[attr-defined]
    if _agrees(pipe, victim):
        return victim
    warnings.warn(
        f"the transformers pipeline answers differently from its model and tokenizer ({victim.name}), so that it is "
        "attacked by its own answers, without gradients",
        stacklevel=2,
    )
    function = functools.partial(pipe, top_k=None)
    found = FunctionVictim(function, name=victim.name)
    # The answers name the classes in no order; the model has one.
    same = set(found.labels) == set(victim.labels)
    return FunctionVictim(function, labels=victim.labels, name=victim.name) if same else found


def _agrees(pipe: Any, victim: Victim) -> bool:
    """Whether a pipeline returns its model's logits when asked for them."""
    try:
        found = [pipe(text, top_k=None, function_to_apply="none") for text in PROBES]
        rows = [{one["label"]: float(one["score"]) for one in row} for row in found]
    except Exception:  # a pipeline of one's own may take other arguments, or return anything
        return False
    scores = victim.scores(PROBES)
    if len(rows[0]) == 1:  # a single logit, which the victim has halved
        ours, theirs = scores[:, 1:] - scores[:, :1], np.array([list(row.values()) for row in rows])
    elif any(set(row) != set(victim.labels) for row in rows):
        return False
    else:
        ours, theirs = scores, np.array([[row[label] for label in victim.labels] for row in rows])
    apart = AGREES_HALF if "float16" in str(pipe.model.dtype) else AGREES
    return bool(np.abs(ours - theirs).max() <= apart * (1 + np.abs(ours).max()))


# --- other libraries


def _hold_module(module: Any) -> Victim:
    raise TypeError(
        f"the PyTorch module {type(module).__name__} takes numbers, not texts; pass {FUNCTION}, or write a Victim to "
        "give it gradients (docs/how-to/write-a-victim.md)"
    )


def _hold_spacy(pipeline: Any) -> Victim:
    from discotext.victims.spacy_pipeline import SpacyVictim

    return SpacyVictim(pipeline)


def _hold_keras(model: Any) -> Victim:
    from discotext.victims.keras_model import load_keras

    return load_keras(model)


def _is_sklearn(given: Any) -> bool:
    return hasattr(given, "predict_proba") or hasattr(given, "decision_function")


def _hold_sklearn(pipeline: Any) -> Victim:
    from discotext.victims.scikit import SklearnVictim

    return SklearnVictim(pipeline)


def _refuse_estimator(estimator: Any) -> Victim:
    kind = type(estimator).__name__
    if hasattr(estimator, "predict"):
        raise TypeError(
            f"the scikit-learn estimator {kind} has neither decision_function nor predict_proba; pass "
            "FunctionVictim(model.predict, labels=[…]) to attack its predicted classes, or a classifier that has one"
        )
    raise TypeError(f"the scikit-learn estimator {kind} is not a classifier; pass a fitted pipeline that ends in one")


def _refuse_tokenizer(tokenizer: Any) -> Victim:
    raise TypeError(f"the {type(tokenizer).__name__} is a tokenizer without a model; pass the pair (model, tokenizer)")


# The first that fits holds the object; a library's own classes come before what they inherit from.
HELD: tuple[tuple[Callable[[Any], bool], Callable[[Any], Victim]], ...] = (
    (lambda given: comes_from(given, "transformers", "Pipeline"), _unwrap_pipeline),
    (is_transformer, _find_tokenizer),
    (_is_tokenizer, _refuse_tokenizer),
    (lambda given: comes_from(given, "spacy", "Language"), _hold_spacy),
    (lambda given: any(comes_from(given, name, "Model") for name in ("keras", "tf_keras")), _hold_keras),
    (_is_sklearn, _hold_sklearn),
    (lambda given: comes_from(given, "sklearn", "BaseEstimator"), _refuse_estimator),
    (lambda given: comes_from(given, "torch", "Module"), _hold_module),
)


def refuse(given: Any, names: str) -> TypeError:
    """Return the error for an object that is no victim. names: the names by which victims are given."""
    kind = type(given).__name__
    what = "None" if given is None else f"{'an' if kind[0] in 'aeiouAEIOU' else 'a'} {kind}"
    return TypeError(f"{what} cannot be used as a victim; pass {ACCEPTED}; or the name of one: {names}")
