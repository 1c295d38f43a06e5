"""What a misspelt word may have been: candidates for single words, with the channel's view of each.

Candidates come from the vocabulary of a language model: words within two edits of an unknown word, within one edit of a
known one, and two words written as one. Tables of a user (`read_confusions`) add theirs. Which candidate is right, if
any, the context decides later; here only words are compared, and each distinct word once.

Words within a few edits are found in two steps. An edit takes away one letter at most and adds one at most, so that
words of which one has more than d letters that the other lacks are more than d edits apart. That is a comparison of
bits, for all words of a vocabulary at once, and few are left to be compared letter by letter.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discotext.core.arrays import Floats, Ints
from discotext.data.files import read_file
from discotext.decoding.channel import WEIGHTS, are_variants, describe_edits, is_inflected, sound_out, weigh
from discotext.models.model import normalise
from discotext.models.ngram import MARKS, BackoffModel
from discotext.text.inflection import load_tables

WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")  # what is corrected, and what it is corrected to
SHORTEST = 3  # letters of an unknown word that is corrected
MEMORY = 1 << 16  # distinct words whose candidates are remembered
ONE_LETTER_WORDS = frozenset(("a", "i"))
UNLIKELY = frozenset(("replace", "first"))  # features of edits that make other words of right ones
UNKNOWN_LOG_PROB = -5.17  # ln p of an unknown word in the model that the channel's weights were fitted with
FAR = math.log(100)  # how much more frequent than a misspelling that the model has seen the right word is, at least
SURE = 0.999  # the share of a table's candidates that a sole one has
MOST_KNOWN, MOST_UNKNOWN = 8, 20  # candidates of a known and of an unknown word
LONGEST_WORD = 32  # letters; longer words are not found


@dataclass(frozen=True)
class Suggestion:
    """A candidate. words: one, or two if a space was missing. features: see `describe_edits`. score: the channel's."""

    words: tuple[str, ...]
    features: Mapping[str, float]
    score: float

    @property
    def text(self) -> str:
        return " ".join(self.words)


@lru_cache(maxsize=MEMORY)
def in_dictionary(word: str) -> bool:
    """Whether a dictionary of English word forms has a word.

    >>> in_dictionary("mice"), in_dictionary("mise-en"), in_dictionary("definately")
    (True, False, False)
    """
    return bool(load_tables().getAllLemmas(word.removesuffix("'s")))


def are_words(parts: Sequence[str]) -> bool:
    return all(part in ONE_LETTER_WORDS or in_dictionary(part) for part in parts)


def _is_plural(word: str, meant: str) -> bool:
    """Whether a possessive and a plural are compared, which both are right words (it's and its are another matter)."""
    return word.endswith("'s") and len(word) > 4 and meant == word.replace("'", "")


