"""Word vectors, read and written in the usual formats, never by unpickling.

    .txt           GloVe: a word and its numbers on each line
    .vec           fastText, word2vec text: the same after a header with the number of words and the dimension
    .bin           word2vec binary
    .npz           NumPy: `words` and `vectors`
    .safetensors   `words` (UTF-8, one per line) and `vectors`

A damaged file is refused with an error that names the line (or the word) and what was expected there.

The vectors that come with the package are GloVe's of frequent English words, counter-fitted with WordNet's synonyms and
antonyms, and stored as integers from −127 to 127: only directions matter.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discotext.text.resources import read_arrays

VECTOR_FORMATS = (".txt", ".vec", ".bin", ".npz", ".safetensors")

Vectors = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Words and their vectors, the most frequent first if the source is ordered.

    vectors: (N, d), one row per word.

    >>> vectors = WordVectors(["good", "bad"], np.eye(2, dtype=np.float32))
    >>> len(vectors), "good" in vectors, vectors["bad"]
    (2, True, array([0., 1.], dtype=float32))
    """

    words: list[str]
    vectors: Vectors

    def __post_init__(self) -> None:
        count, shape = len(self.words), self.vectors.shape
        if len(shape) != 2 or count != shape[0]:
            raise ValueError(f"there are {count} words, but vectors of shape {shape}; give one row per word")

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.row

    def __getitem__(self, word: str) -> Vectors:
        return np.asarray(self.vectors[self.row[word]])

    @cached_property
    def row(self) -> dict[str, int]:
        """The row of each word."""
        return {word: number for number, word in enumerate(self.words)}

    @property
    def width(self) -> int:
        return int(self.vectors.shape[1])

    def cosine(self, word: str, other: str, unknown: float) -> float:
        """The inner product of two words' vectors, which is the cosine of unit vectors; `unknown` if one has none."""
        if word not in self.row or other not in self.row:
            return unknown
        return float(self.vectors[self.row[word]] @ self.vectors[self.row[other]])

    def take(self, words: Iterable[str]) -> WordVectors:
        """The vectors of these words, in this order; words without a vector are skipped."""
        known = [word for word in words if word in self.row]
        return WordVectors(known, np.asarray(self.vectors[[self.row[word] for word in known]]))

    def normalise(self) -> WordVectors:
        """Scale every vector to length 1 (a zero vector stays zero)."""
        lengths = np.linalg.norm(self.vectors, axis=1, keepdims=True)
        return WordVectors(self.words, (self.vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32))

    @classmethod
    def read(cls, path: str | Path) -> WordVectors:
        """Read vectors. The file extension decides the format (and the first line between GloVe and word2vec)."""
        path = Path(path)
        readers = {".txt": _read_text, ".vec": _read_text, ".bin": _read_binary}
        readers |= {".npz": _read_npz, ".safetensors": _read_safetensors}
        check_format(path)
        words, vectors = readers[path.suffix](path)
        _check_content(path, words, vectors)
        return cls(words, vectors)

    def write(self, path: str | Path) -> None:
        """Write vectors in the format of the file extension."""
        path = Path(path)
        check_format(path)
        if path.suffix == ".npz":
            np.savez(path, words=np.array(self.words, dtype=np.str_), vectors=self.vectors)
            return
        if path.suffix == ".safetensors":
            from safetensors.numpy import save_file

            words = np.frombuffer("\n".join(self.words).encode(), dtype=np.uint8)
            save_file({"words": words, "vectors": np.ascontiguousarray(self.vectors)}, path)
            return
        separators = " \n" if path.suffix == ".bin" else "\n"
        for word in self.words:
            if not word or any(sign in word for sign in separators):
                raise ValueError(f"the word {word!r} cannot be written to {path}; use .npz for words with spaces")
        with path.open("wb") as file:
            if path.suffix != ".txt":
                file.write(f"{len(self)} {self.width}\n".encode())
            for word, vector in zip(self.words, self.vectors.astype("<f4"), strict=True):
                numbers = vector.tobytes() if path.suffix == ".bin" else " ".join(map(repr, vector.tolist())).encode()
                file.write(word.encode() + b" " + numbers + b"\n")


@cache
def load_packaged_vectors() -> WordVectors:
    """The unit vectors in the package, the most frequent words first.

    >>> vectors = load_packaged_vectors()
    >>> bool(vectors["movie"] @ vectors["film"] > 0.8 > vectors["good"] @ vectors["bad"])
    True
    """
    arrays = read_arrays("vectors.safetensors")
    words = arrays["words"].tobytes().decode("utf-8").split("\n")
    return WordVectors(words, arrays["vectors"].astype(np.float32)).normalise()


def check_format(path: Path) -> None:
    """Raise an error if the ending of a file is not that of vectors."""
    if path.suffix not in VECTOR_FORMATS:
        raise ValueError(f"{path} ends in {path.suffix!r}; files of vectors end in {', '.join(VECTOR_FORMATS)}")


