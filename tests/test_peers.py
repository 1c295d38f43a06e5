"""The side-by-side benchmark: what TextAttack is shown, what is verified, what is kept. TextAttack is not needed."""

import json
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.peers import cells, peer, report, tables, verify
from benchmarks.peers.__main__ import arguments
from benchmarks.peers.coding import Coded, place, token
from benchmarks.peers.ours import attack
from benchmarks.peers.records import Folder
from benchmarks.peers.run import Run
from benchmarks.peers.texts import Chunk, Published
from hypothesis import given
from hypothesis import strategies as st

from discotext import Candidates, Space
from discotext.experiment.summary import mcnemar_of_pairs
from discotext.solvers import SOLVERS
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


def test_a_token_is_letters_and_digits_belongs_to_one_place_and_tells_its_replacements():
    text = coded(space())
    tokens = [token(p, c) for p, words in enumerate(text.options) for c in range(len(words))]
    assert all(one.isalnum() and one.isascii() for one in tokens)
    assert len(set(tokens)) == len(tokens) == sum(map(len, text.options))
    for one in tokens:
        others = text.replacements(one)
        assert sorted([one, *others]) == sorted(other for other in tokens if place(other)[0] == place(one)[0])
    assert text.changeable == {p for p, words in enumerate(text.options) if len(words) > 1}


def test_what_is_no_token_or_not_all_words_is_refused():
    with pytest.raises(ValueError, match="not a token"):
        place("word")
    with pytest.raises(ValueError, match="not a sequence"):
        coded(space()).choice("w0c0 w2c0")


# Slopes


def test_the_slope_at_a_word_is_that_of_the_loss_by_its_vector():
    torch = pytest.importorskip("torch")
    from benchmarks.peers.asking import slopes_by_words

    from tests.test_neural import tiny

    victim = tiny(dtype=torch.float64, seed=1)
    text = Coded(("", " ", " ", "."), (("good",), ("film",), ("unheard",)))
    vectors = victim.table[victim.vocabulary.rows(["good", "film", "unheard"])].clone()

    def loss(shifted):
        logits = victim.network(shifted.unsqueeze(0), torch.tensor([3]))
        return float(torch.nn.functional.cross_entropy(logits, base.argmax(1)))

    base = victim.network(vectors.unsqueeze(0), torch.tensor([3]))
    found = slopes_by_words(victim, text)
    assert found.shape == tuple(vectors.shape)
    for word, axis in ((0, 0), (1, 3), (2, 7)):
        step = torch.zeros_like(vectors)
        step[word, axis] = 1e-6
        assert found[word, axis] == pytest.approx((loss(vectors + step) - loss(vectors - step)) / 2e-6, abs=1e-6)


def test_the_pieces_of_a_word_are_averaged_and_marks_belong_to_none():
    pytest.importorskip("torch")
    from benchmarks.peers.asking import by_word, spans_of

    text = Coded(("<", ", ", "!"), (("enjoyed", "liked"), ("it",)))
    assert spans_of(text) == [(1, 8), (10, 12)]
    pieces = np.array([(0, 0), (0, 1), (1, 6), (6, 8), (8, 9), (0, 0)])
    slopes = np.arange(12.0).reshape(6, 2)
    np.testing.assert_array_equal(by_word(slopes, pieces, np.array(spans_of(text))), [[5.0, 6.0], [0.0, 0.0]])


# Verifying

CELL = cells.Cell("cell", "data", "victim", 10, words=2)
RULES = verify.Rules({word: set(listed) for word, listed in LISTED.items()}, lambda word: word.lower() != "poor")
WON = "A nice film,  bad &amp; dull: <br />good!"
RECORD = {"text": WON, "label": 1, "predicted": 1, "broken": True, "budget": 2, "changes": 2}


def judged(record, wrong_about=(WON,), label=1, original=TEXT, cell=CELL):
    return verify.verdict(record, cell, original, label, RULES, lambda text: 0 if text in wrong_about else 1)


