"""Named data sets: the folder first, then the package, then the hub; and the command `data`."""

import hashlib
import json
import sys
from types import SimpleNamespace

import pytest

from discotext.data import load_data, registry
from discotext.data.columns import Columns, parse_renames
from discotext.data.registry import DATASETS, describe_locations, load_split, locate
from discotext.victims.examples import load_examples
from tests.data.writers import make_victim, write
from tests.fuzzing import run


@pytest.fixture
def nowhere(monkeypatch):
    """No folder, no package, no hub."""
    monkeypatch.delenv("DISCOTEXT_DATA", raising=False)
    monkeypatch.setattr(registry, "_find_package_file", lambda: None)
    monkeypatch.setattr(registry.importlib.util, "find_spec", lambda name: None)


def test_an_error_about_missing_data_says_how_to_get_it(nowhere):
    with pytest.raises(ValueError, match=r"DISCOTEXT_DATA .*\[demo\].*\[hub\]"):
        load_split("movie_reviews", "train")
    with pytest.raises(ValueError, match=r"DISCOTEXT_DATA .*\[hub\]") as caught:
        load_split("imdb", "test")
    assert "demo" not in str(caught.value)  # the package does not have the test split


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCOTEXT_DATA", str(tmp_path))
    write(tmp_path / "trec_test.csv", ["Who?", "Where?"], ["HUM", "LOC"])
    return tmp_path


def test_the_folder_comes_first_in_any_format_and_what_is_not_there_is_refused(folder, monkeypatch):
    found = load_data("trec")
    assert (found.names, found.labels.tolist(), found.source) == (DATASETS["trec"].labels, [3, 4], "trec")
    location = describe_locations("trec")["test"]
    content = (folder / "trec_test.csv").read_bytes()
    assert (location.kind, location.rows, location.bytes, location.known) == ("folder", 2, len(content), False)
    assert location.sha256 == hashlib.sha256(content).hexdigest()
    monkeypatch.setenv("DISCOTEXT_DATA", str(folder / "none"))
    for name, split, says in (("trec", "test", "none"), ("imbd", "train", "'imbd'"), ("imdb", "dev", "'dev'")):
        with pytest.raises(ValueError, match=says):
            load_split(name, split)


def test_the_hub_comes_last_and_its_failure_is_one_line(nowhere, monkeypatch):
    asked = []

    def load_dataset(name, split):
        asked.append((name, split))
        if name == "stanfordnlp/imdb":
            raise ConnectionError("no route to host.\nmore\nlines")
        return {"text": ["What?", "Who?"], "label": [0, 1], "label_coarse_original": ["DESC", "HUM"]}

    monkeypatch.setattr(registry.importlib.util, "find_spec", lambda name: name)
    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    assert describe_locations("trec")["test"].kind == "hub"
    assert not asked
    assert load_split("trec", "test").labels.tolist() == [1, 3]
    assert asked == [("SetFit/TREC-QC", "test")]
    with pytest.raises(RuntimeError, match=r"\(no route to host\)") as caught:
        load_split("imdb", "test")
    assert "\n" not in str(caught.value)


COUNTS = {
    ("imdb", "train"): [12_500, 12_500],
    ("imdb", "test"): [12_500, 12_500],
    ("ag_news", "train"): [17_103, 16_253, 16_277, 17_124],
    ("ag_news", "test"): [1_900] * 4,
    ("trec", "train"): [86, 1_162, 1_250, 1_223, 835, 896],
    ("trec", "test"): [9, 138, 94, 65, 81, 113],
}


@pytest.mark.parametrize(("name", "split"), COUNTS)
def test_real_data_has_the_rows_it_should(shared_data, name, split):
    if not (shared_data / f"{name}_{split}.parquet").is_file():
        pytest.skip("not in this folder")
    found = load_split(name, split)
    location = describe_locations(name)[split]
    assert location.rows == len(found)
    if location.known:
        assert found.counts.tolist() == COUNTS[name, split]
    else:
        assert name != "trec"  # the copy in the shared folder is a known one
    assert found.names == DATASETS[name].labels


