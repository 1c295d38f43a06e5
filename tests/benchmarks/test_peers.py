"""The side-by-side benchmark: what TextAttack is shown, what is verified, what is kept. TextAttack is not needed."""

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.peers import cells, report, tables, verify
from benchmarks.peers.coding import Coded, token
from benchmarks.peers.ours import attack
from benchmarks.peers.texts import Chunk, Published
from hypothesis import given
from hypothesis import strategies as st

from discotext import Candidates, Space
from discotext.runs.summary import mcnemar_of_pairs
from discotext.text.words import compute_budget, split
from discotext.victims import load_victim

LISTED = {"good": ["fine", "nice"], "film": ["movie"], "awful": ["bad", "poor"], "dull": ["slow"]}
TEXT = "A good film,  awful &amp; dull: <br />good!"
WORTH = {"fine": -0.2, "nice": -0.6, "movie": -0.1, "bad": 0.1, "poor": 0.2, "slow": -0.3, "good": 1.0, "awful": -0.3}


def space(text=TEXT, words=2):
    return Space.of([text], Candidates(Published(LISTED), ()), words=words)


def coded(made):
    return Coded(made.texts[0].gaps, made.options[0])


def positive(texts):
    return [[0.0, sum(WORTH.get(word.lower(), 0.0) for word in split(text).words)] for text in texts]


# Coding


@given(st.data())
def test_tokens_decode_to_the_text_of_their_choice_and_back(data):
    made = space()
    choice = [data.draw(st.integers(0, len(options) - 1)) for options in made.options[0]]
    tokens = " ".join(token(position, candidate) for position, candidate in enumerate(choice))
    assert coded(made).decode(tokens) == made.text(0, choice)
    assert coded(made).choice(tokens) == choice


@pytest.mark.parametrize("text", [TEXT, "good film", "good", '"good" film - good.', "good\nfilm"])
def test_a_token_left_out_is_a_word_left_out(text):
    made = space(text)
    tokens = coded(made).original.split()
    for position in range(len(tokens)):
        left = " ".join(tokens[:position] + tokens[position + 1 :])
        assert coded(made).decode(left) == made.delete_word(0, position)


# Verifying

CELL = cells.Cell("cell", "data", "victim", 10, words=2)
RULES = verify.Rules({word: set(listed) for word, listed in LISTED.items()}, lambda word: word.lower() != "poor")
WON = "A nice film,  bad &amp; dull: <br />good!"
RECORD = {"text": WON, "label": 1, "predicted": 1, "broken": True, "budget": 2, "changes": 2}


def judged(record, wrong_about=(WON,)):
    return verify.verdict(record, CELL, TEXT, 1, RULES, lambda text: 0 if text in wrong_about else 1)


def test_a_true_record_is_verified():
    assert judged(RECORD) == verify.FINE
    assert judged({**RECORD, "broken": False}, wrong_about=()) == verify.FINE
    assert judged({**RECORD, "text": TEXT, "broken": False, "predicted": 0, "changes": 0}, (TEXT,)) == verify.FINE


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"text": WON.replace("dull", "slow"), "changes": 3}, "3 words"),
        ({"changes": 1}, "says 1"),
        ({"text": WON.replace("nice", "lovely")}, "'lovely'"),
        ({"text": WON.replace("bad", "poor")}, "'poor'"),
        ({"text": WON.replace("film", "fine")}, "'film'"),
        ({"text": WON.replace("  ", " ")}, "words"),
        ({"text": WON + " good"}, "words"),
        ({"broken": False}, "wrong"),
        ({"text": WON.replace("nice", "fine")}, "right"),
        ({"predicted": 0}, "not"),
        ({"budget": 3}, "m 3"),
        ({"label": 0, "predicted": 0}, "label 0"),
    ],
)
def test_a_record_that_is_wrong_in_any_one_point_is_refused(change, named):
    assert named in judged({**RECORD, **change})