def test_a_true_record_holds():
    assert judged(RECORD) == verify.FINE
    assert judged({**RECORD, "broken": False}, wrong_about=()) == verify.FINE
    assert judged({**RECORD, "text": TEXT, "broken": False, "predicted": 0, "changes": 0}, (TEXT,)) == verify.FINE


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"text": WON.replace("dull", "slow"), "changes": 3}, "3 words changed, of 2"),
        ({"changes": 1}, "the record says 1"),
        ({"text": WON.replace("nice", "lovely")}, "'lovely' is not a candidate of 'good'"),
        ({"text": WON.replace("bad", "poor")}, "'poor' is not a candidate"),
        ({"text": WON.replace("film", "fine")}, "'fine' is not a candidate of 'film'"),
        ({"text": WON.replace("  ", " ")}, "other than words"),
        ({"text": WON + " good"}, "other than words"),
        ({"broken": False}, "wrong about the text"),
        ({"text": WON.replace("nice", "fine")}, "right about the text"),
        ({"predicted": 0}, "not"),
        ({"budget": 3}, "m 3"),
        ({"label": 0, "predicted": 0}, "label 0"),
    ],
)
def test_a_record_that_is_wrong_in_any_one_point_does_not(change, says):
    assert says in judged({**RECORD, **change})


def test_a_text_that_was_wrong_before_may_not_come_back_changed():
    assert "misclassified before" in judged({**RECORD, "predicted": 0}, (TEXT, WON))


def test_case_is_no_other_word_and_the_published_list_is_read_in_lower_case(tmp_path):
    (tmp_path / "list.json").write_text(json.dumps({"Good": ["Fine"], "good": ["nice"]}))
    listed = verify.published(tmp_path / "list.json")
    assert listed == {"good": {"fine", "nice"}}
    rules = verify.Rules(listed, lambda word: True)
    assert verify.changes("Good, GOOD", "Fine, NICE", rules) == 2


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


@pytest.mark.parametrize("solver", ["greedy", "beam", "exact"])
def test_a_text_alone_is_attacked_as_in_company(solver):
    texts = [TEXT, "awful", "good good good good", "good film"]
    chunk = Chunk([7, 3, 5, 4], [1, 1, 1, 1], texts, Space.of(texts, Candidates(Published(LISTED), ()), words=2))
    victim, same = load_victim(positive), ("id", "predicted", "broken", "text", "changes", "forwards", "backwards")
    together = attack(victim, chunk, solver, seed=0)
    alone = [attack(victim, chunk.take([number]), solver, seed=0)[0] for number in range(4)]
    assert [[one[key] for key in same] for one in together] == [[one[key] for key in same] for one in alone]


def test_the_first_texts_of_a_chunk_are_a_chunk():
    texts = [TEXT, "good film"]
    chunk = Chunk([1, 2], [0, 1], texts, Space.of(texts, Candidates(Published(LISTED), ()), words=1))
    assert len(chunk.first(0)) == 0
    assert chunk.first(5).ids == [1, 2]
    assert chunk.first(1).space.options == chunk.space.options[:1]


# Records

SOME = [{"cell": "c", "search": "s", "id": number, "value": 0} for number in range(3)]


def test_records_survive_a_line_that_was_cut_off_and_the_later_counts(tmp_path):
    folder = Folder(tmp_path / "run")
    folder.begin({"seed": 0})
    folder.append(SOME)
    path = tmp_path / "run" / "records.jsonl"
    path.write_bytes(path.read_bytes()[:-5])
    folder.append([{**SOME[0], "value": 1}])
    found = folder.records()
    assert list(found) == [("c", "s", 0), ("c", "s", 1)]
    assert found["c", "s", 0]["value"] == 1
    assert (tmp_path / "run" / ".gitignore").read_text() == "*\n"


def test_a_folder_goes_on_with_the_same_settings_only(tmp_path):
    folder = Folder(tmp_path)
    folder.begin({"seed": 0, "threads": 1})
    folder.begin({"seed": 0, "threads": 1})
    with pytest.raises(ValueError, match="whose threads is 1, not 2"):
        folder.begin({"seed": 0, "threads": 2})
    with pytest.raises(ValueError, match="holds no run"):
        Folder(tmp_path / "other").settings  # noqa: B018


