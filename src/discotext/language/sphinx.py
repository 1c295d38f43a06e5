"""The general English trigram model that the PyPI package `pocketsphinx` carries, read without the package's own code.

The file of CMU Sphinx ("Trie Language Model") is a tree from the last word of an n-gram back to its first, packed into
bits: of each entry its word, a backoff and a probability (as indices into tables of 2¹⁶ values) and where its children
begin. All values are logarithms to the base 1.0001. It takes a second or two to turn this into the arrays used here.
"""

from __future__ import annotations

import struct
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discotext.core.arrays import Floats, Ints
from discotext.language.kneser_ney import NEVER
from discotext.language.ngram import BEGIN, UNKNOWN, BackoffModel, find_links
from discotext.support.extras import explain_install

PACKAGE, PACKAGE_FILE = "pocketsphinx", "pocketsphinx/model/en-us/en-us.lm.bin"
MAGIC = b"Trie Language Model"
LN_BASE = float(np.log(1.0001))
TABLE_BITS = 16  # of the index of a probability or a backoff
UNIGRAM = np.dtype([("prob", "<f4"), ("backoff", "<f4"), ("next", "<u4")])


def load_pocketsphinx() -> BackoffModel:
    """Read the model of the installed package `pocketsphinx` (extra `decode`); none of its code is run."""
    try:
        path = Path(str(metadata.distribution(PACKAGE).locate_file(PACKAGE_FILE)))
    except metadata.PackageNotFoundError:
        raise ImportError(
            f"the language model pocketsphinx is not installed; run {explain_install('decode')}"
        ) from None
    if not path.is_file():
        raise ValueError(f"the installed package {PACKAGE} has no file {PACKAGE_FILE}; install version 5 of it")
    model = read_sphinx(path)
    model.name = PACKAGE
    return model


def read_sphinx(path: str | Path) -> BackoffModel:
    """Read a trigram model in the binary format of CMU Sphinx."""
    content = Path(path).read_bytes()
    try:
        return _convert(content, str(path))
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is damaged or incomplete ({error})") from None


def _convert(content: bytes, name: str) -> BackoffModel:
    at = len(MAGIC)
    order = content[at]
    if content[:at] != MAGIC or order != 3:
        raise ValueError(f"{name} is not a trigram model of CMU Sphinx; expected a file such as en-us.lm.bin")
    counts = struct.unpack_from("<3I", content, at + 1)
    at += 1 + 12 + 4

    def take(kind: np.dtype[np.void] | str, count: int) -> NDArray[Any]:
        nonlocal at
        if at + np.dtype(kind).itemsize * count > len(content):
            raise ValueError(f"{name} is damaged or incomplete: it ends after {len(content):,} bytes")
        found = np.frombuffer(content, dtype=kind, count=count, offset=at)
        at += found.nbytes
        return found

    pair_probs, pair_backoffs, triple_probs = (take("<f4", 1 << TABLE_BITS).astype(np.float64) for _ in range(3))
    single = take(UNIGRAM, counts[0] + 1)
    word_bits, next_bits = counts[0].bit_length(), counts[2].bit_length()
    pair_bits, triple_bits = word_bits + 2 * TABLE_BITS + next_bits, word_bits + TABLE_BITS
    pairs = take("u1", ((1 + counts[1]) * pair_bits + 7) // 8 + 8)
    triples = take("u1", ((1 + counts[2]) * triple_bits + 7) // 8 + 8)
    # The counts of the header include a few n-grams that the file does not hold; the tree itself knows.
    many = int(single["next"][-1])
    before = _unpack(pairs, pair_bits, 0, word_bits, many)
    backoff = pair_backoffs[_unpack(pairs, pair_bits, word_bits, TABLE_BITS, many)]
    prob = pair_probs[_unpack(pairs, pair_bits, word_bits + TABLE_BITS, TABLE_BITS, many)]
    begins = _unpack(pairs, pair_bits, word_bits + 2 * TABLE_BITS, next_bits, many + 1)
    children: Ints = single["next"].astype(np.int64)
    last = np.repeat(np.arange(counts[0]), children[1:] - children[:-1])
    more = int(begins[-1])
    first = _unpack(triples, triple_bits, 0, word_bits, more)
    triple_prob = triple_probs[_unpack(triples, triple_bits, word_bits, TABLE_BITS, more)]
    owner = np.repeat(np.arange(many), np.diff(begins))
    words = [word.decode() for word in content[at + 4 :].split(b"\0")[: counts[0]]]
    probs, backoffs = single["prob"][:-1] * LN_BASE, single["backoff"][:-1] * LN_BASE
    probs[words.index(BEGIN)] = NEVER
    if UNKNOWN not in words:
        # The file has no unknown word; one is a tenth as likely as the least likely known one.
        words.append(UNKNOWN)
        probs = np.append(probs, probs[probs > NEVER].min() - np.log(10))
        backoffs = np.append(backoffs, 0.0)
    size = len(words)
    pair_keys = (before + 1) * size + last
    arrange = np.argsort(pair_keys)
    pair_keys = pair_keys[arrange]
    # The context of a triple is its first two words, which is another pair than the one it hangs from.
    wanted = (first + 1) * size + before[owner]
    place = np.minimum(np.searchsorted(pair_keys, wanted), many - 1)
    there = pair_keys[place] == wanted
    triple_keys = (size + 1 + place[there]) * size + last[owner[there]]
    triple_arrange = np.argsort(triple_keys)
    keys = np.concatenate([np.arange(size), pair_keys, triple_keys[triple_arrange]])
    logs = _join(probs, prob[arrange] * LN_BASE, triple_prob[there][triple_arrange] * LN_BASE)
    bows = _join(backoffs, backoff[arrange] * LN_BASE, np.zeros(len(triple_keys)))
    starts = [1, 1 + size, 1 + size + many, 1 + len(keys)]
    return BackoffModel(words, keys, logs, bows, find_links(keys, size, starts), name)


def _join(*parts: Floats) -> NDArray[np.float32]:
    """The values of all nodes, with a zero for the root."""
    return np.concatenate([np.zeros(1), *parts]).astype(np.float32)


def _unpack(memory: NDArray[np.uint8], total: int, offset: int, width: int, count: int) -> Ints:
    """A field of packed entries. total: bits of an entry; offset, width: of the field, in bits."""
    bits = np.arange(count, dtype=np.int64) * total + offset
    values = np.zeros(count, dtype=np.uint64)
    for byte in range((width + 14) // 8):
        values |= memory[(bits >> 3) + byte].astype(np.uint64) << np.uint64(8 * byte)
    return ((values >> (bits & 7).astype(np.uint64)) & np.uint64((1 << width) - 1)).astype(np.int64)
