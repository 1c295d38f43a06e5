"""Backoff n-gram models in a few flat arrays.

An n-gram is a node of a tree: its parent is the n-gram without its last word. Node 0 is the root, the empty context;
the single words follow in the order of their ids, then pairs, triples and so on, each sorted by parent and word. So the
number `parent · V + word` grows from node to node, and one binary search in one sorted array finds any n-gram of any
order. Each node carries

    log_prob   ln p(its last word | its other words)
    backoff    the logarithm of the factor that applies where a word was never seen after this node
    link       the node without its first word (the longest that exists), where the search for a word goes on

A context is then a single number, its node: a word is looked up under the node, if it is not there under the node's
link, and so on to the root, where every word is found. All of it works on many contexts at once.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discotext.core.arrays import Floats, Ints
from discotext.models.model import NGramModel, normalise
from discotext.support.files import atomic_file, describe_write_error

BEGIN, END, UNKNOWN = "<s>", "</s>", "<unk>"
MARKS = (UNKNOWN, BEGIN, END)
MAX_ORDER = 5
FORMAT = 1  # of the file; a reader refuses higher ones
NODE_ARRAYS = ("keys", "log_probs", "backoffs", "links")  # in the file

Reals = NDArray[np.float32]


class BackoffModel(NGramModel):
    """An n-gram model with backoff, in arrays. `read_arpa`, `train_kneser_ney` and `BackoffModel.read` make one.

    words: the vocabulary by id, with <s>, </s> and <unk> in it. keys: (N,) parent · V + word of nodes 1 to N.
    log_probs, backoffs, links: (N + 1,), the root first.

    >>> from discotext.models.kneser_ney import train_kneser_ney
    >>> model = train_kneser_ney([["a", "good", "film"], ["a", "bad", "film"]], order=2, least=1)
    >>> bool(model.score_words([["a", "good", "film"]]) > model.score_words([["film", "good", "a"]]))
    True
    """

    def __init__(
        self, words: Sequence[str], keys: Ints, log_probs: Reals, backoffs: Reals, links: NDArray[np.int32], name: str
    ) -> None:
        self.words, self.keys, self.name = list(words), keys, name
        self.node_log_probs, self.backoffs, self.links = log_probs, backoffs, links
        self.unknown, self.begin, self.end = (self.number[mark] for mark in MARKS)
        self.order = len(self.counts)

    def __repr__(self) -> str:
        return f"BackoffModel({self.name!r}, order={self.order}, words={len(self.words):,})"

    @cached_property
    def number(self) -> dict[str, int]:
        """The id of each word."""
        return {word: number for number, word in enumerate(self.words)}

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """How many n-grams there are of each order."""
        found, first, last = [], 1, len(self.words)
        while last >= first:
            found.append(last - first + 1)
            # The children of the nodes first to last stand together.
            begin, end = np.searchsorted(self.keys, np.array([first, last + 1]) * len(self.words))
            first, last = int(begin) + 1, int(end)
        return tuple(found)

    @cached_property
    def lower(self) -> bool:
        """Whether the vocabulary has no capitals, so that words are looked up in lower case."""
        return all(word == word.lower() for word in self.words if word not in MARKS)

    def ids(self, words: Sequence[str]) -> Ints:
        number, unknown = self.number, self.unknown
        if self.lower:
            found = (number.get(normalise(word.lower()), unknown) for word in words)
        else:
            # A vocabulary with capitals may lack a word at the start of a sentence, but know it elsewhere.
            plain = map(normalise, words)
            found = (number.get(word, number.get(word.lower(), unknown)) for word in plain)
        return np.fromiter(found, dtype=np.int64, count=len(words))

    def log_probs(self, contexts: Ints, words: Ints) -> Floats:
        return self.advance(self.find_states(contexts), words)[1]

    def find_states(self, contexts: Ints) -> Ints:
        """(R,) the node of the longest end of each context that the model has. contexts: (R, any length) ids."""
        states = np.zeros(len(contexts), dtype=np.int64)
        for column in contexts.T:
            states, _ = self.advance(states, column)
        return states

    def advance(self, states: Ints, words: Ints) -> tuple[Ints, Floats]:
        """Read a word each after some contexts. Returns the new contexts and ln p of the words. All are (R,)."""
        nodes = np.zeros(len(states), dtype=np.int64)
        totals = np.zeros(len(states))
        open_rows, at = np.arange(len(states)), np.asarray(states, dtype=np.int64)
        while len(open_rows):
            found = self.find_children(at, words[open_rows])
            hit = found > 0
            nodes[open_rows[hit]] = found[hit]
            open_rows, at = open_rows[~hit], at[~hit]
            totals[open_rows] += self.backoffs[at]
            at = self.links[at].astype(np.int64)
        totals += self.node_log_probs[nodes]
        # A context is never longer than order − 1 words.
        full = nodes >= self._first_leaf
        nodes[full] = self.links[nodes[full]]
        return nodes, totals

    def find_children(self, parents: Ints, words: Ints) -> Ints:
        """(R,) the nodes of n-grams, given as parent and last word; 0 for those that the model does not have."""
        found = words + 1  # that is where single words are
        deeper = np.flatnonzero(parents > 0)
        if len(deeper):
            keys = parents[deeper] * len(self.words) + words[deeper]
            place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
            found[deeper] = np.where(self.keys[place] == keys, place + 1, 0)
        return found

    @cached_property
    def _first_leaf(self) -> int:
        """The first node of the highest order; a model of single words has no contexts at all."""
        return len(self.keys) + 1 - self.counts[-1]

    def perplexity(self, sentences: Sequence[Sequence[str]]) -> float:
        """The perplexity of sentences, their ends included and unknown words counted as <unk>.

        exp of minus the mean log-probability of a word.
        """
        total = sum(len(sentence) + 1 for sentence in sentences)
        return float(np.exp(-self.score_words(sentences).sum() / total)) if total else float("nan")

    def write(self, path: str | Path) -> None:
        """Write a compact file (.npz, without pickle) that `read` loads fast."""
        words = np.frombuffer("\n".join(self.words).encode(), dtype=np.uint8)
        arrays: dict[str, Any] = dict(
            zip(NODE_ARRAYS, (self.keys, self.node_log_probs, self.backoffs, self.links), strict=True)
        )
        try:
            with atomic_file(path) as file:
                np.savez(file, format=np.array([FORMAT]), words=words, **arrays)
        except OSError as error:
            raise ValueError(describe_write_error(path, error)) from None

    @classmethod
    def read(cls, path: str | Path) -> BackoffModel:
        """Read a file written by `write`; a damaged one is refused."""
        try:
            with np.load(path, allow_pickle=False) as file:
                version = int(file["format"][0])
                packed, *arrays = (file[name] for name in ("words", *NODE_ARRAYS))
        except (FileNotFoundError, IsADirectoryError, PermissionError):
            raise
        except (zipfile.BadZipFile, EOFError, LookupError, ValueError, OSError, zlib.error) as error:
            message = f"{path} is damaged or incomplete; expected a language model written by discotext train-lm"
            raise ValueError(message) from error
        if version > FORMAT:
            raise ValueError(f"{path} was written by a later version of discotext; update the package")
        words = packed.tobytes().decode(errors="replace").split("\n")
        _check_arrays(str(path), words, *arrays)
        keys, log_probs, backoffs, links = arrays
        return cls(words, keys, log_probs, backoffs, links, str(path))


def _check_arrays(where: str, words: list[str], keys: Ints, *node_arrays: NDArray[Any]) -> None:
    """Refuse arrays that do not fit together, since a lookup would then end nowhere."""
    links = np.asarray(node_arrays[-1])
    right = (
        len(set(words)) == len(words) <= len(keys)
        and set(MARKS) <= set(words)
        and keys.dtype == np.int64
        and bool((np.diff(keys) > 0).all() and (keys[: len(words)] == np.arange(len(words))).all())
        and all(len(array) == len(keys) + 1 and np.isfinite(array).all() for array in node_arrays)
        and links.dtype == np.int32
        # Every link points to an earlier node, so that each search reaches the root.
        and bool((links >= 0).all() and (links[1:] < np.arange(1, len(links))).all())
    )
    if not right:
        raise ValueError(f"{where} is damaged: its arrays do not fit together; train the model again")


def find_links(model_keys: Ints, words: int, starts: Sequence[int]) -> NDArray[np.int32]:
    """The links of all nodes: each the longest end of its n-gram that exists.

    starts: the first node of each order, and one past the last node. Order by order, since the link of an n-gram is
    found from the link of its parent.
    """
    links = np.zeros(len(model_keys) + 1, dtype=np.int32)
    for first, last in pairwise(starts[1:]):
        parents, last_words = np.divmod(model_keys[first - 1 : last - 1], words)
        at = links[parents].astype(np.int64)
        found = np.zeros(last - first, dtype=np.int64)
        rows = np.arange(last - first)
        while len(rows):
            wanted = at * words + last_words[rows]
            place = np.minimum(np.searchsorted(model_keys, wanted), len(model_keys) - 1)
            hit = model_keys[place] == wanted
            found[rows[hit]] = place[hit] + 1
            rows, at = rows[~hit], links[at[~hit]].astype(np.int64)
        links[first:last] = found
    return links
