"""Two runs side by side: paired by what the texts say, tested as pairs, and never compared where they cannot be."""

import json
import math
import re
from itertools import product

import numpy as np
import pytest
from click.testing import CliRunner

import discotext
from discotext.cli import cli
from discotext.experiment.pairing import ALL_SOLVERS, Contingency, pair_runs
from discotext.experiment.report import make_comparison_page
from discotext.experiment.report.side_by_side import SHOWN, describe_difference
from discotext.experiment.run import read_run
from discotext.experiment.summary import summarise_run
from discotext.support.intervals import newcombe_paired, wilson
from tests.test_report import Reader, browser, folder, settings
from tests.test_report_page import made, measure, opened

# The statistics.


def test_newcombes_interval_is_that_of_published_examples():
    # Cavo et al. 2012, as Fagerland, Lydersen and Laake print it; and without any difference.
    assert newcombe_paired(59, 16, 6, 80) == pytest.approx((-0.1186, -0.0046), abs=5e-5)
    low, high = newcombe_paired(50, 0, 0, 50)
    assert low == -high


def test_newcombes_interval_changes_sides_with_the_pairs_and_holds_the_difference():
    for table in product((0, 1, 3, 10), repeat=4):
        both, first, second, neither = table
        n = sum(table)
        low, high = newcombe_paired(*table)
        other = newcombe_paired(both, second, first, neither)
        assert other == pytest.approx((-high, -low))
        if n:
            assert -1 <= low <= (second - first) / n <= high <= 1


def test_newcombes_interval_holds_the_true_difference_in_95_of_100_cases():
    rng, n = np.random.default_rng(5), 100
    for shares in ([0.5, 0.2, 0.1, 0.2], [0.8, 0.02, 0.08, 0.1], [0.6, 0.05, 0.05, 0.3]):
        drawn = rng.multinomial(n, shares, size=4000)
        ends = np.array([newcombe_paired(*map(int, row)) for row in drawn])
        truth = shares[2] - shares[1]
        covered = np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
        assert 0.94 < covered < 0.985


def test_a_contingency_counts_and_its_p_is_the_binomial_one():
    table = Contingency.of([(True, True)] * 5 + [(True, False)] * 2 + [(False, True)] * 9 + [(False, False)])
    assert (table.both, table.first, table.second, table.neither) == (5, 2, 9, 1)
    by_hand = 2 * sum(math.comb(11, k) for k in range(3)) / 2**11
    assert table.p == pytest.approx(by_hand)
    assert table.difference == pytest.approx(7 / 17)
    assert (table.accuracies[0].low, table.accuracies[0].high) == wilson(7, 17)
    assert Contingency(3, 0, 0, 1).p == 1


# Pairing.


def run_of(path, found, **more):
    more = {"data": "reviews.csv", **more}
    return read_run(folder(path, found, settings(len(found), ["disco"], ["0.2"]) | more))


def two(tmp_path, first, second, one=None, other=None):
    return run_of(tmp_path / "a", first, **(one or {})), run_of(tmp_path / "b", second, **(other or {}))


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
    assert any("failed on 3 texts" in one for one in found.warnings)


def test_labels_are_compared_by_the_names_that_the_data_gives_them(tmp_path):
    first, second = [row(0, "one"), row(1, "two", label=1)], [row(0, "one", label=1), row(1, "two", label=0)]
    names = {"labels": ["no", "yes"], "classes": ["no", "yes"]}
    turned = {"labels": ["LABEL_0", "LABEL_1"], "classes": ["yes", "no"]}
    assert pair_runs(*two(tmp_path, first, second, names, turned)).texts == (2, 0, 0)
    with pytest.raises(ValueError, match="the 2 texts that A and B share have other labels"):
        pair_runs(*two(tmp_path / "x", first, second))
    some = pair_runs(*two(tmp_path / "y", [*first, row(2, "three")], [*second, row(2, "three")]))
    assert some.texts == (1, 0, 0)
    assert any("2 texts have another label" in one for one in some.warnings)


def test_runs_that_cannot_be_compared_say_why(tmp_path):
    here, there = [row(0, "one")], [row(0, "two")]
    with pytest.raises(ValueError, match="A and B have no text in common; attack the same data"):
        pair_runs(*two(tmp_path / "1", here, there))
    words = [row(0, "one", share=None, allowed=2)]
    with pytest.raises(ValueError, match=r"no budget in common: A has 0\.2; B has 2 words; attack both"):
        pair_runs(*two(tmp_path / "2", here, words, other={"budgets": ["2 words"]}))
    with pytest.raises(ValueError, match="A attacks into any wrong class and B attacks into good"):
        pair_runs(*two(tmp_path / "3", here, here, other={"target": 1}))


