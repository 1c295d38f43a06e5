"""How often does the light tagger agree with spaCy, its teacher, on texts that neither was trained on?

Measured on the first 300 test texts of IMDB, AG News and TREC: the share of words with the same Penn Treebank tag, with
the same class (noun, name, verb, adjective, adverb, other), and the words per second of both on one thread. The light
tagger was trained on film reviews only, so AG News and TREC are out of domain. spaCy is not the truth: where the two
differ, either may be wrong.

Two rows show the effect of capitals: the IMDB texts in lower case, and their first nine words capitalised like a
headline. Both taggers are then compared with spaCy's tags of the unchanged text.

    DISCOTEXT_DATA=folder python -m benchmarks.tagging

The folder contains imdb_test.parquet, ag_news_test.parquet and trec_test.parquet, each with a column `text`.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# NumPy reads these variables when it is imported.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

from benchmarks.results_file import save, show
from discotext.text.tagging import LightTagger, SpacyTagger, Tagger
from discotext.text.words import Words, split

SETS = ("imdb_test", "ag_news_test", "trec_test")
TEXTS = 300


def word_class(tag: str) -> str:
    """The class of a tag. Modal verbs (MD) count as other, since no verb replaces them."""
    names = {"NN": "noun", "NNS": "noun", "NNP": "name", "NNPS": "name"}
    return names.get(tag) or {"VB": "verb", "JJ": "adjective", "RB": "adverb"}.get(tag[:2], "other")


def read(folder: Path, name: str) -> list[Words]:
    """The first texts of a set."""
    from pyarrow import parquet  # type: ignore[import-untyped, unused-ignore]

    return [split(text) for text in parquet.read_table(folder / f"{name}.parquet")["text"].to_pylist()[:TEXTS]]


def tag_timed(tagger: Tagger, texts: list[Words]) -> tuple[list[list[str]], float]:
    """Tag all texts; also returns words per second."""
    began = time.perf_counter()
    tags = tagger.tag(texts)
    return tags, sum(map(len, tags)) / (time.perf_counter() - began)


def change_case(text: Words, change: Callable[[str], str], count: int) -> Words:
    """The first words of a text, each changed by a function."""
    return Words(tuple(map(change, text.words[:count])), text.gaps[: min(count, len(text)) + 1])


def headline(word: str) -> str:
    return word[:1].upper() + word[1:]


def agreement(tags: list[list[str]], others: list[list[str]]) -> tuple[float, float]:
    """The shares of words with the same tag and with the same class, up to the shorter length."""
    pairs = [pair for some, other in zip(tags, others, strict=True) for pair in zip(some, other, strict=False)]
    return sum(a == b for a, b in pairs) / len(pairs), sum(word_class(a) == word_class(b) for a, b in pairs) / len(
        pairs
    )


def measure(name: str, texts: list[Words], light: Tagger, teacher: Tagger, truth: list[list[str]] | None = None) -> Any:
    """A row of the table, and spaCy's tags."""
    ours, our_speed = tag_timed(light, texts)
    theirs, their_speed = tag_timed(teacher, texts)
    same_tag, same_class = agreement(ours, truth or theirs)
    row = {
        "set": name,
        "texts": len(texts),
        "words": sum(map(len, texts)),
        "same_tag": same_tag,
        "same_class": same_class,
        "spacy_same_class": agreement(theirs, truth or theirs)[1],
        "light_words_per_second": round(our_speed),
        "spacy_words_per_second": round(their_speed),
    }
    return row, theirs


def main() -> None:
    """Measure, show and save."""
    folder = os.environ.get("DISCOTEXT_DATA")
    if folder is None or not all((Path(folder) / f"{name}.parquet").exists() for name in SETS):
        sys.exit(f"set DISCOTEXT_DATA to a folder that holds {', '.join(f'{name}.parquet' for name in SETS)}")
    try:
        teacher = SpacyTagger()
    except ImportError as error:
        sys.exit(str(error))
    light = LightTagger()
    warm = [split("The first text pays for loading.")]
    light.tag(warm), teacher.tag(warm)
    texts = {name: read(Path(folder), name) for name in SETS}
    rows, tags = map(list, zip(*(measure(name, texts[name], light, teacher) for name in SETS), strict=True))
    for name, change, count in (("in small letters", str.lower, 1 << 30), ("as headlines", headline, 9)):
        changed = [change_case(text, change, count) for text in texts[SETS[0]]]
        rows.append(measure(f"{SETS[0]} {name}", changed, light, teacher, tags[0])[0])
    show("The light tagger compared with spaCy", rows)
    # Figures depend on the pipeline, so its name and version are part of the result.
    meta = teacher.pipeline.meta
    save("tagging", [{**row, "teacher": f"{meta['name']} {meta['version']}"} for row in rows])


if __name__ == "__main__":
    main()