def _check_content(path: Path, words: list[str], vectors: Vectors) -> None:
    """Raise an error for a duplicate word or a number that is not finite."""
    seen: dict[str, int] = {}
    for number, word in enumerate(words, start=1):
        if word in seen:
            raise ValueError(f"{path}: word {number}, {word!r}, is the same as word {seen[word]}; keep one of them")
        seen[word] = number
    # A sum of float32 in float64 is finite exactly if all its terms are, and faster than testing each term.
    bad = np.flatnonzero(~np.isfinite(vectors.sum(axis=1, dtype=np.float64)))
    if len(bad):
        raise ValueError(
            f"{path}: the vector of word {bad[0] + 1}, {words[bad[0]]!r}, contains numbers that are not finite"
        )


def read_numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file, without line ends, numbered from 1."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                yield number, line.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise ValueError(
                    f"{path}, line {number}: not UTF-8 at byte {error.start}; is this a file of another format?"
                ) from None


def _read_text(path: Path) -> tuple[list[str], Vectors]:
    words: list[str] = []
    rows: list[Vectors] = []
    width = expected = None
    for number, line in read_numbered_lines(path):
        line = line.rstrip(" ")
        if width is None:
            fields = line.split(" ")
            width = len(fields) - 1
            if width == 1 and all(field.isdigit() for field in fields):
                expected, width = int(fields[0]), int(fields[1])
                continue
        # In some collections words contain spaces: the numbers are the last fields of the line.
        word, *numbers = line.rsplit(" ", width) if width else [line]
        if len(numbers) != width or not width:
            there = line.count(" ")
            raise ValueError(f"{path}, line {number}: {there} numbers; expected {width} as on the lines before")
        try:
            rows.append(np.array(numbers, dtype=np.float32))
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
        words.append(word)
    if width is None:
        raise ValueError(f"{path} is empty; expected a word and its numbers on each line")
    if expected not in (None, len(words)):
        raise ValueError(
            f"{path}: its first line announces {expected} words, but there are {len(words)}; is the file truncated?"
        )
    return words, np.stack(rows) if rows else np.empty((0, width), dtype=np.float32)


def _read_binary(path: Path) -> tuple[list[str], Vectors]:
    data = path.read_bytes()
    end = data.find(b"\n", 0, 100)
    header = data[: max(end, 0)].split(b" ")
    if len(header) != 2 or not all(part.isdigit() for part in header):
        raise ValueError(f"{path}, line 1: expected the number of words and their dimension, such as '3000000 300'")
    count, width = int(header[0]), int(header[1])
    words, at, size = [], end + 1, 4 * width
    vectors = np.empty((count, width), dtype=np.float32)
    for number in range(count):
        if data[at : at + 1] == b"\n":
            at += 1
        space = data.find(b" ", at)
        if space < 0 or space + 1 + size > len(data):
            raise ValueError(f"{path} is truncated: it ends at word {number + 1} of {count}")
        try:
            words.append(data[at:space].decode("utf-8"))
        except UnicodeDecodeError:
            raise ValueError(
                f"{path}: word {number + 1} is not UTF-8; do the vectors in this file have {width} dimensions?"
            ) from None
        vectors[number] = np.frombuffer(data, dtype="<f4", count=width, offset=space + 1)
        at = space + 1 + size
    return words, vectors


def _read_npz(path: Path) -> tuple[list[str], Vectors]:
    try:
        with np.load(path, allow_pickle=False) as file:
            found = {name: file[name] for name in ("words", "vectors") if name in file}
    except FileNotFoundError:
        raise
    except (zipfile.BadZipFile, ValueError, EOFError, OSError) as error:
        raise ValueError(f"{path} cannot be read as .npz without unpickling: {error}") from None
    return _unpack_arrays(path, found)


def _read_safetensors(path: Path) -> tuple[list[str], Vectors]:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        found = load_file(path)
    except SafetensorError as error:
        raise ValueError(f"{path} is not a valid .safetensors file: {error}") from None
    if "words" in found:
        found["words"] = np.array(found["words"].tobytes().decode("utf-8").split("\n"), dtype=np.str_)
    return _unpack_arrays(path, found)


def _unpack_arrays(path: Path, found: dict[str, Any]) -> tuple[list[str], Vectors]:
    if missing := {"words", "vectors"} - set(found):
        raise ValueError(f"{path} has no array {missing.pop()!r}; expected 'words' and 'vectors'")
    words, vectors = found["words"], found["vectors"]
    if vectors.ndim != 2 or words.shape != vectors.shape[:1]:
        shapes = f"words of shape {words.shape}, but vectors of shape {vectors.shape}"
        raise ValueError(f"{path}: there are {shapes}; expected one row per word")
    return words.tolist(), vectors.astype(np.float32, copy=False)
