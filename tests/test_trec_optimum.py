"""The benchmark on TREC: the truth it enumerates, the shares it counts, what it keeps. TREC itself is not needed."""

import json
from dataclasses import replace

import numpy as np
import pytest
from benchmarks import trec_optimum as bench
from benchmarks.trec_optimum import Questions, Truth, TruthFile
from hypothesis import given
from hypothesis import strategies as st
from rich.progress import Progress

from discotext import Batch, Problem, Space, solve
from discotext.core import FunctionOracle, Solution, Status
from discotext.data.examples import Examples
from discotext.solvers import Exact, Greedy
from discotext.text.candidates import make_candidates
from discotext.text.words import split
from discotext.victims import load_victim
from tests.conftest import Table, feasible, problems

# The truth


@given(problems(), st.integers(0, 1000))
def test_the_truth_is_that_of_going_through_all_products_of_candidates(problem, seed):
    batch = Batch.of([problem])
    table = Table(batch, seed)
    seen = []
    truth = bench.enumerate_texts(table, batch, seen.append)
    scores = table.scores[0]
    assert truth.texts == sum(seen) == len(feasible(problem)) == problem.feasible_choices
    assert sorted(choice for _, choice in table.asked) == sorted(feasible(problem))
    assert scores[truth.choice] == truth.optimum == max(scores.values())
    assert truth.second == (sorted(scores.values())[-2] if len(scores) > 1 else -np.inf)
    for changes, best in enumerate(truth.best):
        assert best == max(score for choice, score in scores.items() if np.count_nonzero(choice) <= changes)
    assert len(truth.best) == problem.budget + 1


@given(problems(), st.integers(0, 1000))
def test_the_truth_is_that_of_exact_with_a_goal_and_without(problem, seed):
    batch = Batch.of([problem])
    table = Table(batch, seed)
    truth = bench.enumerate_texts(table, batch)
    (best,) = solve(batch, table, Exact())
    (aimed,) = solve(batch, table, Exact(), goal=0.0)
    assert best.score == truth.optimum
    assert aimed.reached == (truth.fewest is not None)
    assert not aimed.reached or aimed.changes == truth.fewest


def test_of_equal_texts_the_second_is_as_good_as_the_best():
    batch = Batch.of([Problem((2, 2), 1)])
    truth = bench.enumerate_texts(FunctionOracle(batch, lambda problem, choice: float(sum(choice))), batch)
    assert (truth.texts, truth.best, truth.second) == (3, (0.0, 1.0), 1.0)
    assert sum(truth.choice) == 1


# Shares


def solution(score, choice=(0, 1), status=Status.IMPROVED):
    return Solution(np.array(choice, dtype=np.int32), score, -1.0, status, 5, 1, 0.1, 0.05)


TURNED = Truth(9, (-1.0, -0.5, 2.0), (1, 1), 1.5)
SAFE = Truth(9, (-30.0, -25.0, -20.0), (2, 1), -21.0)


def test_the_optimum_is_reached_by_its_text_or_within_the_tolerance_which_grows_with_the_score():
    def share(truth, score, choice=(0, 1)):
        return bench.shares([solution(score, choice)], [solution(0.0)], [truth])["optimum_share"]

    assert share(TURNED, 2.0) == share(TURNED, 2.0 - 1.9e-5) == share(SAFE, -20.0 - 1.9e-4) == 1.0
    assert share(TURNED, 2.0 - 2.1e-5) == share(SAFE, -20.0 - 2.1e-4) == share(TURNED, 1.5) == 0.0
    assert share(TURNED, 1.9, choice=(1, 1)) == 1.0
    assert share(replace(TURNED, best=(-1.0, -0.5, 0.01)), 0.01 - 0.9e-5) == 1.0
    assert share(replace(TURNED, best=(-1.0, -0.5, 0.01)), 0.01 - 1.1e-5) == 0.0


def test_shares_are_counted_over_all_questions_and_words_over_those_turned():
    truths = [TURNED, TURNED, SAFE, replace(TURNED, best=(-1.0, 0.5, 2.0))]
    found = [solution(2.0), solution(0.5), solution(-20.0), solution(1.25)]
    aimed = [
        solution(1.0, (1, 1), Status.REACHED),
        solution(-0.1, (1, 1)),
        solution(-25.0, (0, 1)),
        solution(0.7, (1, 1), Status.FEWEST),
    ]
    got = bench.shares(found, aimed, truths)
    assert got["optimum_share"] == 0.5
    assert got["optimum_low"] < 0.5 < got["optimum_high"]
    assert got["gain_share"] == pytest.approx((1 + 0.5 + 1 + 0.75) / 4)
    assert got["verdict_share"] == 0.75
    assert got["fewest_share"] == 0.5
    assert bench.shares(found[2:3], aimed[2:3], [SAFE])["fewest_share"] is None