def test_a_text_that_was_wrong_before_may_not_come_back_changed():
    assert judged({**RECORD, "predicted": 0}, (TEXT, WON)) != verify.FINE


@pytest.mark.parametrize("share", ["0.05", "0.1", "0.2", "0.3", "1"])
def test_the_budget_worked_out_again_is_that_of_the_spaces(share):
    assert [verify.most(n, share, None) for n in range(300)] == [compute_budget(n, share) for n in range(300)]


# Ours


@pytest.mark.parametrize("solver", ["greedy", "beam", "left-to-right", "ranked-greedy", "exact"])
def test_what_our_solvers_find_is_verified_by_code_they_do_not_use(solver):
    texts = [TEXT, "awful", "good good good good", "dull"]
    made = Space.of(texts, Candidates(Published(LISTED), ()), words=2)
    chunk = Chunk([7, 3, 5, 4], [1, 1, 1, 0], texts, made)
    records = attack(load_victim(positive), chunk, solver, seed=0)
    assert [record["id"] for record in records] == chunk.ids
    rules = replace(RULES, known=lambda word: True)
    for record, text, label, m in zip(records, texts, chunk.labels, made.budgets, strict=True):
        whole = {**record, "label": label, "budget": m}
        found = verify.verdict(whole, CELL, text, label, rules, lambda one: int(np.argmax(positive([one])[0])))
        assert found == verify.FINE
        assert record["forwards"] == record["reached"] >= 1
    assert records[1]["forwards"] == 1
    if solver in ("greedy", "beam", "exact"):
        assert [record["broken"] for record in records] == [True, False, False, False]


# Results


def test_a_row_adds_up():
    about = {"cell": "trec-2w", "search": "greedy", "label": 1, "words": 10, "budget": 2, "candidates": 5}
    about |= {"space": "x", "session": 0, "text": "", "forwards": 10, "backwards": 2, "reached": 9}
    about |= {"seconds": 0.5, "cpu_seconds": 0.4, "victim_seconds": 0.3}
    outcomes = [(True, 1, 1), (True, 2, 1), (False, 1, 1), (False, 0, 0)]
    records = [
        {**about, "id": number, "broken": broken, "changes": changes, "predicted": predicted}
        for number, (broken, changes, predicted) in enumerate(outcomes)
    ]
    cell, search = cells.CELLS["trec-2w"], cells.Search("greedy", 4)
    row = report.row(cell, search, records, wrong=0)
    assert (row["n"], row["attacked"], row["original_accuracy"], row["adversarial_accuracy"]) == (4, 3, 0.75, 0.25)
    assert (row["perturbation"], row["words_changed"]) == (pytest.approx(0.15), 1.5)
    assert (row["forwards"], row["backwards"], row["seconds"], row["verified"]) == (40, 8, 2.0, True)
    assert row["forward_equivalents"] == pytest.approx(40 + (report.gradient_cost("lstm_trec") - 1) * 8)
    assert report.row(cell, search, records, wrong=1)["verified"] is False


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=30))
def test_pairs_are_counted_and_tested_as_the_experiments_do(outcomes):
    texts = [
        {"right": True, "budget": 2, "searches": {"disco": [int(a), 1, 9, 0.1], "greedy": [int(b), 2, 9, 0.1]}}
        for a, b in outcomes
    ]
    texts.append({"right": False, "budget": 2, "searches": {"disco": [0, 0, 1, 0.1], "greedy": [0, 0, 1, 0.1]}})
    lines = tables.pairs(texts, "disco")
    assert len(lines) == bool(outcomes)
    for _, other, n, only, theirs, p, words in lines:
        assert (other, int(n)) == ("`greedy`", len(outcomes))
        assert int(only) == sum(a > b for a, b in outcomes)
        assert int(theirs) == sum(b > a for a, b in outcomes)
        assert float(p) == pytest.approx(mcnemar_of_pairs(outcomes), rel=0.06)
        assert words == ("-50.0 %" if any(a and b for a, b in outcomes) else "")