class Speller:
    """Finds candidates for words in the vocabulary of an n-gram model.

    confusions: the user's own pairs, as `read_confusions` returns them. weights: of the channel's features.
    """

    weights: Mapping[str, float] = WEIGHTS

    def __init__(self, model: BackoffModel, confusions: Mapping[str, Mapping[str, float]] | None = None) -> None:
        self.model, self.confusions = model, dict(confusions or {})
        self.suggest = lru_cache(maxsize=MEMORY)(self._suggest)
        self.join = lru_cache(maxsize=MEMORY)(self._join)

    @cached_property
    def _vocabulary(self) -> tuple[WordIndex, Floats]:
        """An index of the words that may be suggested, and ln p of each."""
        numbers = [
            number
            for number, word in enumerate(self.model.words)
            if word not in MARKS and WORD.fullmatch(word) and (len(word) > 1 or word in ONE_LETTER_WORDS)
        ]
        probs = self.model.node_log_probs[1:][np.array(numbers, dtype=np.int64)]
        return WordIndex([self.model.words[number] for number in numbers]), probs.astype(np.float64)

    @cached_property
    def _sounds(self) -> dict[str, list[int]]:
        """The most frequent words that sound alike, by their key."""
        index, probs = self._vocabulary
        found: dict[str, list[int]] = {}
        for number in np.argsort(-probs).tolist():
            alike = found.setdefault(sound_out(index.words[number]), [])
            if len(alike) < MOST_KNOWN:
                alike.append(number)
        return found

    def classify(self, word: str) -> str:
        """How far a word in lower case is known: `known` to model and dictionary, to one of them, or `unknown`."""
        model, dictionary = self.model.knows(word), in_dictionary(word)
        if model:
            return "known" if dictionary else "model-only"
        return "dictionary-only" if dictionary else "unknown"

    def _suggest(self, word: str, capital: bool = False) -> tuple[Suggestion, ...]:
        """The candidates of a word in lower case, without the word itself; the best by its own looks first.

        capital: whether the word is capitalised in the text.
        """
        listed = self.confusions.get(word, {})
        kind = self.classify(word)
        known = kind in ("known", "dictionary-only")
        found: dict[tuple[str, ...], dict[str, float]] = {}
        if WORD.fullmatch(word) and (known or len(word) >= SHORTEST):
            index, probs = self._vocabulary
            near = index.find(word, 1 if known else 2)
            # Those that are near and frequent; the channel then looks at fewer.
            near.sort(key=lambda one: -probs[one[0]] + 4.0 * one[1])
            numbers = [number for number, _ in near[: 4 * MOST_UNKNOWN]]
            numbers += self._sounds.get(sound_out(word), ())
            for meant in sorted({index.words[number] for number in numbers} - {word}):
                # Another form of a right word is a matter of grammar, another right spelling one of taste.
                if not known or not (is_inflected(word, meant) or are_variants(word, meant) or _is_plural(word, meant)):
                    found[(meant,)] = describe_edits(word, meant)
            if not known:
                for parts in self._cut(word):
                    found[parts] = {"spaces": 1.0}
        for right, share in listed.items():
            parts = tuple(right.split())
            if all(self.model.knows(part) or in_dictionary(part) for part in parts):
                # A table may hold pairs that were aligned by mistake: how the words look still counts.
                seen = found.get(parts) or describe_edits(word, right)
                # That a right word is sometimes a mistake does not say how often it is one.
                found[parts] = seen if known else {**seen, "listed": 1.0, "listed-share": math.log(share * SURE)}
        # What is said of the typed word holds for all its candidates.
        if kind == "model-only" and self._looks_misspelt(word, found):
            typed, missing = {"unknown": 1.0, "frequency": 0.0}, self._frequency([word]) - UNKNOWN_LOG_PROB
        else:
            typed = {kind: 1.0, "frequency": self._frequency([word]) if self.model.knows(word) else 0.0}
            missing = self._correct_unknown([word])
        if capital:
            typed |= {"capital": 1.0, "capital-known": float(kind == "known")}
        made = []
        for parts, features in found.items():
            features |= typed
            if not are_words(parts):
                features["to-model-only"] = 1.0
            made.append(Suggestion(parts, features, weigh(features, self.weights) + missing))
        made.sort(key=lambda one: -one.score - self._frequency(one.words))
        return tuple(made[: MOST_KNOWN if known else MOST_UNKNOWN])

    def _looks_misspelt(self, word: str, candidates: Mapping[tuple[str, ...], Mapping[str, float]]) -> bool:
        """Whether a word that only the model has is a common mistake in the texts that it was trained on: some right
        word, one likely edit away, is far more frequent there. Other letters may make another word (hath, have), and
        short words are near many others, so that only a space may be missing in these."""
        least, short = self._frequency([word]) + FAR, len(word) <= SHORTEST + 1
        return len(word) > SHORTEST and any(
            are_words(parts)
            and (len(parts) == 2 or (not short and features.get("edits") == 1 and not UNLIKELY & features.keys()))
            and min(self._frequency([part]) for part in parts) > least
            and not is_inflected(word, parts[0])
            and not are_variants(word, parts[0])
            for parts, features in candidates.items()
        )

    def _correct_unknown(self, words: Sequence[str]) -> float:
        """Models differ in what they leave for unknown words, and the weights were fitted to one that leaves
        `UNKNOWN_LOG_PROB`: what is to be added to the score of a change of these words."""
        return sum(self._frequency([word]) - UNKNOWN_LOG_PROB for word in words if not self.model.knows(word))

    def _frequency(self, words: Sequence[str]) -> float:
        return float(self.model.node_log_probs[1 + self.model.ids(words)].sum())

    def _cut(self, word: str) -> list[tuple[str, ...]]:
        """The two best ways to read a word as two."""
        ways: Iterable[tuple[str, ...]] = ((word[:at], word[at:]) for at in range(1, len(word)))
        read = [parts for parts in ways if are_words(parts) and all(map(self.model.knows, parts))]
        return sorted(read, key=self._frequency, reverse=True)[:2]

    def _join(self, first: str, second: str) -> Suggestion | None:
        """What two neighbouring words in lower case are as one, if that is a word."""
        word = first + second
        if not (WORD.fullmatch(word) and self.model.knows(word) and in_dictionary(word)):
            return None
        kinds = {self.classify(first), self.classify(second)}
        features = {"join": 1.0, "known" if kinds <= {"known", "dictionary-only"} else "unknown": 1.0}
        if min(len(first), len(second)) < SHORTEST:
            features["join-short"] = 1.0
        missing = self._correct_unknown([first, second])
        return Suggestion((word,), features, weigh(features, self.weights) + missing)