def test_budgets_are_the_same_however_they_are_written(tmp_path):
    found = pair_runs(*two(tmp_path, [row(0, "one")], [row(0, "one", share="0.20")], other={"budgets": ["0.20"]}))
    assert found.budgets == ["0.2"]


def test_runs_without_a_common_solver_are_compared_by_what_any_of_them_flips(tmp_path):
    first = [row(0, "one", "impossible"), row(1, "two")]
    second = [row(0, "one", "improved", solver="greedy"), row(1, "two", "improved", solver="greedy")]
    second += [row(0, "one", solver="beam"), row(1, "two", "improved", solver="beam")]
    solvers = {"solvers": {"greedy": "Greedy()", "beam": "Beam()"}, "n": 2}
    found = pair_runs(*two(tmp_path, first, second, other=solvers))
    assert [attack.solver for attack in found.attacks] == [ALL_SOLVERS]
    assert (found.strongest.after.first, found.strongest.after.second) == (1, 1)
    assert any("no solver in common (disco; greedy, beam)" in one for one in found.warnings)


def test_what_else_differs_is_told(tmp_path):
    first, second = [row(0, "one"), row(1, "two")], [row(0, "one", space="other"), row(1, "two")]
    candidates = {"candidates": {"source": "thesaurus", "accept": 0.6}}
    found = pair_runs(*two(tmp_path, first, second, {"n": 9}, {**candidates, "seed": 8}))
    said = " ".join(found.warnings)
    assert "A is not finished: 2 of 9 records" in said
    assert "search spaces differ in 1 of 2 texts attacked in both" in said
    assert "candidates.source (wordnet and thesaurus)" in said
    assert "seed (3 and 8)" in said
    assert pair_runs(*two(tmp_path / "same", first, first)).warnings == []


def test_the_headline_says_when_a_difference_may_be_chance():
    assert describe_difference(Contingency(50, 2, 4, 44), "1 word").endswith(
        "a difference that may be chance (p = 0.69)."
    )
    assert "B keeps 28.0 points more (p < 0.0001)" in describe_difference(Contingency(50, 2, 30, 18), "1 word")
    assert "A keeps 28.0 points more" in describe_difference(Contingency(50, 30, 2, 18), "1 word")
    assert describe_difference(Contingency(5, 2, 2, 1), "1 word").endswith("no difference.")


# The command and the page.


def invoke(*arguments):
    return CliRunner().invoke(cli, list(map(str, ["report", *arguments])), catch_exceptions=False)


@pytest.fixture
def pair(tmp_path):
    evil = "<script>alert('x')</script> \u202eفيلم\u202c \"quoted\" & more"
    first = [row(n, n) for n in range(30)] + [row(n, n, "impossible") for n in range(30, 50)]
    second = [row(n, n, "impossible") for n in range(29)] + [row(29, 29)] + [row(n, n) for n in range(30, 33)]
    second += [row(n, n, "impossible") for n in range(33, 50)]
    first.append(made(200, text=evil))
    second.append(made(200, "impossible", text=evil))
    two(tmp_path, first, second, {"victim": "plain <b>"}, {"victim": "hardened"})
    return tmp_path / "a", tmp_path / "b"


def test_the_command_prints_a_table_and_writes_a_page_into_the_second_folder(pair):
    done = invoke(*pair)
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    assert max(map(len, lines[3:6])) <= 80
    assert "51 texts in both; 0 only in A and 0 only in B are left out" in done.stdout
    assert re.search(r"disco, 20 % +39\.2 % +92\.2 % +52\.9 .* 3 +30 +< 0\.0001", done.stdout)
    assert f"wrote {pair[1] / 'compared.html'}" in done.stderr
    assert not (pair[1] / "report.html").exists()


