"""Vectors survive writing and reading, and errors about damaged files say where."""

import numpy as np
import pytest

from discotext.text.vectors import VECTOR_FORMATS, WordVectors


def some(count: int = 7, width: int = 5, seed: int = 0) -> WordVectors:
    rng = np.random.default_rng(seed)
    words = ["the", "café", "naïve", "日本", "don't", "x-y", "😀", *(f"w{i}" for i in range(count))][:count]
    return WordVectors(words, rng.normal(size=(count, width)).astype(np.float32))


@pytest.mark.parametrize("ending", VECTOR_FORMATS)
def test_what_is_written_is_read_back_exactly(tmp_path, ending):
    vectors = some()
    vectors.write(tmp_path / f"v{ending}")
    again = WordVectors.read(tmp_path / f"v{ending}")
    assert again.words == vectors.words
    np.testing.assert_array_equal(again.vectors, vectors.vectors)


def test_words_with_spaces_are_read_from_glove(tmp_path):
    (tmp_path / "v.txt").write_text("a 1 2\n. . . 3 4\r\nb 5 6 \n")
    vectors = WordVectors.read(tmp_path / "v.txt")
    assert vectors.words == ["a", ". . .", "b"]
    np.testing.assert_array_equal(vectors.vectors, [[1, 2], [3, 4], [5, 6]])


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("v.txt", b"", "is empty"),
        ("v.txt", b"a 1 2\nb 3\n", "line 2: 1 numbers; expected 2"),
        ("v.txt", b"a 1 2\nb 3 x\n", "line 2: 'x' is not a number"),
        ("v.txt", b"a 1 2\nb 3 nan\n", "word 2, 'b', contains numbers that are not finite"),
        ("v.txt", b"a 1 2\nb 3 4\na 5 6\n", "word 3, 'a', is the same as word 1"),
        ("v.txt", b"a 1 2\n\xff\xfe 3 4\n", "line 2: not UTF-8"),
        ("v.vec", b"3 2\na 1 2\nb 3 4\n", "announces 3 words, but there are 2"),
        ("v.vec", b"1 3\na 1 2\n", "line 2: 2 numbers; expected 3"),
        ("v.bin", b"", "line 1: expected the number of words"),
        ("v.bin", b"2 2\na " + np.ones(2, "<f4").tobytes() + b"\nb \x00\x00", "is truncated: it ends at word 2 of 2"),
        ("v.npz", b"not a zip file", "cannot be read as .npz"),
        ("v.safetensors", b"short", "not a valid .safetensors"),
        ("v.pkl", b"", "ends in '.pkl'; vectors are read from .txt"),
    ],
)
def test_an_error_about_a_damaged_file_says_where(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError) as caught:
        WordVectors.read(tmp_path / name)
    assert words in str(caught.value)
    assert name in str(caught.value)


def test_a_pickle_inside_an_npz_is_not_opened(tmp_path):
    np.savez(tmp_path / "v.npz", words=np.array(["a", {"evil": 1}], dtype=object), vectors=np.ones((2, 2)))
    with pytest.raises(ValueError, match="without unpickling"):
        WordVectors.read(tmp_path / "v.npz")


def test_arrays_that_do_not_match_are_refused(tmp_path):
    np.savez(tmp_path / "v.npz", words=np.array(["a"]), vectors=np.ones((2, 2)))
    with pytest.raises(ValueError, match="expected one row per word"):
        WordVectors.read(tmp_path / "v.npz")
    np.savez(tmp_path / "w.npz", vectors=np.ones((2, 2)))
    with pytest.raises(ValueError, match="no array 'words'"):
        WordVectors.read(tmp_path / "w.npz")


@pytest.mark.parametrize("ending", [".txt", ".vec", ".bin"])
def test_a_word_that_a_format_cannot_represent_is_refused_before_writing(tmp_path, ending):
    bad = WordVectors(["a\nb" if ending != ".bin" else "a b"], np.ones((1, 2), dtype=np.float32))
    with pytest.raises(ValueError, match="cannot be written"):
        bad.write(tmp_path / f"v{ending}")


def test_vectors_are_found_taken_and_scaled():
    vectors = some()
    assert "café" in vectors
    assert "cafe" not in vectors
    taken = vectors.take(["日本", "nowhere", "the"])
    assert taken.words == ["日本", "the"]
    np.testing.assert_array_equal(taken["the"], vectors["the"])
    np.testing.assert_allclose(np.linalg.norm(vectors.normalise().vectors, axis=1), 1, rtol=1e-6)


@pytest.mark.parametrize("ending", VECTOR_FORMATS)
def test_many_words_are_read_as_they_were_written(tmp_path, ending):
    rng = np.random.default_rng(0)
    large = WordVectors([f"word{i}" for i in range(10_000)], rng.normal(size=(10_000, 20)).astype(np.float32))
    large.write(tmp_path / f"v{ending}")
    again = WordVectors.read(tmp_path / f"v{ending}")
    assert again.words == large.words
    np.testing.assert_allclose(again.vectors, large.vectors, atol=1e-2)


def test_the_shared_vectors_are_read(shared_data):
    vectors = WordVectors.read(shared_data / "vectors" / "glove.6B.100d.wink.f16.npz")
    assert vectors.vectors.shape == (213_371, 100)
    assert vectors.words[0] == "the"
    unit = vectors.take(["good", "great", "banana"]).normalise().vectors
    assert unit[0] @ unit[1] > unit[0] @ unit[2]
