"""Counter-fitting moves each pair as its term says, and nothing else."""

import json

import numpy as np
import pytest
from click.testing import Result

from discotext.text.counterfit import (
    CounterFit,
    compute_distances,
    counterfit,
    find_close_pairs,
    look_up_pairs,
    measure_separation,
    rank,
    read_pairs,
    read_simlex,
    remove_pairs,
    spearman,
)
from discotext.text.vectors import WordVectors
from tests.conftest import needs_torch
from tests.fuzzing import ends_well, run


def random_vectors(words: str = "good bad nice fine evil dog cat", width: int = 20, seed: int = 0) -> WordVectors:
    listed = words.split()
    return WordVectors(listed, np.random.default_rng(seed).normal(size=(len(listed), width)).astype(np.float32))


@needs_torch
def test_antonyms_go_apart_synonyms_together_and_the_rest_stay():
    before = random_vectors()
    # As in vectors learnt from text, antonyms start as neighbours.
    before.vectors[1] = before.vectors[0] + 0.1 * before.vectors[1]
    settings = CounterFit(steps=300, tolerance=0)
    after = counterfit(before, [("good", "nice"), ("nice", "fine")], [("good", "bad")], settings).vectors
    row = after.row
    apart = compute_distances(after.vectors, np.array([[row["good"], row["bad"]]]))[0]
    together = compute_distances(after.vectors, np.array([[row["good"], row["nice"]], [row["nice"], row["fine"]]]))
    assert apart > 0.95
    assert together.max() < 0.1
    for word in ("evil", "dog", "cat"):
        np.testing.assert_allclose(after[word], before.normalise()[word], atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(after.vectors, axis=1), 1, rtol=1e-5)


@needs_torch
def test_the_first_cost_is_the_formula_of_the_paper():
    before = random_vectors(seed=1).normalise()
    settings = CounterFit(
        antonyms=0.3, synonyms=0.2, neighbours=0.7, antonym_distance=1.2, synonym_distance=0.1, radius=0.9
    )
    fitted = counterfit(before, [("good", "nice")], [("dog", "cat"), ("good", "bad")], settings)
    d = {(a, b): 1 - float(before[a] @ before[b]) for a, b in [("good", "nice"), ("dog", "cat"), ("good", "bad")]}
    first, apart = fitted.curve[0], max(0, 1.2 - d["dog", "cat"]) + max(0, 1.2 - d["good", "bad"])
    assert first["antonyms"] == pytest.approx(0.3 * apart, rel=1e-4)
    assert first["synonyms"] == pytest.approx(0.2 * max(0, d["good", "nice"] - 0.1), rel=1e-4)
    assert first["neighbours"] == pytest.approx(0, abs=1e-5)
    assert sum(fitted.curve[-1].values()) < sum(first.values())


@needs_torch
def test_neighbours_do_not_drift_apart_if_the_term_has_weight():
    rng = np.random.default_rng(2)
    base = rng.normal(size=(3, 10))
    near = base[0] + 0.2 * rng.normal(size=10)
    before = WordVectors(["a", "b", "c", "neighbour"], np.vstack([base, near]).astype(np.float32))
    drift = {}
    for weight in (0.0, 5.0):
        settings = CounterFit(neighbours=weight, steps=100, tolerance=0, radius=0.5)
        after = counterfit(before, [("a", "b"), ("neighbour", "c")], [], settings).vectors
        drift[weight] = compute_distances(after.vectors, np.array([[0, 3]]))[0]
    assert drift[5.0] < drift[0.0]


@needs_torch
def test_a_pair_of_both_lists_counts_as_antonyms_and_fitting_stops_when_it_stops_helping():
    fitted = counterfit(random_vectors(), [("good", "nice"), ("good", "bad")], [("bad", "good")])
    assert fitted.curve == counterfit(random_vectors(), [("good", "nice")], [("good", "bad")]).curve
    assert len(fitted.curve) < 100
    with pytest.raises(ValueError, match="lower case"):
        counterfit(random_vectors(), [("GOOD", "NICE")], [])


def test_close_pairs_equal_those_of_all_distances():
    unit = np.random.default_rng(3).normal(size=(60, 4)).astype(np.float32)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    words = np.arange(0, 60, 3)
    vectors = WordVectors(list(map(str, range(60))), unit)
    found = {tuple(pair) for pair in find_close_pairs(vectors, words, 0.1).tolist()}
    cosines = unit @ unit.T
    expected = {(i, j) for i in words.tolist() for j in range(60) if i != j and cosines[i, j] > 0.9}
    assert found == expected


def test_pairs_are_counted_once_and_without_unknown_words():
    vectors = random_vectors()
    pairs = look_up_pairs(vectors, [("good", "bad"), ("bad", "good"), ("good", "unknown"), ("cat", "cat")])
    assert pairs.tolist() == [[0, 1]]
    assert remove_pairs(np.array([[0, 1], [2, 3]]), pairs).tolist() == [[2, 3]]