def test_where_nothing_is_better_than_the_original_all_of_the_gain_is_had():
    flat = Truth(3, (-1.0, -1.0), (0, 0), -2.0)
    assert bench.shares([solution(-1.0, (0, 0))], [solution(-1.0)], [flat])["gain_share"] == 1.0


@given(st.lists(problems(), min_size=1, max_size=6), st.integers(0, 1000))
def test_shares_of_solvers_on_random_problems_are_those_counted_by_hand(several, seed):
    batch = Batch.of(several)
    table = Table(batch, seed)
    truths = []
    for number, problem in enumerate(several):
        alone = Table(Batch.of([problem]), 0)
        alone.scores = [table.scores[number]]
        truths.append(bench.enumerate_texts(alone, alone.batch))
    exact = bench.shares(solve(batch, table, Exact()), solve(batch, table, Exact(), goal=0.0), truths)
    assert exact["optimum_share"] == exact["verdict_share"] == exact["gain_share"] == 1.0
    assert exact["fewest_share"] in (1.0, None)
    found, aimed = solve(batch, table, Greedy()), solve(batch, table, Greedy(), goal=0.0)
    greedy = bench.shares(found, aimed, truths)
    assert greedy["optimum_share"] == np.mean([one.score == table.best(row) for row, one in enumerate(found)])
    assert greedy["verdict_share"] == np.mean(
        [(one.score >= 0) == (table.best(row) >= 0) for row, one in enumerate(aimed)]
    )


# Questions

TEXTS = ["What film is good ?", "Who bought the old car ?", "The big house ?", "Is it small or large ?", "?"]
PLUS = {"film": -0.4, "car": -0.6, "house": -0.2, "large": -0.9}


def scored(texts):
    """Two classes; the length of words decides, so that any swap matters a little."""
    return [[0.0, 1.0 + sum(PLUS.get(word.lower(), 0.03 * (len(word) % 7)) for word in split(t).words)] for t in texts]


def examples():
    return Examples.of(TEXTS, [1, 1, 1, 1, 0], ("no", "yes"))


def test_candidates_are_widened_no_further_than_needed_and_every_question_is_accounted_for():
    victim = load_victim(scored)
    usual = bench.widen_candidates(victim, examples(), words=2, wanted=1, least=20, most=10**6)
    assert usual.candidates == bench.NEIGHBOURS[0]
    sizes = [usual.space.batch[number].feasible_choices for number in range(len(usual))]
    assert all(20 < size <= 10**6 for size in sizes)
    assert len(usual) + sum(usual.left_out.values()) == len(TEXTS)
    assert usual.left_out["misclassified"] == 1
    # Just more than the usual number of candidates can give.
    wider = bench.widen_candidates(victim, examples(), words=2, wanted=1, least=max(sizes), most=10**6)
    assert wider.candidates == bench.NEIGHBOURS[1]
    few = bench.widen_candidates(victim, examples(), words=2, wanted=1, least=20, most=max(sizes) - 1)
    assert few.left_out[f"more than {max(sizes) - 1:,} texts"] == sizes.count(max(sizes))
    with pytest.raises(ValueError, match=r"of 5 questions have .* lower --questions, which is 5"):
        bench.widen_candidates(victim, examples(), words=2, wanted=5, least=20, most=10**6)


@pytest.fixture
def questions():
    space = Space.of(TEXTS[:4], make_candidates(sources=["neighbours"], without=["all"], per_word=3), words=2)
    return Questions(space, [1, 1, 1, 1], 3, {})


# What is kept


def test_what_was_enumerated_is_not_asked_for_again_and_survives_a_line_that_was_cut_off(questions, tmp_path):
    asked = []

    def counted(texts):
        asked.extend(texts)
        return scored(texts)

    victim, path = load_victim(counted), tmp_path / "new" / "truth"
    truths = bench.load_truths(victim, questions, TruthFile(path), Progress(disable=True))
    assert len(asked) == sum(truth.texts for truth in truths)
    asked.clear()
    assert bench.load_truths(victim, questions, TruthFile(path), Progress(disable=True)) == truths
    assert asked == []
    path.write_text(path.read_text()[:-5])
    assert bench.load_truths(victim, questions, TruthFile(path), Progress(disable=True)) == truths
    assert len(asked) == truths[-1].texts
    assert len(path.read_text().splitlines()) == len(questions)
    other = replace(questions, space=replace(questions.space, budgets=(1, 1, 1, 1)))
    assert [one.best for one in bench.load_truths(victim, other, TruthFile(path), Progress(disable=True))] == [
        truth.best[:2] for truth in truths
    ]


