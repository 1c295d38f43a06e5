"""A victim made of a Keras model that takes strings: it begins with a `TextVectorization`, or splits by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from discotext.support.errors import describe_error
from discotext.victims.function import PROBE, FunctionVictim

WAY = "pass a function that prepares the texts: lambda texts: model.predict(prepare(texts))"


class KerasCall:
    """Calls a Keras model with texts, in the way that it accepts.

    `predict` of Keras takes an array of strings; that of a model with its own preprocessing, as KerasHub has them, may
    take a list only.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        failures = []
        for call in (self._predict_array, self._predict_list):
            try:
                if len(call([PROBE, f"{PROBE} longer text"])) == 2:
                    self.call = call
                    return
            except Exception as error:  # Keras and its backends raise anything
                failures.append(describe_error(error)[:120])
        failures = failures or ["its answer does not have a row for each text"]
        raise ValueError(f"the Keras model {model.name!r} cannot be called with texts ({failures[0]}); {WAY}")

    def _predict_array(self, texts: list[str]) -> Any:
        return self.model.predict(np.array(texts, dtype=object), verbose=0)

    def _predict_list(self, texts: list[str]) -> Any:
        return self.model.predict(texts, verbose=0)

    def __call__(self, texts: list[str]) -> Any:
        return self.call(texts)


def load_keras(model: Any) -> FunctionVictim:
    """Return a Keras model as a victim; ValueError if it takes numbers instead of strings."""
    # A model without a graph, such as a Sequential one before its first call, has no inputs yet.
    kinds = [str(one.dtype) for one in getattr(model, "inputs", None) or ()]
    if kinds and kinds != ["string"]:
        raise ValueError(f"the Keras model {model.name!r} takes {' and '.join(kinds)}, not strings; {WAY}")
    return FunctionVictim(KerasCall(model), name=f"keras:{model.name}")