def test_what_is_dropped_is_dropped_and_nothing_else(tmp_path):
    folder = Folder(tmp_path)
    folder.append([*SOME, {**SOME[0], "search": "t"}, {**SOME[0], "cell": "d"}])
    assert folder.drop(["c"], ["s"]) == 3
    assert list(folder.records()) == [("c", "t", 0), ("d", "s", 0)]


def test_sessions_are_counted(tmp_path):
    folder = Folder(tmp_path)
    assert [folder.begin_session({"date": day}) for day in "abc"] == [0, 1, 2]


# Cells and the command line


def test_both_sides_are_in_every_cell_and_slow_searches_only_where_they_end():
    for cell in cells.CELLS.values():
        names = [search.name for search in cell.searches]
        assert set(cells.PEERS) <= set(names)
        assert set(SOLVERS) - {"exact", "beam"} <= set(names)
        assert len(names) == len(set(names))
        assert [search.peer for search in cell.searches][:4] == [False, True, False, True]
    slow = {search.name: search.texts for search in cells.CELLS["imdb-5"].searches}
    assert slow["textattack-pso"] == slow["beam"] == 20
    assert slow["greedy"] == 50
    assert "beam" not in {search.name for search in cells.CELLS["imdb-20"].searches}
    assert {search.solver for search in cells.CELLS["imdb-5"].searches if search.alone} == set(cells.ALONE)
    assert "textattack-greedy-dynamic" in {search.name for search in cells.CELLS["minilm-10"].searches}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["--search", "gredy"], "there is no search 'gredy'"),
        (["--redo"], "name them with --search"),
        (["--limit", "0"], "--limit is 0; choose 1 or more"),
        (["--cell", "imdb"], "imdb-5"),
    ],
)
def test_wrong_options_end_with_a_sentence(given, says, capsys):
    with pytest.raises(SystemExit) as ended:
        arguments(given)
    assert ended.value.code == 2
    assert says in capsys.readouterr().err


def test_what_is_missing_is_named_with_the_way_to_make_it(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"benchmarks\.peers\.environment"):
        peer.Peer(tmp_path / "python", "victim", 1, 32, tmp_path / "log")
    run = Run(tmp_path, tmp_path, tmp_path)
    with pytest.raises(ValueError, match="discotext train trec --out"):
        run.address(cells.CELLS["trec-1w"])
    with pytest.raises(ValueError, match="finetune_minilm ag_news"):
        run.address(cells.CELLS["minilm-10"])
    monkeypatch.setenv("DISCOTEXT_DATA", str(tmp_path))
    with pytest.raises(ValueError, match="DISCOTEXT_DATA names the folder"):
        run.check(["trec-1w"])
    (tmp_path / "neighbours").mkdir()
    (tmp_path / "neighbours" / cells.NEIGHBOURS).write_text("{}")
    (tmp_path / "lstm_trec").mkdir()
    with pytest.raises(ValueError, match="--peer-python"):
        run.check(["trec-1w"])
    Run(tmp_path, tmp_path, tmp_path, ["greedy"]).check(["trec-1w"])


# Results


def outcome(number, broken, search, changes=1, predicted=1, **more):
    spent = {"forwards": 10, "backwards": 2, "reached": 9, "seconds": 0.5, "cpu_seconds": 0.4, "victim_seconds": 0.3}
    about = {"cell": "trec-2w", "search": search, "id": number, "label": 1, "predicted": predicted, "words": 10}
    about |= {"budget": 2, "candidates": 5, "space": "x", "session": 0, "text": "", "broken": broken}
    return {**about, "changes": changes, **spent, **more}


def test_a_row_adds_up():
    records = [outcome(0, True, "greedy", 1), outcome(1, True, "greedy", 2), outcome(2, False, "greedy")]
    records.append(outcome(3, False, "greedy", 0, predicted=0))
    cell = cells.CELLS["trec-2w"]
    row = report.row(cell, cells.Search("greedy", 4), records, wrong=0)
    assert (row["n"], row["attacked"], row["original_accuracy"], row["adversarial_accuracy"]) == (4, 3, 0.75, 0.25)
    assert row["perturbation"] == pytest.approx(0.15)
    assert row["words_changed"] == 1.5
    assert (row["forwards"], row["backwards"], row["seconds"], row["verified"]) == (40, 8, 2.0, True)
    assert row["forward_equivalents"] == pytest.approx(40 + (report.gradient_cost("lstm_trec") - 1) * 8)
    assert report.row(cell, cells.Search("greedy", 4), records, wrong=1)["verified"] is False
    assert row["failed"] == 0
    assert report.row(cell, cells.Search("greedy", 1), [{**records[2], "error": "no"}], wrong=0)["failed"] == 1


