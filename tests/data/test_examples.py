"""Examples: every kind of object gives the same, an error names the row, and samples and splits are stratified."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discotext
from discotext.data import Examples, make_examples
from discotext.data.columns import Columns
from discotext.data.examples import compute_quotas
from discotext.victims.examples import load_examples
from discotext.victims.registry import load_victim

TEXTS = ["A fine film.", "A dull, awful film", "Größe ½", "Great fun"]
labelled = st.lists(st.integers(0, 3), min_size=2, max_size=60).filter(lambda labels: len(set(labels)) > 1)


def examples(labels) -> Examples:
    return Examples.of([f"text {row}" for row in range(len(labels))], [f"class {label}" for label in labels])


def rows(part: Examples) -> list[int]:
    return [int(text.split()[1]) for text in part.texts]


# --- samples and splits


@given(labelled, st.integers(1, 70), st.integers(0, 5))
def test_a_sample_keeps_shares_order_and_labels(labels, limit, seed):
    whole = examples(labels)
    part = whole.sample(limit, seed)
    taken = rows(part)
    assert len(part) == min(limit, len(whole))
    assert taken == sorted(set(taken))
    assert part.labels.tolist() == [whole.labels[row] for row in taken]
    assert taken == rows(whole.sample(limit, seed))
    exact = whole.counts * len(part) / len(whole)
    if exact.min() >= 1:
        assert np.all(abs(part.counts - exact) < 1)
    if limit >= len(whole.names):
        assert part.counts.min() >= 1
    assert part is whole or limit < len(whole)


@given(labelled, st.floats(0.01, 0.99), st.integers(0, 5))
def test_a_split_divides_all_rows_in_two(labels, share, seed):
    whole = examples(labels)
    kept, held = whole.split(share, seed)
    assert sorted(rows(kept) + rows(held)) == list(range(len(whole)))
    assert min(len(kept), len(held)) > 0
    assert np.all(abs(held.counts - whole.counts * len(held) / len(whole)) < 1)
    assert rows(held) == rows(whole.split(share, seed)[1])
    if 2 * len(held) <= len(whole) and whole.counts.min() > 1:
        assert all(kept.counts > 0)


def test_quotas_by_hand_and_other_seeds():
    # Exact shares 1.75, 0.875, 0.375: the floors sum to 1, and the two largest remainders get the other two.
    assert compute_quotas(np.array([14, 7, 3]), 3, least=0).tolist() == [2, 1, 0]
    assert compute_quotas(np.array([14, 7, 3]), 3, least=1).tolist() == [1, 1, 1]
    assert compute_quotas(np.array([1, 99]), 50, least=0).tolist() == [0, 50]
    whole = examples([0, 1] * 50)
    assert len({tuple(rows(whole.sample(10, seed))) for seed in range(5)}) == 5


@pytest.mark.parametrize("wrong", [lambda e: e.sample(0), lambda e: e.split(0), lambda e: e.split(1)])
def test_an_impossible_sample_or_split_is_refused(wrong):
    with pytest.raises(ValueError, match="choose"):
        wrong(examples([0, 1]))


# --- texts


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (7, "is 7, of type int"),
        ("\ud800é", "surrogate"),
        (["premise", "hypothesis"], "of type list"),
    ],
)
def test_an_error_about_a_text_names_the_row(text, says):
    with pytest.raises(ValueError, match=rf"row 2: .*{says}"):
        Examples.of(["fine", text], [0, 1])


@pytest.mark.parametrize("blank", [None, float("nan"), " \n", ""])
def test_a_blank_row_is_skipped_with_its_label_and_counted(blank):
    with pytest.warns(UserWarning, match="row 2: .*skipped"):
        found = Examples.of(["fine", blank, "dull"], [1, None, 0])
    assert (found.texts, found.labels.tolist()) == (("fine", "dull"), [1, 0])
    with pytest.warns(UserWarning, match="row 2: .*2 of 200"):
        Examples.of(["fine", blank, blank, *["dull"] * 197], [1, 0, 0, *[0] * 197])
    with pytest.warns(UserWarning, match="row 1"), pytest.raises(ValueError, match=r"row 3: .* 7"):
        Examples.of([blank, "fine", 7], [0, 0, 1])  # the numbers of later rows are those of the data


@pytest.mark.parametrize(("blank", "filled"), [(1, 0), (2, 5), (2, 197), (11, 1000)])
def test_more_than_one_blank_row_in_a_hundred_is_refused(blank, filled):
    with pytest.raises(ValueError, match=f"{blank} of {blank + filled:,}"):
        Examples.of(["a"] * filled + [" "] * blank, [0, *[1] * (filled + blank - 1)])


# --- Python objects

THINGS = {
    "pair": (["a", "b"], ["yes", "no"]),
    "arrays": (np.array(["a", "b"]), np.array(["yes", "no"])),
    "records": [{"text": "a", "label": "yes"}, {"text": "b", "label": "no", "more": 1}],
    "pairs": [("a", "yes"), ("b", "no")],
    "generator": lambda: (pair for pair in [("a", "yes"), ("b", "no")]),
    "columns": {"Sentence": ["a", "b"], "target": ["yes", "no"]},
}


@pytest.mark.parametrize("name", THINGS)
def test_every_kind_of_object_gives_the_same_examples(name):
    found = make_examples(THINGS[name]() if name == "generator" else THINGS[name])
    assert (found.texts, found.labels.tolist(), found.names) == (("a", "b"), [1, 0], ("no", "yes"))
    assert make_examples(found) is found


def test_a_data_frame_is_read_and_missing_values_are_reported():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"review": ["a", "b"], "stars": ["yes", "no"], 3: [0, 0]})
    assert make_examples(frame, label_column="stars").labels.tolist() == [1, 0]
    with pytest.raises(ValueError, match=r"'review', 'stars', '3'.*--label-column"):
        make_examples(frame)
    gaps = pandas.DataFrame({"text": ["a", "b"], "label": pandas.array([1, None], dtype="Int64")})
    with pytest.raises(ValueError, match=r"row 2: .*missing"):
        make_examples(gaps)
    with pytest.warns(UserWarning, match="row 2: .*missing"):
        assert len(make_examples(pandas.DataFrame({"text": ["a", None, "b"], "label": [0, 1, 1]}))) == 2


@pytest.mark.parametrize(
    ("thing", "error", "says"),
    [
        ("imdb", TypeError, "load_data"),
        ([], ValueError, "no rows"),
        (("a text", [1]), TypeError, "'a text'"),
        ({"train": SimpleNamespace(columns=[]), "test": SimpleNamespace(columns=[])}, ValueError, "'train', 'test'"),
        ([{"text": "a", "label": 1}, {"text": "b"}], ValueError, "row 2: 'label'"),
        ({"text": [], "review": [], "label": []}, ValueError, "'text', 'review'"),
        ([("premise", "hypothesis", 0)], ValueError, "row 1: .*pairs"),
        ([{"premise": "a", "hypothesis": "b", "label": 0}], ValueError, "pairs"),
        ({"text": []}, ValueError, "--label-column"),
    ],
    ids=str,
)
def test_an_object_without_examples_is_refused(thing, error, says):
    with pytest.raises(error, match=says):
        make_examples(thing)


# --- texts without labels


class Counted:
    """A function that counts the texts it is asked about."""

    labels = ("negative", "positive")

    def __init__(self):
        self.asked = 0

    def __call__(self, texts):
        self.asked += len(texts)
        return [[float("awful" in text or "½" in text), 0.5] for text in texts]


def make_unlabelled(place, form, texts):
    if form == "list":
        return texts
    path = place / ("many.txt" if form == "file" else "many.csv")
    quoted = texts if form == "file" else ["text", *(f'"{text}"' for text in texts)]
    path.write_text("\n".join(quoted) + "\n\n", encoding="utf-8")
    return path


def test_labels_that_are_there_are_not_looked_at_where_the_user_says_so(tmp_path):
    data, victim = make_unlabelled(tmp_path, "column", TEXTS), load_victim(Counted())
    with pytest.raises(ValueError, match="--unlabelled"):
        load_examples(victim, data)
    data.write_text("text,label\nfine,nonsense\nawful,\n")
    with pytest.warns(UserWarning, match="no labels"):
        assert load_examples(victim, data, Columns(unlabelled=True)).labels.tolist() == [1, 0]


@pytest.mark.parametrize("form", ["list", "file", "column"])
def test_a_sample_of_texts_without_labels_is_taken_before_the_victim_is_asked(tmp_path, form):
    texts = [f"An awful film of {number} mice" if number % 3 else f"A fine film {number}" for number in range(100)]
    counted, data = Counted(), make_unlabelled(tmp_path, form, texts)
    with pytest.warns(UserWarning, match="7 texts"):
        found = load_examples(load_victim(counted), data, Columns(unlabelled=form == "column"), limit=7, seed=3)
    assert (len(found), found.asked, counted.asked) == (7, 7, 7)
    assert found.labels.tolist() == [int("fine" in text) for text in found.texts]
    with pytest.warns(UserWarning, match="100 texts"):
        whole = load_examples(load_victim(counted), data, Columns(unlabelled=form == "column"))
    assert whole.asked == 100
    assert load_examples(load_victim(counted), found).asked == 0  # labelled before, not for this run
    assert counted.asked == 107


@pytest.mark.parametrize("make", [tuple, np.array, lambda texts: np.array(texts, dtype=object), "object", "string"])
def test_any_sequence_of_strings_is_texts_without_labels(make):
    texts = TEXTS
    if isinstance(make, str):
        texts = pytest.importorskip("pandas").Series(TEXTS, index=[7, 7, 3, 1], dtype=make)
    with pytest.warns(UserWarning, match="4 texts"):
        result = discotext.attack(Counted(), texts if isinstance(make, str) else make(TEXTS), "greedy", words=1)
    assert [(record.text, record.label) for record in result.records] == list(zip(TEXTS, [1, 0, 0, 1], strict=True))


@pytest.mark.parametrize(
    ("data", "error", "says"),
    [
        ([*TEXTS, None, None], ValueError, "row 5"),
        ([*TEXTS, 3.0], ValueError, "row 5: .* 3.0"),
        (("A film", "neg"), ValueError, "'A film' and 'neg'"),
        (("A film", 1), ValueError, "'A film' and 1"),
        ("A film", ValueError, "--text"),
        (np.array("abc"), TypeError, "'abc'"),  # which is not cut into letters
    ],
)
def test_what_is_not_a_sequence_of_strings_is_told(data, error, says):
    with pytest.raises(error, match=says):
        discotext.attack(Counted(), data, words=1)


def test_queries_for_labels_are_part_of_all_queries():
    data = [f"An awful film of {number} mice" for number in range(100)]
    counted = Counted()
    with pytest.warns(UserWarning, match="no labels"):
        discotext.attack(counted, data, words=1, limit=20, total_queries=150, progress=False)
    assert 20 < counted.asked <= 150
    counted = Counted()
    with pytest.raises(ValueError, match="99 queries"):
        discotext.attack(counted, data, words=1, total_queries=99)
    with pytest.raises(ValueError, match="100 attacks"):  # 100 for labels, and 3 for each text
        discotext.attack(counted, data, words=1, surrogate="none", total_queries=400)
    assert counted.asked == 0


def test_columns_may_be_named_in_python():
    frame = pytest.importorskip("pandas").DataFrame({"Kommentar": TEXTS, "Urteil": [1, 0, 0, 1]})
    for call in (discotext.attack, discotext.certify):
        result = call(Counted(), frame, text_column="Kommentar", label_column="Urteil", words=1)
        assert [(record.text, record.label) for record in result.records] == list(zip(TEXTS, [1, 0, 0, 1], strict=True))
