"""Vectors survive writing and reading, and errors about damaged files say where."""

import numpy as np
import pytest

from discotext.text.vectors import VECTOR_FORMATS, WordVectors


def some(count: int = 7, width: int = 5, seed: int = 0) -> WordVectors:
    rng = np.random.default_rng(seed)
    words = ["the", "café", "naïve", "日本", "don't", "x-y", "😀", *(f"w{i}" for i in range(count))][:count]
    return WordVectors(words, rng.normal(size=(count, width)).astype(np.float32))


def test_words_with_spaces_are_read_from_glove(tmp_path):
    (tmp_path / "v.txt").write_text("a 1 2\n. . . 3 4\r\nb 5 6 \n")
    vectors = WordVectors.read(tmp_path / "v.txt")
    assert vectors.words == ["a", ". . .", "b"]
    np.testing.assert_array_equal(vectors.vectors, [[1, 2], [3, 4], [5, 6]])


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("v.txt", b"", "is empty"),
        ("v.txt", b"a 1 2\nb 3\n", "line 2: 1 numbers"),
        ("v.txt", b"a 1 2\nb 3 x\n", "line 2: could not convert string to float: 'x'"),
        ("v.txt", b"a 1 2\nb 3 nan\n", "word 2, 'b'"),
        ("v.txt", b"a 1 2\nb 3 4\na 5 6\n", "word 3, 'a'"),
        ("v.txt", b"a 1 2\n\xff\xfe 3 4\n", "line 2"),
        ("v.vec", b"3 2\na 1 2\nb 3 4\n", "3 words"),
        ("v.vec", b"1 3\na 1 2\n", "line 2: 2 numbers"),
        ("v.bin", b"", "line 1"),
        ("v.bin", b"2 2\na " + np.ones(2, "<f4").tobytes() + b"\nb \x00\x00", "word 2 of 2"),
        ("v.npz", b"not a zip file", ".npz"),
        ("v.safetensors", b"short", ".safetensors"),
        ("v.pkl", b"", "'.pkl'"),
    ],
)
def test_an_error_about_a_damaged_file_says_where(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError) as caught:
        WordVectors.read(tmp_path / name)
    assert words in str(caught.value)
    assert name in str(caught.value)


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({"words": np.array(["a", {"evil": 1}], dtype=object), "vectors": np.ones((2, 2))}, "without unpickling"),
        ({"words": np.array(["a"]), "vectors": np.ones((2, 2))}, "shape"),
        ({"vectors": np.ones((2, 2))}, "'words'"),
    ],
)
def test_a_pickle_inside_an_npz_is_not_opened_and_arrays_that_do_not_match_are_refused(tmp_path, arrays, says):
    np.savez(tmp_path / "v.npz", **arrays)
    with pytest.raises(ValueError, match=says):
        WordVectors.read(tmp_path / "v.npz")


@pytest.mark.parametrize("ending", [".txt", ".vec", ".bin"])
def test_a_word_that_a_format_cannot_represent_is_refused_before_writing(tmp_path, ending):
    bad = WordVectors(["a\nb" if ending != ".bin" else "a b"], np.ones((1, 2), dtype=np.float32))
    with pytest.raises(ValueError, match="word"):
        bad.write(tmp_path / f"v{ending}")


def test_vectors_are_taken_and_scaled():
    vectors = some()
    taken = vectors.take(["日本", "nowhere", "the"])
    assert taken.words == ["日本", "the"]
    np.testing.assert_array_equal(taken["the"], vectors["the"])
    np.testing.assert_allclose(np.linalg.norm(vectors.normalise().vectors, axis=1), 1, rtol=1e-6)


@pytest.mark.parametrize("ending", VECTOR_FORMATS)
def test_what_is_written_is_read_back_exactly(tmp_path, ending):
    rng = np.random.default_rng(0)
    large = WordVectors([*some().words, *map(str, range(10_000))], rng.normal(size=(10_007, 20)).astype(np.float32))
    for vectors in (some(), large):
        vectors.write(tmp_path / f"v{ending}")
        again = WordVectors.read(tmp_path / f"v{ending}")
        assert again.words == vectors.words
        np.testing.assert_array_equal(again.vectors, vectors.vectors)