def test_a_file_that_is_no_cache_is_refused(tmp_path):
    with pytest.raises(ValueError, match="which is not a file"):
        TruthFile(tmp_path)
    (tmp_path / "other").write_text('{"space": "x"}\n')
    with pytest.raises(ValueError, match="line 1 was not written by this benchmark"):
        TruthFile(tmp_path / "other")


def test_truths_of_another_victim_are_refused(questions):
    victim = load_victim(scored)
    truths = bench.load_truths(victim, questions, TruthFile(None), Progress(disable=True))
    assert bench.noise(victim, questions, truths) < 1e-12
    another = load_victim(lambda texts: [[no, yes + 2e-5 * len(texts[0])] for no, yes in scored(texts)])
    with pytest.raises(ValueError, match="--cache"):
        bench.noise(another, questions, truths)


def test_a_solver_run_again_replaces_its_own_rows_alone(tmp_path):
    path = tmp_path / "new" / "rows.jsonl"
    base = {"data": "trec", "split": "test", "victim": "v", "seed": 0, "date": "then"}
    rows = [{**base, "m": m, "solver": solver} for m in (2, 3) for solver in ("greedy", "disco")]
    bench.keep(path, rows)
    new = [{**rows[1], "date": "now"}, {**rows[0], "split": "train"}]
    bench.keep(path, new)
    assert [json.loads(line) for line in path.read_text().splitlines()] == [rows[0], new[0], *rows[2:], new[1]]


# The command


def run(tmp_path, monkeypatch, *more):
    lines = [json.dumps({"text": text, "label": label}) for text, label in zip(TEXTS, [1, 1, 1, 1, 0], strict=True)]
    (tmp_path / "trec_test.jsonl").write_text("\n".join(lines) + "\n")
    monkeypatch.setenv("DISCOTEXT_DATA", str(tmp_path))
    common = ["--victim", "py:tests.test_trec_optimum:six_classes", "--questions", "2", "--least", "30"]
    bench.main([*common, "--cache", str(tmp_path / "truth"), "--out", str(tmp_path / "rows.jsonl"), *more])
    path = tmp_path / "rows.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def six_classes(texts):
    return [[*pair, -9.0, -9.0, -9.0, -9.0] for pair in scored(texts)]


def test_the_command_enumerates_measures_and_shows(tmp_path, monkeypatch, capsys):
    assert run(tmp_path, monkeypatch, "--truth-only") == []
    known = (tmp_path / "truth").read_text()
    rows = run(tmp_path, monkeypatch, "--solver", "greedy", "--solver", "exact", "--words", "2")
    assert (tmp_path / "truth").read_text() == known
    assert [(row["m"], row["solver"]) for row in rows] == [(2, "greedy"), (2, "exact")]
    wanted = set("data victim m solver n optimum_share verdict_share forwards backwards seconds".split())
    assert all(
        wanted | set("machine versions date seed split left_out noise ties".split()) <= row.keys() for row in rows
    )
    greedy, exact = rows
    assert exact["optimum_share"] == exact["verdict_share"] == 1.0
    assert exact["n"] * exact["forwards"] >= exact["texts"] > exact["n"] * greedy["forwards"]
    assert exact["n"] + sum(exact["left_out"].values()) == len(TEXTS)
    assert "is the enumerated optimum found?" in capsys.readouterr().out


def test_mistakes_end_with_a_sentence(tmp_path, monkeypatch, capsys):
    for options, says in (
        (["--solver", "gredy"], "there is no solver 'gredy'"),
        (["--solver", "disco, effort -1"], "give a number above 0"),
        (["--words", "0"], "--words is 0; choose 1 or more"),
        (["--questions", "0"], "--questions is 0; choose 1 or more"),
        (["--pool-seed", "-1"], "--pool-seed is -1; choose 0 or more"),
    ):
        with pytest.raises(SystemExit) as ended:
            bench.main(options)
        assert ended.value.code == 2
        assert says in capsys.readouterr().err
    with pytest.raises(SystemExit, match="there is no victim"):
        bench.main(["--victim", str(tmp_path / "none")])
    with pytest.raises(SystemExit, match=r"Disco.* needs gradients"):
        run(tmp_path, monkeypatch, "--words", "1", "--least", "5", "--solver", "disco")


def test_an_effort_is_part_of_a_name():
    assert bench.parse_solver("disco, effort 2.5").effort == 2.5
    assert bench.parse_solver("disco-high").effort == "high"
    assert all(bench.parse_solver(name) for name in bench.SOLVERS)