def test_a_gradient_costs_what_was_measured_or_the_usual(tmp_path):
    assert report.gradient_cost("lstm_trec", tmp_path) == report.LSTM_GRADIENT
    rows = [{"victim": "tiny", "call": call, "bare texts/s": speed} for call, speed in (("score", 30), ("relaxed", 10))]
    (tmp_path / "throughput.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert report.gradient_cost("hf:tiny", tmp_path) == 3.0


def test_rows_have_the_provenance_of_their_session_and_one_space_a_text(tmp_path):
    folder = Folder(tmp_path)
    folder.begin({"split": "test", "seed": 0})
    folder.begin_session({"machine": "m", "versions": {"discotext": "1"}, "date": "d"})
    folder.begin_session({"machine": "m", "versions": {"discotext": "1"}, "date": "e", "peer_versions": {"torch": "2"}})
    folder.append([outcome(0, True, "greedy"), outcome(0, False, "textattack-greedy", session=1)])
    found = {row["search"]: row for row in report.rows(folder, folder.records(), dict.fromkeys(folder.records(), ""))}
    wanted = set("data victim budget search n original_accuracy adversarial_accuracy perturbation forwards".split())
    wanted |= set("backwards seconds verified machine versions date".split())
    assert all(wanted <= row.keys() for row in found.values())
    assert found["greedy"]["versions"] == {"discotext": "1"}
    assert found["textattack-greedy"]["versions"]["peer"] == {"torch": "2"}
    assert found["textattack-greedy"]["date"] == "e"
    (line,) = report.texts(folder.records())
    assert line["searches"] == {"greedy": [1, 1, 12, 0.5], "textattack-greedy": [0, 1, 12, 0.5]}
    folder.append([outcome(0, True, "beam", space="y")])
    with pytest.raises(ValueError, match="two search spaces"):
        report.texts(folder.records())


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


def test_tables_show_every_search_and_say_what_is_not_verified_or_on_fewer_texts(tmp_path):
    row = report.row(
        cells.CELLS["imdb-5"], cells.Search("disco", 2), [outcome(0, True, "disco"), outcome(1, False, "disco")], 0
    )
    few = {**row, "search": "textattack-pso", "n": 1, "verified": False}
    shown = tables.accuracy([few, row])
    lines = [line.split("|")[1:-1] for line in shown.splitlines()]
    assert [line[0].strip() for line in lines] == ["search", "---", "texts", "before", "`disco`", "`textattack-pso`"]
    assert lines[0][1].strip() == "IMDB 5 %"
    assert lines[2][1].strip() == "2"
    assert lines[4][1].strip() == "50.0"
    assert lines[5][1].strip() == "50.0 (1 texts) (not verified)"
    assert "12 (" in tables.passes([row])


def test_ratios_are_of_what_a_text_attacked_costs():
    row = {"cell": "ag_news-20", "attacked": 10, "forwards": 90, "backwards": 10, "forward_equivalents": 132.0}
    ours = {**row, "search": "disco", "seconds": 2.0, "victim_seconds": 1.5}
    theirs = {**row, "search": "textattack-greedy", "seconds": 90.0, "attacked": 20, "victim_seconds": 50.0}
    lines = {line.split(" | ")[0].strip("| "): line for line in tables.ratios([ours, theirs]).splitlines()}
    assert lines["seconds, `textattack-greedy` ÷ `disco`"].endswith("| 22 |")
    assert lines["forward-equivalents, `textattack-greedy` ÷ `disco`"].endswith("| 0.5 |")
    assert lines["time of `disco` inside the victim"].endswith("| 75 % |")
    assert not any("greedy` ÷ `disco-high`" in line for line in lines)