class WordIndex:
    """A vocabulary that is searched by edit distance (insertions, deletions, replacements, exchanged neighbours).

    >>> index = WordIndex(["film", "firm", "form", "farm"])
    >>> [(index.words[number], edits) for number, edits in index.find("frim", 1)]
    [('firm', 1)]
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.words = list(words)
        self._codes, self._lengths, self._letters = _encode(self.words)

    def find(self, word: str, distance: int) -> list[tuple[int, int]]:
        """The numbers of all words within a distance, without the word itself, and their distances; nearest first."""
        if not 0 < len(word) <= LONGEST_WORD:
            return []
        (codes,), _, letters = _encode([word])
        near = np.flatnonzero((np.abs(self._lengths - len(word)) <= distance) & (self._lengths <= LONGEST_WORD))
        lacking, more = letters & ~self._letters[near], self._letters[near] & ~letters
        for _ in range(distance):
            # Each time, the lowest of the bits that are set is cleared.
            lacking, more = lacking & (lacking - ONE), more & (more - ONE)
        near = near[(lacking | more) == 0]
        edits = count_edits(codes[: len(word)], self._codes[near], self._lengths[near])
        good = np.flatnonzero((edits <= distance) & (edits > 0))
        good = good[np.argsort(edits[good], kind="stable")]
        return list(zip(near[good].tolist(), edits[good].astype(int).tolist(), strict=True))


ONE = np.uint64(1)


def _encode(words: Sequence[str]) -> tuple[NDArray[np.uint32], Ints, NDArray[np.uint64]]:
    """(N, LONGEST_WORD) character codes, 0 beyond the end, (N,) lengths, and (N,) the letters of each as bits.

    A letter has one of the lower 32 bits, shared by some, and one of the upper for its second time in a word.
    """
    lengths = np.array([len(word) for word in words], dtype=np.int64)
    table = np.array([word[:LONGEST_WORD] for word in words], dtype=f"<U{LONGEST_WORD}")
    codes = table.view(np.uint32).reshape(len(words), LONGEST_WORD)
    letters = np.zeros(len(words), dtype=np.uint64)
    for column in codes.T:
        bits = np.where(column > 0, ONE << (column % 32).astype(np.uint64), np.uint64(0))
        letters |= np.where(letters & bits, bits << np.uint64(32), bits)
    return codes, lengths, letters


def count_edits(word: NDArray[np.uint32], others: NDArray[np.uint32], lengths: Ints) -> Floats:
    """(N,) the edit distance of a word to others (N, LONGEST_WORD); neighbours may be exchanged, each letter once."""
    rows, columns = len(word), int(lengths.max(initial=0))
    before = above = np.repeat(np.arange(columns + 1.0)[None], len(others), axis=0)
    for i in range(1, rows + 1):
        line = np.empty_like(above)
        line[:, 0] = i
        same = others[:, :columns] == word[i - 1]
        for j in range(1, columns + 1):
            best = np.minimum(above[:, j - 1] + ~same[:, j - 1], np.minimum(above[:, j], line[:, j - 1]) + 1)
            if i > 1 and j > 1:
                swapped = same[:, j - 2] & (others[:, j - 1] == word[i - 2])
                best = np.where(swapped, np.minimum(best, before[:, j - 2] + 1), best)
            line[:, j] = best
        before, above = above, line
    return np.asarray(above[np.arange(len(others)), lengths])


def read_confusions(paths: Iterable[str | Path]) -> dict[str, dict[str, float]]:
    """Read tables: of each wrong word its right ones, with the share of each. A wrong line is refused."""
    counts: dict[str, dict[str, float]] = {}
    for path in paths:
        for number, line in enumerate(read_file(path), start=1):
            text = line.rstrip("\r\n")
            if text.strip() and not text.startswith("#"):
                for wrong, right, count in _parse(text, f"{path}, line {number}"):
                    rights = counts.setdefault(wrong, {})
                    rights[right] = rights.get(right, 0.0) + count
    return {
        wrong: {right: count / sum(rights.values()) for right, count in rights.items()}
        for wrong, rights in counts.items()
    }


def _parse(text: str, where: str) -> list[tuple[str, str, float]]:
    fields = text.split("\t")
    if "->" in text and len(fields) == 1:
        wrong, _, rights = text.partition("->")
        # A last part after a comma, with several words, is a comment of codespell's.
        pairs = [(wrong, right, 1.0) for right in rights.split(",") if right.strip()]
    else:
        try:
            wrong, right, count = fields if len(fields) > 2 else (*fields, "1")
            pairs = [(wrong, right, float(count))]
        except ValueError:
            pairs = []
        if not pairs or not 0 < pairs[0][2] < math.inf:
            raise ValueError(
                f"{where}: {text[:40]!r}; expected `wrong<TAB>right`, perhaps with a count above 0 after another tab, "
                "or `wrong->right`"
            )
    tidy = [(normalise(wrong.strip().lower()), normalise(right.strip().lower()), n) for wrong, right, n in pairs]
    return [(wrong, right, n) for wrong, right, n in tidy if wrong and right and wrong != right]
