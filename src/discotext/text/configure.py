"""Candidates from options, as commands and scripts give them: names of sources and filters, files, numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from discotext.text.candidates import Candidates
from discotext.text.embedded import embedded_vectors
from discotext.text.filters import (
    FOR_OWN_LISTS,
    STANDARD,
    Filter,
    Frequency,
    Sense,
    Similarity,
    UnknownToVictim,
    filters_named,
)
from discotext.text.sources import AllOf, AnyOf, Listed, Source, Synonyms, VectorNeighbours, read_synonyms
from discotext.text.tagging import tagger_named
from discotext.text.vectors import WordVectors

SOURCES = ("neighbours", "wordnet", "list", "masked-lm")
# What `without` takes. "all" is all standard filters; what the victim cannot read is another matter.
SWITCHES = (*STANDARD, UnknownToVictim.name, "all")


def candidates_from(
    sources: Sequence[str] = (),
    combine: str = "any",
    synonyms: Sequence[str | Path] = (),
    vectors: str | Path | None = None,
    masked_lm: str | None = None,
    without: Sequence[str] = (),
    sentence_encoder: str | None = None,
    similarity: float | None = None,
    sense: float | None = None,
    tagger: str = "light",
    per_word: int = 8,
) -> Candidates:
    """Candidates by the names of their parts; what is not said is as it comes.

    sources: of `SOURCES`. combine: "any" or "all" of them. synonyms: files for the source "list". vectors: a file, for
    neighbours and similarity. without: filters that are switched off, of `SWITCHES`. per_word: candidates a word may
    have.

    >>> candidates_from(without=["phrase"], per_word=3).limit
    3
    """
    if combine not in ("any", "all"):
        raise ValueError(f"combine is {combine!r}; choose 'any' or 'all'")
    names = list(sources) or (["list"] if synonyms else ["masked-lm"] if masked_lm else ["neighbours", "wordnet"])
    for given, name, option in ((synonyms, "list", "synonyms"), (masked_lm, "masked-lm", "a masked language model")):
        if bool(given) != (name in names):
            problem = "is not among the sources" if given else f"is a source, but no {option} are given"
            raise ValueError(f"{name!r} {problem}; give both or neither")
    space = embedded_vectors() if vectors is None else WordVectors.read(vectors).unit()
    made: list[Source] = []
    for name in names:
        if name == "neighbours":
            made.append(VectorNeighbours(space))
        elif name == "wordnet":
            made.append(Synonyms())
        elif name == "list":
            merged: dict[str, list[str]] = {}
            for path in synonyms:
                for word, listed in read_synonyms(path).items():
                    merged[word] = list(dict.fromkeys([*merged.get(word, []), *listed]))
            made.append(Listed(merged))
        elif name == "masked-lm":
            from discotext.text.masked import MaskedModel

            made.append(MaskedModel(str(masked_lm)))
        else:
            raise ValueError(f"there is no source {name!r}; choose among {', '.join(SOURCES)}")
    source = made[0] if len(made) == 1 else AnyOf(tuple(made)) if combine == "any" else AllOf(tuple(made))
    standard = FOR_OWN_LISTS if names == ["list"] else tuple(STANDARD)
    standard += tuple(name for name, least in (("similarity", similarity), ("sense", sense)) if least is not None)
    for name in without:
        if name not in SWITCHES:
            raise ValueError(f"there is no filter {name!r} to switch off; choose among {', '.join(SWITCHES)}")
    kept = [] if "all" in without else [name for name in standard if name not in without]
    filters: list[Filter] = []
    for one in filters_named(kept):
        if isinstance(one, Similarity):
            one = Similarity(one.least if similarity is None else similarity, space)
        elif isinstance(one, Sense) and sense is not None:
            one = Sense(sense)
        elif isinstance(one, Frequency):
            one = Frequency(one.most, space)
        filters.append(one)
    if sentence_encoder:
        from discotext.text.masked import SentenceSimilarity

        filters.append(SentenceSimilarity(sentence_encoder))
    return Candidates(source, tuple(filters), tagger_named(tagger), per_word, UnknownToVictim.name in without)
