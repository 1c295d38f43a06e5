"""Two runs side by side: paired by what the texts say, tested as pairs, and never compared where they cannot be."""

import json
import math

import pytest

from discotext.report.figures import describe_difference
from discotext.runs.pairing import ALL_SOLVERS, Contingency, pair_runs
from discotext.runs.summary import summarise_run
from discotext.support.intervals import wilson
from tests.report.helpers import invoke, made, run_of


def test_a_contingency_counts_and_its_p_is_the_binomial_one():
    table = Contingency.of([(True, True)] * 5 + [(True, False)] * 2 + [(False, True)] * 9 + [(False, False)])
    assert (table.both, table.first, table.second, table.neither) == (5, 2, 9, 1)
    by_hand = 2 * sum(math.comb(11, k) for k in range(3)) / 2**11
    assert table.p == pytest.approx(by_hand)
    assert table.difference == pytest.approx(7 / 17)
    assert (table.accuracies[0].low, table.accuracies[0].high) == wilson(7, 17)
    assert Contingency(3, 0, 0, 1).p == 1


def two(tmp_path, first, second, one=None, other=None):
    more = [{"data": "reviews.csv"} | (given or {}) for given in (one, other)]
    return run_of(tmp_path / "a", first, **more[0]), run_of(tmp_path / "b", second, **more[1])


def text_of(number):
    return f"the text that says {number}"


def row(number, says, status="reached", label=0, **more):
    """A record with this number of a text that says something."""
    return made(2 * number + label, status, text=text_of(says), **more)


def test_texts_are_paired_by_what_they_say_and_not_by_their_numbers(tmp_path):
    first = [row(0, "one"), row(1, "two", "impossible"), row(2, "three", "impossible"), row(3, "only here")]
    second = [row(0, "three"), row(1, "one", "impossible"), row(2, "two", "impossible"), row(5, "only there")]
    found = pair_runs(*two(tmp_path, first, second))
    assert found.texts == (3, 1, 1)
    attack = found.strongest
    assert all(one.text == other.text for one, other in attack.pairs)
    table = attack.after
    assert (table.both, table.first, table.second, table.neither) == (1, 1, 1, 0)
    assert [one.text for one, _ in attack.differing(second=True)] == [text_of("one")]
    assert [one.text for one, _ in attack.differing(second=False)] == [text_of("three")]


def test_a_text_that_occurs_twice_is_paired_twice_and_no_more(tmp_path):
    first = [row(0, "same"), row(1, "same", "impossible"), row(2, "same")]
    second = [row(0, "same", "impossible"), row(1, "same")]
    found = pair_runs(*two(tmp_path, first, second))
    assert found.texts == (2, 1, 0)
    assert len({id(one) for one, _ in found.strongest.pairs}) == 2


def test_what_is_right_under_attack_is_what_the_summary_counts(tmp_path):
    kinds = ["reached", "impossible", "misclassified", "failed", "improved", "unchanged"]
    first = [row(number, number, kind) for number, kind in enumerate(kinds * 3)]
    first += [row(30, 30, "tied", tied=True, adversarial_predicted=1)]
    second = [row(number, number, kind) for number, kind in enumerate([*reversed(kinds * 3), "reached"])]
    second[-1] = row(30, 30)
    runs = two(tmp_path, first, second)
    found = pair_runs(*runs)
    for number, run in enumerate(runs):
        figures = summarise_run(run.settings, run.records)[0].solvers["disco"]
        assert found.strongest.after.accuracies[number] == figures.adversarial_accuracy
        assert found.before.accuracies[number] == figures.original_accuracy
    assert sum("3 texts" in one for one in found.warnings) == 2  # on which a victim failed


def test_labels_are_compared_by_the_names_that_the_data_gives_them(tmp_path):
    first, second = [row(0, "one"), row(1, "two", label=1)], [row(0, "one", label=1), row(1, "two", label=0)]
    names = {"labels": ["no", "yes"], "classes": ["no", "yes"]}
    turned = {"labels": ["LABEL_0", "LABEL_1"], "classes": ["yes", "no"]}
    assert pair_runs(*two(tmp_path, first, second, names, turned)).texts == (2, 0, 0)
    with pytest.raises(ValueError, match="the 2 texts"):
        pair_runs(*two(tmp_path / "x", first, second))
    some = pair_runs(*two(tmp_path / "y", [*first, row(2, "three")], [*second, row(2, "three")]))
    assert some.texts == (1, 0, 0)
    assert any(one.startswith("2 texts") for one in some.warnings)


