"""Judgements of people: SWORDS (substitutes accepted or not) and CoInCo (substitutes that six people proposed)."""

from __future__ import annotations

import collections
import gzip
import json
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from scipy.stats import betabinom

from discotext.text.inflection import PARTS, inflect
from discotext.text.tagging import LightTagger
from discotext.text.words import Words, split

PART_OF = {"N": "NOUN", "V": "VERB", "J": "ADJ", "R": "ADV"}
FIRST_TAGS = {
    "NOUN": ("NN", "NNS"),
    "VERB": ("VB", "VBD", "VBG", "VBN", "VBZ"),
    "ADJ": ("JJ", "JJR", "JJS"),
    "ADV": ("RB", "RBR", "RBS"),
}
# Of substitutes that 0, 1, 2, 3, 4 or more of six people propose, the share that most of ten others accept (where both
# are known, in SWORDS).
PROPOSED = (0.027, 0.184, 0.433, 0.612, 0.715)


@dataclass
class Target:
    """A word in context. judged: share of people who accept a substitute, and how many were asked; empty in CoInCo.
    proposed: how many of six people proposed a substitute. coinco: numbers of the same word in CoInCo."""

    id: str
    document: str
    text: str
    offset: int
    lemma: str
    part: str
    judged: dict[str, tuple[float, int]] = field(default_factory=dict)
    proposed: dict[str, int] = field(default_factory=dict)
    coinco: tuple[str, ...] = ()
    words: Words = field(init=False)
    at: int = -1
    tags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.words = split(self.text)

    @property
    def is_judged(self) -> bool:
        return bool(self.judged)

    def label(self, candidate: str) -> float:
        """The probability that most of ten people accept a candidate, from what some people said; NaN if nobody did."""
        if self.is_judged:
            if candidate not in self.judged:
                return float("nan")
            share, people = self.judged[candidate]
            yes = round(share * people)
            return float(1 - betabinom.cdf(5, 10, yes + 0.3, people - yes + 1.2))
        return PROPOSED[min(self.proposed.get(candidate, 0), 4)]

    def accepted(self, candidate: str) -> float:
        """1 if more than half of the people accept a candidate, else 0; NaN if it was not judged."""
        return float(self.judged[candidate][0] > 0.5) if candidate in self.judged else float("nan")


def read_swords(folder: Path) -> list[Target]:
    found = []
    for part in ("dev", "extra"):
        data = json.loads(gzip.decompress((folder / f"swords-v1.1_{part}.json.gz").read_bytes()))
        judged: dict[str, dict[str, tuple[float, int]]] = collections.defaultdict(dict)
        for number, one in data["substitutes"].items():
            labels = data["substitute_labels"][number]
            yes = sum(label in ("TRUE", "TRUE_IMPLICIT") for label in labels)
            judged[one["target_id"]][one["substitute"].lower()] = (yes / len(labels), len(labels))
        for number, one in data["targets"].items():
            context = data["contexts"][one["context_id"]]
            document = context["extra"]["coinco_ids"][0].split(":")[0]
            lemma = one["extra"]["coinco_lemma"]
            found.append(Target(number, document, context["context"], one["offset"], lemma, one["pos"], judged[number]))
            found[-1].coinco = tuple(one["extra"]["coinco_ids"])
    return found


def read_coinco(folder: Path, without: set[str]) -> list[Target]:
    """Targets of CoInCo, but for those that SWORDS has, by number."""
    found = []
    content = gzip.decompress((folder / "coinco.xml.gz").read_bytes())
    for sentence in ElementTree.fromstring(content).iter("sent"):
        parts = (sentence.findtext(name) or "" for name in ("precontext", "targetsentence", "postcontext"))
        before, text, after = (" ".join(part.split()) for part in parts)
        whole = " ".join(part for part in (before, text, after) if part)
        at, shift = 0, len(before) + 1 if before else 0
        for token in sentence.find("tokens") or ():
            word = token.get("wordform") or ""
            place = text.find(word, at)
            if place < 0:
                continue
            at = place + len(word)
            listed, tag = token.find("substitutions"), token.get("posMASC") or ""
            part = PART_OF.get(tag[:1])
            if listed is None or token.get("problematic") == "yes" or token.get("id") in without:
                continue
            if part is None or tag.startswith("NNP"):
                continue
            proposed = {(one.get("lemma") or "").lower(): int(one.get("freq") or 0) for one in listed}
            lemma = (token.get("lemma") or "").lower()
            document = sentence.get("MASCfile") or ""
            found.append(Target(str(token.get("id")), document, whole, place + shift, lemma, part, proposed=proposed))
    return found


def read_targets(folder: Path) -> list[Target]:
    """All targets, those of SWORDS first, with tags and the position of the word."""
    swords = read_swords(folder)
    known = {name for target in swords for name in target.coinco}
    targets = swords + read_coinco(folder, known)
    texts = list(dict.fromkeys(target.text for target in targets))
    tags = dict(zip(texts, LightTagger().tag([split(text) for text in texts]), strict=True))
    for target in targets:
        spans = target.words.spans()
        target.at = next(at for at, (begin, end) in enumerate(spans) if begin <= target.offset < end)
        mine = list(tags[target.text])
        if PARTS.get(mine[target.at]) != target.part:
            # Trust people, who knew the part of speech.
            word, choices = target.words.lower[target.at], FIRST_TAGS[target.part]
            mine[target.at] = next((tag for tag in choices if word in inflect(target.lemma, tag)), choices[0])
        target.tags = tuple(mine)
    return targets


def divide(targets: list[Target], folds: int = 5) -> np.ndarray:
    """The fold of each target, by document, so that folds have about as many judged targets; the largest is alone."""
    count = collections.Counter(target.document for target in targets if target.is_judged)
    load, fold_of = [0] * folds, {}
    for document, size in count.most_common():
        fold_of[document] = int(np.argmin(load))
        load[fold_of[document]] += size
    return np.array([fold_of.get(target.document, folds) for target in targets])
