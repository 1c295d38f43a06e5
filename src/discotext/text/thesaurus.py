"""The packaged thesaurus: words that may replace a word, with how often people accept each in general.

Whether a swap is acceptable depends on the sentence; how often it is does not. So much is known beforehand, for a word,
a part of speech and a candidate: the *prior*, learnt from substitutions that people proposed and judged, from what
WordNet, a thesaurus and several vector spaces say of the pair. `python -m scripts.scorer` builds the table from all
pairs whose prior is not negligible; docs/reference/packaged-data.md names its sources and licences.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from discotext.core.arrays import Ints
from discotext.text.wordnet import LETTERS

THESAURUS_FILE = "thesaurus.safetensors"
# Logits are stored as bytes: byte / LOGIT_SCALE + LOGIT_FLOOR.
LOGIT_SCALE, LOGIT_FLOOR = 32.0, -5.0
UNLISTED = -5.5  # the logit of a pair that is not in the table


@dataclass(frozen=True, eq=False)
class Thesaurus:
    """Candidates of lemmas by part of speech, most acceptable first.

    words: the vocabulary. first: where each entry starts among `candidates`, and the end. entries: the number of the
    entry of (lemma, letter of the part of speech). candidates: numbers of words. logits: log-odds that a swap is
    accepted, whatever the sentence.
    """

    words: list[str]
    entries: dict[tuple[str, str], int]
    first: Ints
    candidates: NDArray[np.uint16]
    logits: NDArray[np.float32]

    def look_up(self, lemma: str, part: str) -> dict[str, float]:
        """The candidates of a lemma as this part of speech with their logits, most acceptable first.

        >>> list(load_thesaurus().look_up("movie", "NOUN"))[:1]
        ['film']
        """
        entry = self.entries.get((lemma, LETTERS[part]))
        if entry is None:
            return {}
        begin, end = self.first[entry], self.first[entry + 1]
        names = (self.words[number] for number in self.candidates[begin:end].tolist())
        return dict(zip(names, self.logits[begin:end].tolist(), strict=True))


@cache
def load_thesaurus() -> Thesaurus:
    """Load the table that comes with the package."""
    from safetensors.numpy import load

    arrays = load(resources.files("discotext.text.resources").joinpath(THESAURUS_FILE).read_bytes())
    words = arrays["words"].tobytes().decode("utf-8").split("\n")
    letters = list(LETTERS.values())
    lemmas, parts = arrays["lemmas"].tolist(), arrays["parts"].tolist()
    entries = {
        (words[lemma], letters[part]): number for number, (lemma, part) in enumerate(zip(lemmas, parts, strict=True))
    }
    first = np.concatenate([[0], np.cumsum(arrays["counts"].astype(np.int64))])
    logits = arrays["logits"].astype(np.float32) / np.float32(LOGIT_SCALE) + np.float32(LOGIT_FLOOR)
    return Thesaurus(words, entries, first, arrays["candidates"], logits)