@pytest.fixture
def package(monkeypatch):
    monkeypatch.delenv("DISCOTEXT_DATA", raising=False)
    if locate("movie_reviews", "test").kind != "package":
        pytest.skip("the package movie-reviews is not installed")


def test_the_split_of_movie_reviews_never_changes(package):
    train, test = load_split("movie_reviews", "train"), load_split("movie_reviews", "test")
    assert train.counts.tolist() == [3_412, 3_412]
    assert test.counts.tolist() == [853, 853]
    assert not set(train.texts) & set(test.texts)
    # Otherwise figures measured on the test split would no longer be comparable.
    digest = hashlib.sha256("\n".join(sorted(test.texts)).encode()).hexdigest()
    assert digest == "69731cdcc155a9cbf6107068e7402bb57f50338a7836419eb059b6015c22a39e"
    assert "movie_reviews" not in sys.modules
    assert all(location.known for location in describe_locations("movie_reviews").values())


def test_the_package_has_the_same_imdb_as_the_folder(shared_data, package, monkeypatch):
    found = load_split("imdb", "train")
    monkeypatch.setenv("DISCOTEXT_DATA", str(shared_data))
    if locate("imdb", "train").kind != "folder":
        pytest.skip("not in this folder")
    other = load_split("imdb", "train")
    as_set = [sorted(zip(one.texts, one.labels.tolist(), strict=True)) for one in (found, other)]
    assert as_set[0] == as_set[1]


def test_a_data_set_in_another_order_than_the_victims_is_turned(folder):
    write(folder / "imdb_test.csv", ["fine film", "awful film"], [1, 0])
    assert load_examples(make_victim("NEGATIVE", "POSITIVE"), "imdb").labels.tolist() == [1, 0]
    assert load_examples(make_victim("POSITIVE", "NEGATIVE"), "imdb").labels.tolist() == [0, 1]
    assert load_examples(make_victim("LABEL_0", "LABEL_1"), "imdb").labels.tolist() == [1, 0]
    with pytest.raises(ValueError, match=r"negative, positive.*--map-label"):
        load_examples(make_victim("bad", "good"), "imdb")
    mapped = Columns(rename=parse_renames(["negative=bad", "Positive=good"]))
    assert load_examples(make_victim("bad", "good"), "imdb", mapped).labels.tolist() == [1, 0]


def test_neither_a_file_nor_a_data_set(tmp_path):
    for text in ("This film was great", "I like U.S. films. " * 50):
        with pytest.raises(ValueError, match="--text"):
            load_data(text)
    with pytest.raises(FileNotFoundError, match=r"none\.csv"):
        load_data(tmp_path / "none.csv")
    with pytest.raises(IsADirectoryError, match=str(tmp_path)):
        load_data(tmp_path)
    with pytest.raises(ValueError, match=r"'reviews' .*imdb, ag_news, .*\.csv"):
        load_data("reviews")


# --- the command


def test_the_command_lists_and_describes_data_sets(folder):
    listed = run("data")
    assert listed.exit_code == 0, listed.stderr
    assert all(name in listed.stdout for name in DATASETS)
    assert all(one.origin and one.licence and one.citation and one.name == name for name, one in DATASETS.items())
    content = json.loads(run("data", "--json").stdout)
    assert [one["name"] for one in content] == list(DATASETS)
    assert {one["name"]: one["splits"]["test"]["found"] for one in content}["trec"] == "folder"
    told = run("data", "trec").stdout
    assert all(part in told for part in ("COLING 2002", "2 rows of 500", "not a known copy"))
    one = json.loads(run("data", "trec", "--json").stdout)
    assert one["splits"]["test"]["rows"] == 2
    assert one["labels"] == list(DATASETS["trec"].labels)
    wrong = run("data", "imbd")
    assert (wrong.exit_code, "'imbd'" in wrong.stderr, wrong.stderr.count("\n")) == (1, True, 1)