def test_spearman_is_one_for_the_same_order_and_shares_ties():
    vectors = WordVectors(list("abcd"), np.array([[1, 0], [0.9, 0.1], [0.5, 0.5], [0, 1]], dtype=np.float32))
    judged = [("a", "b", 9.0), ("a", "c", 5.0), ("a", "d", 1.0), ("a", "z", 7.0)]
    assert spearman(vectors, judged) == (pytest.approx(1.0), 3)
    assert spearman(vectors, [(a, b, -score) for a, b, score in judged])[0] == pytest.approx(-1.0)
    assert np.isnan(spearman(vectors, judged[:1])[0])
    np.testing.assert_array_equal(rank(np.array([5.0, 5.0, 1.0])), [2.5, 2.5, 1])


def test_pairs_are_read_without_their_published_prefixes_and_an_error_says_where(tmp_path):
    (tmp_path / "pairs.txt").write_text("en_good en_bad\n\nhot cold\n")
    assert read_pairs(tmp_path / "pairs.txt") == [("good", "bad"), ("hot", "cold")]
    (tmp_path / "pairs.txt").write_text("\n\n")
    with pytest.raises(ValueError, match="no pairs"):
        read_pairs(tmp_path / "pairs.txt")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random_vectors(width=10).write(tmp_path / "v.txt")
    (tmp_path / "syn.txt").write_text("good nice\nnice fine\n")
    (tmp_path / "ant.txt").write_text("good bad\n")
    (tmp_path / "sim.txt").write_text(
        "word1\tword2\tPOS\tSimLex999\ngood\tnice\tA\t9\ngood\tbad\tA\t1\ndog\tcat\tN\t4\n"
    )
    return tmp_path


def counterfit_command(*arguments: str) -> Result:
    given = ["v.txt", "--synonyms", "syn.txt", "--antonyms", "ant.txt", *arguments]
    return run("counterfit", *given, *([] if "--out" in arguments else ["--out", "out.vec"]))


@needs_torch
def test_the_command_writes_vectors_and_reports(files):
    done = counterfit_command("--simlex", "sim.txt", "--json")
    assert done.exit_code == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["simlex_after"] >= report["simlex_before"]
    assert report["fitted"]["synonym_pairs"] == 2
    assert report["fitted"]["after"]["synonym_distance"] < report["fitted"]["before"]["synonym_distance"]
    assert len(WordVectors.read(files / "out.vec")) == 7
    shown = counterfit_command("--simlex", "sim.txt", "--hold-out", "0.5").stdout
    assert "SimLex-999" in shown
    assert "held out" in shown


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("v.txt", b"good 1 2\nbad 3\n", "line 2: 1 numbers"),
        ("syn.txt", b"one two three\n", "line 1: 3 words"),
        ("sim.txt", b"a b c\n", "sim.txt"),
        ("sim.txt", b"word1\tword2\tSimLex999\na\tb\n", "sim.txt, line 2"),
        ("ant.txt", b"hot cold\n\xff\xfe x\n", "ant.txt, line 2"),
    ],
)
def test_bad_files_end_in_a_message_and_status_1(files, name, content, words):
    (files / name).write_bytes(content)
    done = counterfit_command("--simlex", "sim.txt")
    ends_well(done)
    assert (done.exit_code, words in done.stderr) == (1, True)


def test_an_output_that_cannot_be_written_is_refused_before_the_work(files):
    for out, words in (("nowhere/v.npz", "nowhere"), ("v.pkl", "'.pkl'")):
        done = counterfit_command("--out", out)
        assert (done.exit_code, words in done.stderr) == (1, True)


@needs_torch
def test_on_glove_counter_fitting_raises_the_correlation_with_human_judgements(shared_data):
    folder = shared_data / "constraints"
    whole = WordVectors.read(folder.parent / "vectors" / "glove.6B.100d.wink.f16.npz")
    before = whole.take(whole.words[:20_000])
    synonyms = read_pairs(folder / "ppdb_synonyms.txt")
    antonyms = read_pairs(folder / "ppdb_antonyms.txt") + read_pairs(folder / "wordnet_antonyms.txt")
    after = counterfit(before, synonyms, antonyms).vectors
    judged = read_simlex(folder / "SimLex-999.txt")
    assert spearman(after, judged)[0] > spearman(before, judged)[0] + 0.12
    apart = look_up_pairs(before, antonyms)
    found = measure_separation(after, remove_pairs(look_up_pairs(before, synonyms), apart), apart, CounterFit())
    assert found["antonyms_apart"] > 0.9
    assert found["synonym_distance"] < 0.1
