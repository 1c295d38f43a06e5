"""How flipped texts compare with their originals: do they say the same, and do they read as well?

    similarity            cosine of the two texts' encodings by a sentence encoder
    perplexity_original   how much the original surprises a language model, as a geometric mean over its tokens
    perplexity            how much the adversarial text does

All are over successful attacks: the text of a failed attack is not shown to anyone. Models judge here, not people: a
similarity says which of two attacks strays further from its texts, not whether a reader would agree with either. And
perplexity is a mean over tokens, so a rare word that is written in several likely pieces may even lower it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from discotext.core.arrays import Floats
from discotext.experiment.judges import LanguageModel, SentenceEncoder, TextProgress
from discotext.experiment.record import Record
from discotext.experiment.summary import Estimate, Summary, estimate_mean, summarise_run, under_budget

# What each judge measures, its heading in a table, and how many digits to print.
MEASURES = {
    "sentence_encoder": {"similarity": ("similarity", 3)},
    "language_model": {"perplexity_original": ("perplexity before", 1), "perplexity": ("perplexity after", 1)},
}


class Attacked(Protocol):
    """What `attack`, `compare` and a run folder give."""

    @property
    def settings(self) -> dict[str, Any]: ...

    @property
    def records(self) -> list[Record]: ...


@dataclass(frozen=True)
class Quality:
    """Records with the measures of each successful attack, and what they say together.

    judges: the names of the models, by `sentence_encoder` and `language_model`. truncated: how many texts each of them
    did not read to the end.
    """

    settings: dict[str, Any] = field(repr=False)
    records: list[Record] = field(repr=False)
    judges: dict[str, str]
    truncated: dict[str, int]

    @cached_property
    def summaries(self) -> list[Summary]:
        """The summaries of the run, one for each budget, with the measures of each solver."""
        return add_quality(summarise_run(self.settings, self.records), self.records, self.judges)

    @property
    def summary(self) -> Summary:
        return self.summaries[0]


def text_quality(
    result: Attacked,
    sentence_encoder: str | Path | None = None,
    language_model: str | Path | None = None,
    *,
    batch: int = 64,
    watch: TextProgress | None = None,
) -> Quality:
    """Compare flipped texts with their originals: by meaning, by fluency, or by both.

    result: what `attack` or `compare` returned.
    sentence_encoder: a name on the hub or a folder; gives `similarity`, the cosine of both texts' encodings.
    language_model: the same, a causal one; gives `perplexity_original` and `perplexity`, before and after.
    batch: texts of 64 tokens in one call; more of shorter and fewer of longer ones.
    watch: called after each call of a model with a description, texts done, and texts in all.

    Each distinct text is judged once, however many solvers and budgets met it.
    """
    if sentence_encoder is None and language_model is None:
        raise ValueError("there is no model to judge the texts; give a sentence_encoder, a language_model, or both")
    # Both are loaded before either is used: a wrong name is reported at once.
    encoder = None if sentence_encoder is None else SentenceEncoder(str(sentence_encoder), batch)
    model = None if language_model is None else LanguageModel(str(language_model), batch)
    flipped = [row for row in result.records if row.succeeded]
    texts = list(dict.fromkeys(text for row in flipped for text in (row.text, row.adversarial_text)))
    judges: dict[str, str] = {}
    truncated: dict[str, int] = {}
    vectors: dict[str, Floats | None] = {}
    perplexities: dict[str, float | None] = {}
    if encoder is not None:
        judges["sentence_encoder"] = encoder.name
        encodings, truncated["sentence_encoder"] = encoder(texts, watch)
        vectors = dict(zip(texts, encodings, strict=True))
    if model is not None:
        judges["language_model"] = model.name
        values, truncated["language_model"] = model(texts, watch)
        perplexities = dict(zip(texts, values, strict=True))
    records = [
        replace(
            row,
            similarity=cosine(vectors.get(row.text), vectors.get(row.adversarial_text)),
            perplexity_original=perplexities.get(row.text),
            perplexity=perplexities.get(row.adversarial_text),
        )
        if row.succeeded
        else row
        for row in result.records
    ]
    return Quality(result.settings, records, judges, truncated)


def cosine(first: Floats | None, second: Floats | None) -> float | None:
    """Of two vectors of length 1; rounding does not take it beyond 1.

    >>> cosine(np.array([0.6, 0.8]), np.array([1.0, 0.0]))
    0.6
    """
    return None if first is None or second is None else float(np.clip(first @ second, -1.0, 1.0))


def add_quality(found: Iterable[Summary], records: Sequence[Record], judges: Mapping[str, str]) -> list[Summary]:
    """Summaries with the judges' names, and for each solver the means of their measures over its successes."""
    names = [name for judge in judges for name in MEASURES[judge]]
    made = []
    for number, summary in enumerate(found):
        flipped = [row for row in under_budget(records, summary.budget, summary.accept) if row.succeeded]
        solvers = {
            solver: replace(
                row, quality=_means([one for one in flipped if one.solver == solver], names, summary.seed + number)
            )
            for solver, row in summary.solvers.items()
        }
        made.append(replace(summary, solvers=solvers, judges=judges))
    return made


def _means(rows: Sequence[Record], names: Sequence[str], seed: int) -> dict[str, Estimate | None]:
    values = {
        "similarity": [row.similarity for row in rows],
        "perplexity_original": [row.perplexity_original for row in rows],
        "perplexity": [row.perplexity for row in rows],
    }
    return {name: estimate_mean([one for one in values[name] if one is not None], seed) for name in names}
