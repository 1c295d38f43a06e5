"""Spelling correctors side by side: errors found and right words broken, on texts of pupils, learners and scanners.

    python -m benchmarks.spelling --lm news.lm [--only NAME] [--texts N]          needs DISCOTEXT_DATA

Needs the packages symspellpy, pyspellchecker and codespell, the program hunspell with its dictionary en_US, and SciPy;
what is missing is left out. `news.lm` is written by `discotext train-lm ag_news imdb --out news.lm`.

Equal terms: every corrector sees the same words, one at a time or with their sentence, as it can. None sees names,
code, numbers or words in capitals, which `find_protected` leaves alone. Whatever a corrector has to set is set on the
nine tenths of holbrook and jfleg that it is not judged on: here the channel's weights, for symspellpy and
pyspellchecker the edit distance.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.results_file import save, show
from benchmarks.spelling_data import (
    FOLDS,
    Labelled,
    read_clean,
    read_holbrook,
    read_jfleg,
    read_ocr,
    write_ocr_table,
)
from benchmarks.spelling_fit import fit, observe
from discotext.decoding.corrector import Corrector
from discotext.decoding.metrics import count_errors
from discotext.decoding.passages import find_protected
from discotext.decoding.speller import read_confusions
from discotext.models.ngram import BackoffModel
from discotext.models.registry import load_language_model
from discotext.text.sentences import normalise
from discotext.text.words import match_case, split

Edit = tuple[int, int, str]  # the first word, one past the last, and what is put there
WordCorrector = Callable[[str], str | None]


def correct_words(correct: WordCorrector, text: str) -> list[Edit]:
    """The edits of a corrector that looks at single words."""
    words, found = split(text), []
    protected = find_protected(words)
    for number, word in enumerate(words.words):
        if protected[number] or (word[:1].isupper() and number and not words.starts_sentence(number)):
            continue
        lower = normalise(word.lower())
        new = correct(lower)
        if new is not None and new != lower:
            found.append((number, number + 1, new))
    return found


@cache
def make_symspell() -> Any:
    import importlib.resources

    from symspellpy import SymSpell

    checker = SymSpell(max_dictionary_edit_distance=2, prefix_length=7)
    path = importlib.resources.files("symspellpy") / "frequency_dictionary_en_82_765.txt"
    checker.load_dictionary(str(path), term_index=0, count_index=1)
    return checker


def symspell(distance: int) -> WordCorrector:
    from symspellpy import Verbosity

    @cache
    def correct(word: str) -> str | None:
        found = make_symspell().lookup(word, Verbosity.TOP, max_edit_distance=distance)
        return found[0].term if found else None

    return correct


def pyspellchecker(distance: int) -> WordCorrector:
    from spellchecker import SpellChecker

    checker = SpellChecker(distance=distance)
    return cache(lambda word: checker.correction(word) if checker.unknown([word]) else None)


def codespell() -> WordCorrector:
    import codespell_lib

    table = {}
    path = Path(codespell_lib.__file__).parent / "data" / "dictionary.txt"
    for line in path.read_text().splitlines():
        wrong, _, right = line.partition("->")
        if "," not in right:  # of several candidates codespell changes nothing by itself
            table[wrong.lower()] = right.strip().lower()
    return table.get


def hunspell() -> WordCorrector:
    process = subprocess.Popen(
        ["hunspell", "-a", "-d", "en_US", "-i", "utf-8"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    asked, answers = process.stdin, process.stdout
    answers.readline()

    @cache
    def correct(word: str) -> str | None:
        asked.write(f"^{word}\n")
        asked.flush()
        found = None
        while (line := answers.readline().strip()) != "":
            if line.startswith("&") and found is None:
                found = line.split(": ", 1)[1].split(", ")[0].lower()
        return found

    return correct


PEERS: dict[str, Sequence[Callable[[], WordCorrector]]] = {
    "symspellpy": [lambda: symspell(1), lambda: symspell(2)],
    "pyspellchecker": [lambda: pyspellchecker(1), lambda: pyspellchecker(2)],
    "codespell": [codespell],
    "hunspell": [hunspell],
}


def judge(texts: Sequence[Labelled], edits: Sequence[Sequence[Edit]]) -> tuple[int, int, int]:
    """How many edits are right, how many there are, and how many errors."""
    right = 0
    for labelled, found in zip(texts, edits, strict=True):
        gold = {(one.start, one.end): one.right for one in labelled.gold}
        right += sum(new in gold.get((start, end), ()) for start, end, new in found)
    errors = sum(gold.error for labelled in texts for gold in labelled.gold)
    return right, sum(map(len, edits)), errors


def f_half(right: int, made: int, errors: int) -> float:
    """F0.5, which weighs precision twice as much as recall."""
    precision, recall = right / max(made, 1), right / max(errors, 1)
    return 1.25 * precision * recall / max(0.25 * precision + recall, 1e-12)


def apply(text: str, edits: Sequence[Edit]) -> str:
    words = split(text)
    spans, out, at = words.spans(), [], 0
    for start, end, new in sorted(edits):
        out += [text[at : spans[start][0]], match_case(words.words[start], new)]
        at = spans[end - 1][1]
    return "".join([*out, text[at:]])


def error_rate(texts: Sequence[Labelled], corrected: Sequence[str]) -> float:
    """The word error rate against the nearest truth, words in lower case without punctuation."""
    errors = words = 0
    for labelled, text in zip(texts, corrected, strict=True):
        mine = split(text).lower
        least, length = min((count_errors(split(one).lower, mine), len(split(one))) for one in labelled.truths)
        errors, words = errors + least, words + length
    return errors / max(words, 1)


def find_edits(corrector: Corrector, texts: Sequence[Labelled]) -> list[list[Edit]]:
    """What our corrector changes, in words; of two words only the one that differs."""
    every = []
    for labelled, found in zip(texts, corrector.correct_all(one.text for one in texts), strict=True):
        spans = split(labelled.text).spans()
        edits = []
        for change in found.changes:
            inside = [number for number, (a, b) in enumerate(spans) if a < change.end and b > change.start]
            old, new = change.old.split(), normalise(change.new.lower()).split()
            if len(old) == len(new) == len(inside) == 2:
                place = 0 if old[0].lower() != new[0] else 1
                inside, new = [inside[place]], [new[place]]
            edits.append((inside[0], inside[-1] + 1, " ".join(new)))
        every.append(edits)
    return every


class Trial:
    """One run: the same texts for all correctors."""

    def __init__(self, model: BackoffModel, clean: int) -> None:
        self.model = model
        self.tagged = {"holbrook": read_holbrook(), "jfleg": read_jfleg()}
        self.others = {
            "ocr_acl": read_ocr(),
            "imdb": read_clean("imdb", clean),
            "ag_news": read_clean("ag_news", clean * 5),
        }
        self.accepts = hunspell()

    def ours(self) -> list[dict[str, Any]]:
        seen = observe(self.model, [one for texts in self.tagged.values() for one in texts])
        edits: dict[str, list[list[Edit]]] = {name: [[] for _ in texts] for name, texts in self.tagged.items()}
        began, words = time.perf_counter(), 0
        for fold in range(FOLDS):
            weights = fit(seen, lambda folds, fold=fold: folds != fold)
            corrector = self.make(weights)
            for name, texts in self.tagged.items():
                held = [number for number, one in enumerate(texts) if one.fold == fold]
                for number, found in zip(held, find_edits(corrector, [texts[one] for one in held]), strict=True):
                    edits[name][number] = found
        rows = [self.row("discotext", name, edits[name]) for name in self.tagged]
        whole = self.make(None)
        for name, texts in self.others.items():
            began = time.perf_counter()
            found = find_edits(whole, texts)
            words = sum(len(split(one.text)) for one in texts)
            rows.append(
                {**self.row("discotext", name, found), "words a minute": 60 * words / (time.perf_counter() - began)}
            )
        with tempfile.TemporaryDirectory() as where:
            write_ocr_table(Path(where) / "table.tsv")
            table = read_confusions([Path(where) / "table.tsv"])
        taught = Corrector([self.model], confusions=table)
        rows.append(self.row("discotext, with a table", "ocr_acl", find_edits(taught, self.others["ocr_acl"])))
        return rows

    def make(self, weights: dict[str, float] | None) -> Corrector:
        corrector = Corrector([self.model])
        if weights is not None:
            corrector.speller.weights = weights
        return corrector

    def peer(self, name: str) -> list[dict[str, Any]]:
        settings = [make() for make in PEERS[name]]
        tried = {
            data: [[correct_words(one, labelled.text) for labelled in texts] for one in settings]
            for data, texts in self.tagged.items()
        }
        edits: dict[str, list[list[Edit]]] = {data: [[] for _ in texts] for data, texts in self.tagged.items()}
        for fold in range(FOLDS):
            best = max(range(len(settings)), key=lambda one: self.measure(tried, one, lambda text: text.fold != fold))  # noqa: B023
            for data, texts in self.tagged.items():
                for number, labelled in enumerate(texts):
                    if labelled.fold == fold:
                        edits[data][number] = tried[data][best][number]
        rows = [self.row(name, data, edits[data]) for data in self.tagged]
        best = max(range(len(settings)), key=lambda one: self.measure(tried, one, lambda text: True))
        for data, texts in self.others.items():
            rows.append(self.row(name, data, [correct_words(settings[best], one.text) for one in texts]))
        return rows

    def measure(self, tried: dict[str, Any], setting: int, keep: Callable[[Labelled], bool]) -> float:
        """F0.5 of a setting on some texts of both data sets."""
        totals = [0, 0, 0]
        for data, texts in self.tagged.items():
            chosen = [number for number, one in enumerate(texts) if keep(one)]
            counts = judge([texts[one] for one in chosen], [tried[data][setting][one] for one in chosen])
            totals = [a + b for a, b in zip(totals, counts, strict=True)]
        return f_half(totals[0], totals[1], totals[2])

    def row(self, system: str, data: str, edits: Sequence[Sequence[Edit]]) -> dict[str, Any]:
        texts = {**self.tagged, **self.others}[data]
        words = sum(len(split(one.text)) for one in texts)
        right, made, errors = judge(texts, edits)
        row: dict[str, Any] = {"system": system, "data": data, "words": words, "changes": made}
        if data in self.tagged:
            row |= {"errors": errors, "precision": right / max(made, 1), "recall": right / errors}
            row["F0.5"] = f_half(right, made, errors)
        else:
            row["changes of 1,000"] = 1000 * made / words
            # A word that another dictionary has was probably right.
            row["of words in hunspell's dictionary"] = (
                1000
                / words
                * sum(
                    all(self.accepts(word) is None for word in split(one.text).lower[start:end])
                    for one, found in zip(texts, edits, strict=True)
                    for start, end, _ in found
                )
            )
        if data not in ("imdb", "ag_news"):
            row["WER"] = error_rate(texts, [apply(one.text, e) for one, e in zip(texts, edits, strict=True)])
            row["WER before"] = error_rate(texts, [one.text for one in texts])
        return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lm", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--texts", type=int, default=300)
    given = parser.parse_args()
    model = load_language_model(given.lm)
    assert isinstance(model, BackoffModel)
    trial = Trial(model, given.texts)
    for name in ("discotext", *PEERS):
        if given.only in name:
            rows = trial.ours() if name == "discotext" else trial.peer(name)
            save("spelling", rows, key=lambda row: row["system"].split(",")[0])
            for row in rows:
                show(name, [row])


if __name__ == "__main__":
    main()
