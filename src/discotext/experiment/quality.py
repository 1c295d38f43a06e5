"""What the turned texts are like beside their originals: do they say the same, and do they read as well?

    similarity            cosine of the two texts' encodings by a sentence encoder
    perplexity_original   how much the original surprises a language model, as a geometric mean over its tokens
    perplexity            how much the adversarial text does

All are over successful attacks: an attack that fails shows nobody its text. Models judge here, and not people: a
similarity says which of two attacks strays further from its texts, not whether a reader would agree with either. And a
perplexity is a mean over tokens, so that a rare word written in several likely pieces may even lower it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from discotext.experiment.judges import LanguageModel, SentenceEncoder, Watch
from discotext.experiment.metrics import succeeded, summaries, under_budget
from discotext.experiment.work import Record
from discotext.intervals import bootstrap
from discotext.segments import Floats

# What each judge measures, how a table calls it, and with how many digits.
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

    judges: the names of the models, by `sentence_encoder` and `language_model`. cut: how many texts each did not read
    to the end.
    """

    settings: dict[str, Any]
    records: list[Record]
    judges: dict[str, str]
    cut: dict[str, int]

    @cached_property
    def summaries(self) -> list[dict[str, Any]]:
        """The summaries of the run, one for each budget, with the measures under each solver."""
        return with_quality(summaries(self.settings, self.records), self.records, self.judges)

    @property
    def summary(self) -> dict[str, Any]:
        return self.summaries[0]


def text_quality(
    result: Attacked,
    sentence_encoder: str | Path | None = None,
    language_model: str | Path | None = None,
    *,
    batch: int = 64,
    watch: Watch | None = None,
) -> Quality:
    """Judge the texts that turned the victim beside their originals: by meaning, by fluency, or by both.

    result: what `attack` or `compare` returned.
    sentence_encoder: a name on the hub or a folder; gives `similarity`, the cosine of both texts' encodings.
    language_model: the same, a causal one; gives `perplexity_original` and `perplexity`, before and after.
    batch: texts of 64 tokens a call; there are more of shorter and fewer of longer ones.
    watch: called after each call of a model with what it does, texts done, and texts in all.

    Each distinct text is judged once, however many solvers and budgets met it.
    """
    if sentence_encoder is None and language_model is None:
        raise ValueError("there is no model to judge the texts; give a sentence_encoder, a language_model, or both")
    # Both are loaded before either works: a wrong name is told at once.
    encoder = None if sentence_encoder is None else SentenceEncoder(str(sentence_encoder), batch)
    model = None if language_model is None else LanguageModel(str(language_model), batch)
    records = [dict(row) for row in result.records]
    won = [row for row in records if succeeded(row)]
    texts = list(dict.fromkeys(row[key] for row in won for key in ("text", "adversarial_text")))
    judges: dict[str, str] = {}
    cut: dict[str, int] = {}
    if encoder is not None:
        judges["sentence_encoder"] = encoder.name
        vectors, cut["sentence_encoder"] = encoder(texts, watch)
        at = dict(zip(texts, vectors, strict=True))
        for row in won:
            row["similarity"] = cosine(at[row["text"]], at[row["adversarial_text"]])
    if model is not None:
        judges["language_model"] = model.name
        values, cut["language_model"] = model(texts, watch)
        of = dict(zip(texts, values, strict=True))
        for row in won:
            row["perplexity_original"], row["perplexity"] = of[row["text"]], of[row["adversarial_text"]]
    return Quality(result.settings, records, judges, cut)


def cosine(first: Floats | None, second: Floats | None) -> float | None:
    """Of two vectors of length 1; rounding does not take it beyond 1.

    >>> cosine(np.array([0.6, 0.8]), np.array([1.0, 0.0]))
    0.6
    """
    return None if first is None or second is None else float(np.clip(first @ second, -1.0, 1.0))


def with_quality(
    found: Iterable[dict[str, Any]], records: Sequence[Record], judges: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Summaries with the judges' names, and under each solver the means of their measures over its successes."""
    names = [name for judge in judges for name in MEASURES[judge]]
    made = []
    for number, summary in enumerate(found):
        won = [row for row in under_budget(records, summary["budget"]) if succeeded(row)]
        solvers = {
            solver: {**row, **_means([one for one in won if one["solver"] == solver], names, summary["seed"] + number)}
            for solver, row in summary["solvers"].items()
        }
        made.append({**summary, "solvers": solvers, **judges})
    return made


def _means(rows: Sequence[Record], names: Sequence[str], seed: int) -> dict[str, float | None]:
    """Means with the bootstrap's 95 % interval; of nothing, None."""
    found: dict[str, float | None] = {}
    for name in names:
        values = [row[name] for row in rows if row[name] is not None]
        low, high = bootstrap(values, seed) if values else (None, None)
        found |= {name: float(np.mean(values)) if values else None, f"{name}_low": low, f"{name}_high": high}
    return found
