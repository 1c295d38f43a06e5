"""How TextAttack queries the victim: scores of strings, and the gradient of the loss at each word.

    network    a network from `discotext train`, with its own `scores`
    stock      a transformer with TextAttack's own wrapper, which pads every text to the maximal length of the model
    dynamic    the same, padded to the longest text of the call

TextAttack ranks words by the 1-norm of the gradient of the loss of the predicted class in the word's vector (the mean
over its subwords). Its own wrappers switch dropout on for that; here it stays off, which can only help the ranking.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import cross_entropy, embedding

from benchmarks.peers.coding import Coded
from discotext.core.embedding import flush_denormals
from discotext.models.pretrained import load_pretrained
from discotext.victims import load_victim

Array = NDArray[Any]


@dataclass(frozen=True)
class Asking:
    """scores: strings to (R, C) logits. gradients: a text to (n, d), a row for each of its words."""

    model: Any
    scores: Callable[[list[str]], Array]
    gradients: Callable[[Coded], Array]


def load_ways(victim: str) -> dict[str, Asking]:
    """The ways to query a victim, by the suffix of the searches that use them."""
    if victim.startswith("hf:"):
        tokeniser, model = load_pretrained(
            victim.removeprefix("hf:"), "AutoModelForSequenceClassification", "a text classifier"
        )
        return transformer(model, tokeniser)
    made: Any = load_victim(victim)
    return {"": Asking(made.network, made.scores, lambda text: gradients_by_word(made, text))}


def transformer(model: Any, tokeniser: Any) -> dict[str, Asking]:
    from textattack.models.wrappers import HuggingFaceModelWrapper

    model.eval()
    stock = HuggingFaceModelWrapper(model, tokeniser)

    def padded(texts: list[str]) -> Array:
        return np.asarray(stock(texts).double().numpy())

    def dynamic(texts: list[str]) -> Array:
        with torch.no_grad():
            found = model(**tokeniser(texts, padding=True, truncation=True, return_tensors="pt")).logits
        return np.asarray(found.double().numpy())

    return {
        "": Asking(model, padded, lambda text: gradients_by_piece(model, tokeniser, text, "max_length")),
        "-dynamic": Asking(model, dynamic, lambda text: gradients_by_piece(model, tokeniser, text, True)),
    }


def gradients_by_word(victim: Any, text: Coded) -> Array:
    """(n, d) gradient of a network's loss in the vector of each word."""
    rows = torch.tensor(victim.vocabulary.rows(words[0] for words in text.options), dtype=torch.int64)
    vectors = embedding(rows, victim.table).unsqueeze(0).requires_grad_()
    with flush_denormals():
        logits = victim.network(vectors, torch.tensor([len(rows)]))
        (found,) = torch.autograd.grad(cross_entropy(logits, logits.argmax(1)), vectors)
    return np.asarray(found[0].numpy())


def gradients_by_piece(model: Any, tokeniser: Any, text: Coded, padding: bool | str) -> Array:
    """(n, d) gradient of a transformer's loss in the vectors of its subwords, averaged over each word."""
    inputs = tokeniser(
        [text.decode(text.original)],
        padding=padding,
        truncation=True,
        return_tensors="pt",
        return_offsets_mapping=True,
    )
    pieces = inputs.pop("offset_mapping")[0].numpy()
    vectors = model.get_input_embeddings()(inputs.pop("input_ids")).detach().requires_grad_()
    logits = model(inputs_embeds=vectors, **inputs).logits
    (found,) = torch.autograd.grad(cross_entropy(logits, logits.argmax(1)), vectors)
    return by_word(found[0].numpy(), pieces, np.array(spans_of(text)))


def spans_of(text: Coded) -> list[tuple[int, int]]:
    """Start and end of each original word."""
    found, at = [], len(text.gaps[0])
    for words, gap in zip(text.options, text.gaps[1:], strict=True):
        found.append((at, at + len(words[0])))
        at += len(words[0]) + len(gap)
    return found


def by_word(gradients: Array, pieces: Array, words: Array) -> Array:
    """(n, d) means over the subwords of each word; 0 if it has none. pieces, words: (·, 2) start and end."""
    out = np.zeros((len(words), gradients.shape[1]))
    for number, (begin, end) in enumerate(words):
        inside = np.flatnonzero((pieces[:, 0] >= begin) & (pieces[:, 1] <= end) & (pieces[:, 1] > pieces[:, 0]))
        if len(inside):
            out[number] = gradients[inside].mean(axis=0)
    return out