WORDS = {"share": None, "allowed": 2}


@pytest.mark.parametrize(
    ("second", "more", "said"),
    [
        ([row(0, "two")], {}, "no text"),
        ([row(0, "one", **WORDS)], {"budgets": ["2 words"]}, r"0\.2; B has 2 words"),
        ([row(0, "one")], {"target": 1}, "into good"),
    ],
)
def test_runs_that_cannot_be_compared_say_why(tmp_path, second, more, said):
    with pytest.raises(ValueError, match=said):
        pair_runs(*two(tmp_path, [row(0, "one")], second, other=more))


def test_runs_without_a_common_solver_are_compared_by_what_any_of_them_flips(tmp_path):
    first = [row(0, "one", "impossible"), row(1, "two")]
    second = [row(0, "one", "improved", solver="greedy"), row(1, "two", "improved", solver="greedy")]
    second += [row(0, "one", solver="beam"), row(1, "two", "improved", solver="beam")]
    solvers = {"solvers": {"greedy": "Greedy()", "beam": "Beam()"}, "n": 2}
    found = pair_runs(*two(tmp_path, first, second, other=solvers))
    assert [attack.solver for attack in found.attacks] == [ALL_SOLVERS]
    assert (found.strongest.after.first, found.strongest.after.second) == (1, 1)
    assert any("disco; greedy, beam" in one for one in found.warnings)


def test_what_else_differs_is_told(tmp_path):
    first, second = [row(0, "one"), row(1, "two")], [row(0, "one", space="other"), row(1, "two")]
    candidates = {"candidates": {"source": "thesaurus", "accept": 0.6}}
    found = pair_runs(*two(tmp_path, first, second, {"n": 9}, {**candidates, "seed": 8}))
    said = " ".join(found.warnings)
    assert "2 of 9" in said
    assert "1 of 2" in said
    assert "candidates.source (wordnet and thesaurus)" in said
    assert "seed (3 and 8)" in said
    assert pair_runs(*two(tmp_path / "same", first, first)).warnings == []


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ((50, 2, 4, 44), "may be chance (p = 0.69)."),
        ((50, 2, 30, 18), "B keeps 28.0 points more (p < 0.0001)."),
        ((50, 30, 2, 18), "A keeps 28.0 points more (p < 0.0001)."),
        ((5, 2, 2, 1), "no difference."),
    ],
)
def test_the_sentence_says_when_a_difference_may_be_chance(table, said):
    assert describe_difference(Contingency(*table), "1 word").endswith(said)


# The command.


@pytest.fixture
def pair(tmp_path):
    first = [row(n, n) for n in range(30)] + [row(n, n, "impossible") for n in range(30, 50)]
    second = [row(n, n, "impossible") for n in range(29)] + [row(29, 29)] + [row(n, n) for n in range(30, 33)]
    second += [row(n, n, "impossible") for n in range(33, 50)]
    two(tmp_path, first, second, {"victim": "plain <b>"}, {"victim": "hardened"})
    return tmp_path / "a", tmp_path / "b"


def test_the_command_prints_a_table_and_writes_a_page_into_the_second_folder(pair, tmp_path):
    done = invoke(*pair)
    assert done.exit_code == 0, done.stderr
    cells = next(line for line in done.stdout.splitlines() if line.startswith("disco, 20 %")).split()
    assert [*cells[3:8:2], *cells[-4:]] == ["40.0", "92.0", "52.0", "3", "29", "<", "0.0001"]
    assert (pair[1] / "compared.html").exists()
    assert not (pair[1] / "report.html").exists()
    assert invoke(*pair, "third").exit_code == 2
    found = json.loads(invoke(*pair, "--json", "--html", tmp_path / "page.html").stdout)
    assert (found["first"]["victim"], found["second"]["victim"]) == ("plain <b>", "hardened")
    assert (found["n"], found["budget"]) == (50, 0.2)
    figures = found["solvers"]["disco"]
    assert (figures["only_first"], figures["only_second"]) == (3, 29)
    assert figures["difference"] == pytest.approx(26 / 50)
    assert figures["difference_low"] < figures["difference"] < figures["difference_high"]
    assert figures["p"] < 1e-4
    assert found["before"]["p"] == 1
    assert (tmp_path / "page.html").exists()