def test_json_holds_both_runs_and_the_test(pair, tmp_path):
    done = invoke(*pair, "--json", "--html", tmp_path / "page.html")
    found = json.loads(done.stdout)
    assert (found["first"]["victim"], found["second"]["victim"]) == ("plain <b>", "hardened")
    assert (found["n"], found["budget"]) == (51, 0.2)
    figures = found["solvers"]["disco"]
    assert (figures["only_first"], figures["only_second"]) == (3, 30)
    assert figures["difference"] == pytest.approx(27 / 51)
    assert figures["difference_low"] < figures["difference"] < figures["difference_high"]
    assert figures["p"] < 1e-4
    assert found["before"]["p"] == 1
    assert (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["third"], "3 runs are given; report compares two at most"),
        (["--csv", "x.csv"], "--csv is for a single run"),
        (["--language-model", "x"], "--language-model is for a single run"),
    ],
)
def test_what_is_for_one_run_is_refused_for_two(pair, more, said):
    done = invoke(*pair, *more)
    assert done.exit_code == 2
    assert said in done.stderr


def test_the_page_lists_the_texts_that_only_one_run_holds(pair):
    found = pair_runs(*map(read_run, pair), names=("before", "after"))
    text = make_comparison_page(found)
    assert text == make_comparison_page(found)
    read = Reader(text)
    assert "leaves A 39.2" in read.all("h1")[0][2]
    won, lost = read.all("section", id="won")[0][2], read.all("section", id="lost")[0][2]
    assert "(30)" in read.all("h2")[3][2]
    assert won.count("label ") == 30
    assert lost.count("label ") == 3
    assert "<del>the</del> <ins>new0</ins>" in text
    assert "It is proved that no allowed change flips it." in won
    # Nothing from the data is markup, and every term leads to its meaning.
    assert len(read.all("script")) == 1
    assert "<b>" not in re.sub(r"<b>[AB]</b>", "", text)
    assert not read.all("img")
    places = {one[1].get("id") for one in read.found}
    assert all(one[1]["href"][1:] in places for one in read.all("a") if one[1]["href"].startswith("#"))


def test_long_lists_are_shown_in_part_and_say_so(tmp_path):
    n = SHOWN + 5
    found = pair_runs(*two(tmp_path, [row(k, k) for k in range(n)], [row(k, k, "impossible") for k in range(n)]))
    read = Reader(make_comparison_page(found))
    assert len(read.all("article")) == SHOWN
    assert f"{SHOWN} of {n} shown" in read.all("section", id="won")[0][2]
    assert "There is none." in read.all("section", id="lost")[0][2]


@browser
@pytest.mark.parametrize("width", [320, 375, 1100, 1600])
def test_in_a_browser_the_page_fits_and_uses_the_window(pair, tmp_path, width):
    invoke(*pair)
    code = (
        "const box = (id) => page.getElementById(id).getBoundingClientRect();"
        "return [root.clientWidth, root.scrollWidth, box('attacks').top === box('accuracies').top ||"
        "box('accuracies').top === box('agreement').top,"
        "[...page.querySelectorAll('article')].slice(0, 2).map((one) => one.getBoundingClientRect().top)];"
    )
    client, scroll, beside, tops = measure(tmp_path, "b/compared.html", width, code)
    assert scroll <= client
    assert beside == (width >= 1100)
    assert (tops[0] == tops[1]) == (width >= 1100)


@browser
def test_in_a_browser_hostile_texts_stay_texts(pair, tmp_path):
    invoke(*pair)
    page = pair[1] / "compared.html"
    page.write_text(re.sub(r'<meta http-equiv="Content[^>]*>', "", page.read_text(encoding="utf-8")), encoding="utf-8")
    read = opened(page.as_uri(), tmp_path)
    assert len(read.all("script")) == 1
    assert any("<script>alert" in one[2].replace("new0", "") for one in read.all("p", **{"class": "text"}))


def test_real_runs_of_two_models_are_compared(tmp_path):
    def plain(texts):
        return [[sum(word in text for word in ("awful", "dull", "boring")), 0.5] for text in texts]

    def hardened(texts):
        return [[1.0 if "film" in text else 0.0, 0.5] for text in texts]

    data = ([f"An awful film about {what}." for what in ("mice", "men", "cars", "trees")], [0] * 4)
    for name, model in (("a", plain), ("b", hardened)):
        discotext.attack(model, data, words=1, out=tmp_path / name)
    done = invoke(tmp_path / "a", tmp_path / "b", "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["n"] == 4
    assert found["solvers"]["disco"]["first"] == 0
    assert found["before"]["first"] == found["before"]["second"] == 1
