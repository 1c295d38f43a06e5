"""Acceptability: a calibrated probability per swap, the same however texts are batched, and a limit on the product."""

import csv
import json
import math
import subprocess
import sys

import numpy as np
import pytest

import discotext
from discotext import Candidates, Space
from discotext.experiment.report import make_page
from discotext.experiment.run import read_run
from discotext.text import LightScorer, Scorer, make_candidates, make_scorer, split
from discotext.text.acceptability import Occurrence, load_arrays, load_network
from discotext.text.inflection import is_spelling_of
from discotext.text.polarity import load_polarity
from discotext.text.swap_features import FEATURES, SwapFeatures
from discotext.text.thesaurus import load_thesaurus
from discotext.text.wordnet import load_wordnet
from tests.conftest import needs_torch
from tests.tiny_models import byte_pairs, word_pieces

TEXTS = [
    "The movie was good, and the actors were great.",
    "It is a bad idea to buy such a big house this fall.",
    "They really like the old theatre near the river.",
    "",
    "10",
]


@pytest.fixture(scope="module")
def finder() -> Candidates:
    return make_candidates(accept=0.2)


def swaps(found):
    words = [one for text in found for one in text]
    return [(one.word, *pair) for one in words for pair in zip(one.candidates, one.accept, strict=True)]


def test_probabilities_do_not_depend_on_the_batch(finder):
    together = finder.find(TEXTS)
    assert together == [make_candidates(accept=0.2)(text) for text in TEXTS]
    assert together == finder.find(TEXTS)


def test_a_word_without_content_words_around_has_the_same_probability_in_any_batch():
    alone = make_candidates(accept=0.2)("How did she die?")
    many = [" ".join(TEXTS)] * 300
    assert make_candidates(accept=0.2).find([*many, "How did she die?"])[-1] == alone
    assert any(one.candidates for one in alone)


def test_a_higher_level_keeps_a_part_of_the_candidates_with_the_same_probabilities(finder):
    strict = swaps(make_candidates(accept=0.5).find(TEXTS))
    assert strict == [swap for swap in swaps(finder.find(TEXTS)) if swap[2] >= 0.5]
    assert 0 < len(strict) < len(swaps(finder.find(TEXTS)))


def test_a_space_restricted_to_a_level_is_the_space_of_that_level(finder):
    wide, strict = Space.of(TEXTS, finder), Space.of(TEXTS, make_candidates(accept=0.5))
    assert wide.restrict(0.5).options == strict.options
    assert wide.restrict(0.5).hash == strict.hash != wide.hash


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("good", "The movie was good."),
        ("good", "This is a good movie."),
        ("bad", "The food was bad."),
        ("great", "We had a great time."),
        ("big", "He has a big house."),
        ("like", "I like the film."),
    ],
)
def test_common_words_have_candidates_and_none_is_an_antonym(word, text):
    found = next(one for one in Candidates()(text) if one.word == word)
    assert found.candidates
    assert not [name for name in found.candidates if load_wordnet().are_antonyms(word, name)]


@pytest.mark.parametrize(("word", "other"), [("honor", "honour"), ("theatre", "theater"), ("realise", "realize")])
def test_spellings_of_a_word_are_not_its_synonyms(word, other):
    assert is_spelling_of(word, other)
    found = make_candidates(accept=0)(f"We {word} it" if word != "theatre" else f"The {word}")
    assert other not in [name for one in found for name in one.candidates]


def test_no_prior_is_for_the_word_itself_and_priors_are_in_order():
    table = load_thesaurus()
    for lemma, part in [("good", "ADJ"), ("film", "NOUN"), ("say", "VERB"), ("very", "ADV")]:
        found = table.look_up(lemma, part)
        assert lemma not in found
        assert list(found.values()) == sorted(found.values(), reverse=True)
    assert table.look_up("frobnicate", "VERB") == {}


def test_the_network_is_what_its_formula_says():
    network = load_network()
    features = np.random.default_rng(0).normal(size=(7, len(FEATURES))).astype(np.float32)
    scaled = np.clip((features - network.mean) / network.scale, -6, 6)
    hidden = np.maximum(np.einsum("sf,efh->esh", scaled, network.inner) + network.inner_bias[:, None], 0)
    logits = (np.einsum("esh,eh->es", hidden, network.outer) + network.outer_bias[:, None]).mean(axis=0)
    assert network.logits(features) == pytest.approx(network.slope * logits + network.shift, rel=1e-4, abs=1e-4)
    for name in ("light", "encoder", "full"):
        assert (np.diff(load_arrays()[f"{name}.least_prior"]) >= 0).all()


def test_what_could_not_reach_a_level_does_not():
    scorer = LightScorer()
    text, tags = split("The old film was about a good idea."), ["DT", "JJ", "NN", "VBD", "IN", "DT", "JJ", "NN"]
    for position, part in ((1, "ADJ"), (2, "NOUN"), (6, "ADJ"), (7, "NOUN")):
        names = tuple(load_thesaurus().look_up(text.words[position], part))
        (chances,) = scorer.score([text], [tags], [Occurrence(0, position, names)])
        for name, chance in zip(names, chances, strict=True):
            if chance >= 0.6:
                assert scorer.could_reach(text.words[position], tags[position], name, 0.6)


def test_features_have_names_and_a_row_for_each_swap():
    text = split("A good film.")
    found = SwapFeatures().compute(
        [text], [["DT", "JJ", "NN"]], [Occurrence(0, 1, ("fine", "nice")), Occurrence(0, 2, ("movie",))]
    )
    assert found.shape == (3, len(FEATURES))
    assert len(set(FEATURES)) == len(FEATURES)
    assert np.isfinite(found).all()


class Fixed(Scorer):
    """Gives every candidate of a word the same probability, by its length."""

    name = "fixed"

    def score(self, texts, tags, asked, least=0.0):
        return [np.array([1 / len(name) for name in one.candidates]) for one in asked]


def test_a_scorer_of_ones_own_decides():
    finder = Candidates(scorer=Fixed(), accept=0.25)
    assert swaps(finder.find(["a good film"])) == [("good", "fine", 0.25), ("good", "nice", 0.25)] or all(
        len(name) <= 4 for _, name, _ in swaps(finder.find(["a good film"]))
    )
    assert finder.settings["scorer"] == "fixed"
    with pytest.raises(TypeError, match="is not a scorer"):
        Candidates(scorer="light")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="there is no scorer 'heavy'"):
        make_scorer("heavy")
    with pytest.raises(ValueError, match=r"accept is 1\.5"):
        Candidates(accept=1.5)


# --- attacks


def scores(texts):
    return [[sum(word in text for word in ("good", "big", "movie")), 0.5] for text in texts]


def test_levels_give_a_summary_each_and_less_is_flipped_at_higher_ones():
    result = discotext.attack(scores, (TEXTS[:2], [0, 0]), words=3, accept=[0.2, 0.5, 0.9])
    assert [summary.accept for summary in result.summaries] == [0.2, 0.5, 0.9]
    after = [summary.solvers["disco"].adversarial_accuracy for summary in result.summaries]
    assert after == sorted(after)
    assert after[-1] == 1.0
    for record in result.records:
        assert all(change.accept >= float(record.accept) for change in record.changes)
        assert record.all_accepted == pytest.approx(math.prod(change.accept for change in record.changes))
    with pytest.raises(ValueError, match="the run has the levels"):
        result.p_value("greedy", "greedy")


def test_a_run_with_levels_is_resumed_read_and_shown(tmp_path):
    given = {"words": [1, 3], "accept": [0.2, 0.5], "out": tmp_path / "run"}
    first = discotext.attack(scores, (TEXTS[:2], [0, 0]), **given)
    again = discotext.attack(scores, (TEXTS[:2], [0, 0]), **given)
    assert [one.as_dict() for one in first.records] == [one.as_dict() for one in again.records]
    for arguments in (["report", "run"], ["report", "run", "--csv", "run.csv"]):
        command = [sys.executable, "-m", "discotext", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "accept ≥ 0.5" in page
    with (tmp_path / "run.csv").open(encoding="utf-8") as file:
        assert {row["accept"] for row in csv.DictReader(file)} == {"0.2", "0.5"}


def test_what_is_expected_of_people_follows_from_the_records():
    result = discotext.attack(scores, (TEXTS[:2], [0, 0]), words=3, accept=0.2)
    figures = result.summary.solvers["disco"]
    won = [record for record in result.records if record.succeeded]
    chances = [change.accept for record in won for change in record.changes]
    assert figures.acceptable == pytest.approx(np.mean(chances))
    assert figures.all_acceptable == pytest.approx(np.mean([record.all_accepted for record in won]))
    kept = len(result.records) - len(won) + sum(1 - record.all_accepted for record in won)
    assert figures.accepted_accuracy == pytest.approx(kept / len(result.records))


@pytest.mark.parametrize("solver", ["greedy", "exact", "beam"])
def test_all_swaps_together_keep_the_limit(solver):
    free = discotext.attack(scores, (TEXTS[:2], [0, 0]), solver, words=3, accept=0.2)
    for limit in (0.3, 0.6):
        bound = discotext.attack(scores, (TEXTS[:2], [0, 0]), solver, words=3, accept=0.2, accept_all=limit)
        assert all(record.all_accepted >= limit - 1e-6 for record in bound.records)
        assert bound.summary.solvers[solver].adversarial_accuracy >= free.summary.solvers[solver].adversarial_accuracy
    with pytest.raises(ValueError, match="accept_all is 1"):
        discotext.attack(scores, (TEXTS[:2], [0, 0]), accept_all=1)


def test_the_command_reads_json_lines():
    lines = "\n".join(json.dumps({"text": text}) for text in TEXTS[:3])
    command = [sys.executable, "-m", "discotext", "candidates", "-", "--json", "--accept", "0.2"]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert found == [[one.as_json() for one in make_candidates(accept=0.2)(text)] for text in TEXTS[:3]]
    bad = subprocess.run(command, input='{"text": 3}\n', capture_output=True, text=True, check=False)
    assert bad.returncode == 1
    assert "line 1 is" in bad.stderr


# --- what people said


def test_probabilities_are_calibrated_on_documents_left_out(shared_data):
    from benchmarks.acceptability import FILE, measure, read_judgements, read_offers

    judged = read_judgements(shared_data)
    with FILE.open(encoding="utf-8") as file:
        assert {row["target"] for row in csv.DictReader(file, delimiter="\t")} <= set(judged)
    for scorer in ("light", "encoder", "full"):
        for level in (0.3, 0.4, 0.5, 0.6, 0.7):
            found = measure(judged, read_offers(scorer), level)
            assert abs(found["promised"] - found["acceptable"]) <= 0.05, (scorer, level)
    # The order of the scorers, at like shares of words.
    light, full = (measure(judged, read_offers(name), level) for name, level in (("light", 0.5), ("full", 0.57)))
    assert full["acceptable"] > light["acceptable"]


# --- networks


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A tiny encoder of six layers, as MiniLM has, and a tiny causal model."""
    pytest.importorskip("transformers")
    import torch
    from transformers import BertConfig, BertModel, GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("models")
    words = sorted({word.lower() for text in TEXTS for word in split(text).words} | {"film", "fine", "large"})
    pieces = word_pieces(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", ",", *words])
    pairs = byte_pairs(TEXTS)
    size = {"hidden_size": 16, "num_hidden_layers": 6, "num_attention_heads": 2, "intermediate_size": 32}
    encoder, causal = folder / "encoder", folder / "causal"
    BertModel(BertConfig(vocab_size=len(pieces), **size)).save_pretrained(encoder)
    GPT2LMHeadModel(GPT2Config(vocab_size=len(pairs), n_embd=16, n_layer=1, n_head=2)).save_pretrained(causal)
    pieces.save_pretrained(encoder)
    pairs.save_pretrained(causal)
    return str(encoder), str(causal)


@needs_torch
@pytest.mark.parametrize("name", ["encoder", "full"])
def test_a_scorer_that_reads_the_sentence_gives_the_same_alone_and_in_a_batch(models, name):
    encoder, causal = models
    finder = make_candidates(accept=0.1, scorer=name, encoder=encoder, language_model=causal)
    together = finder.find(TEXTS)
    assert any(one.candidates for text in together for one in text)
    for text, found in zip(TEXTS, together, strict=True):
        for one, other in zip(finder(text), found, strict=True):
            assert set(one.candidates) == set(other.candidates)
            assert sorted(one.accept) == pytest.approx(sorted(other.accept), abs=2e-3)
    assert finder.settings["scorer"] == name


@needs_torch
def test_a_network_is_asked_only_about_swaps_that_could_pass(models, monkeypatch):
    from discotext.text import EncoderScorer

    asked = []
    compare = EncoderScorer.compare

    def count(self, texts, occurrences, worth):
        asked.append(len(worth))
        return compare(self, texts, occurrences, worth)

    monkeypatch.setattr(EncoderScorer, "compare", count)
    finders = [make_candidates(accept=level, scorer="encoder", encoder=models[0]) for level in (0.1, 0.7)]
    for finder in finders:
        finder.find(TEXTS)
    assert asked[0] > sum(asked[1:])


def test_a_model_that_is_not_there_is_named(tmp_path):
    pytest.importorskip("transformers")
    with pytest.raises(ValueError, match="there is no folder"):
        make_candidates(scorer="encoder", encoder=str(tmp_path / "none"), accept=0.1)("A good film.")


@needs_torch
def test_a_language_model_that_is_not_there_is_named(models):
    finder = make_candidates(scorer="full", encoder=models[0], language_model="none.gguf", accept=0.1)
    with pytest.raises(ValueError, match=r"there is no file 'none\.gguf'"):
        finder("A good film.")


def test_keep_meaning_refuses_what_makes_a_word_more_positive_or_negative():
    text = "The movie was great but the plot was terrible."
    plain, kept = (make_candidates(accept=0.2, keep_meaning=keep)(text) for keep in (False, True))
    ratings = load_polarity()
    great = {one.word: one for one in kept}["great"]
    assert "wonderful" in great.candidates
    assert ("good", "polarity") in great.refused
    for before, after in zip(plain, kept, strict=True):
        assert {name for name, _ in after.refused if name not in before.candidates} <= {n for n, _ in before.refused}
        for name in after.candidates:
            assert abs(ratings.get(after.word.lower(), 0) - ratings.get(name.lower(), 0)) <= 1


@needs_torch
def test_reading_many_places_at_once_gives_what_each_gives_alone(models):
    from discotext.text.continuation import Continuations, Place

    model = Continuations(models[1], after=4)
    places = [
        Place("The movie was ", ["good", "great", "unbelievably fine"], ", and the actors were"),
        Place("", ["It", "This"], " is a bad idea"),
        Place("They really like the old theatre near the ", ["river", "stream"], ""),
    ]
    together = model.compare(places)
    for place, found in zip(places, together, strict=True):
        assert found == pytest.approx(model.compare([place])[0], abs=1e-4)
        assert len(found) == len(place.forms) - 1


@pytest.mark.parametrize(
    "options",
    [{"without": ["accept"]}, {"without": ["all"]}, {"synonyms": True, "without": ["all"]}],
    ids=str,
)
def test_switching_the_filter_off_does_not_switch_the_estimate_off(options, tmp_path):
    if "synonyms" in options:
        path = tmp_path / "list.json"
        path.write_text('{"movie": ["film", "refrigerator"], "filme": ["kino", "lichtspielhaus"]}')
        options = {**options, "synonyms": [path]}
    one = make_candidates(**options)
    assert one.accept is None
    found = swaps(one.find(["The movie was refreshingly good.", "filme zzqx"]))
    assert all(chance is None or 0 < chance < 1 for _, _, chance in found)
    known = {(word, new): chance for word, new, chance in found}
    if "synonyms" in options:
        assert known["movie", "film"] > 0.5 > 0.1 > known["movie", "refrigerator"]
        # Nothing is known of words of another language: no estimate, instead of a bad one.
        assert known["filme", "lichtspielhaus"] is None


def test_what_nobody_estimated_is_null_everywhere(tmp_path):
    path = tmp_path / "list.json"
    path.write_text('{"filme": ["kinozz"]}')
    finder = make_candidates(synonyms=[path], without=["all"])

    def scores(texts):
        return [["filme" in text, 0.5] for text in texts]

    result = discotext.attack(scores, (["zwei filme"], [0]), words=1, candidates=finder, out=tmp_path / "run")
    assert [change.accept for change in result.records[0].changes] == [None]
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    (figures,) = summary["solvers"].values()
    assert [figures[key] for key in ("acceptable", "all_acceptable", "accepted_accuracy")] == [None] * 3
    page = make_page(read_run(tmp_path / "run"))
    assert "100 % of these swaps" not in page.replace("\u00a0", " ")
    assert "probability 1.00" not in page


def test_an_attack_without_the_filter_says_what_people_are_expected_to_accept():
    result = discotext.attack(
        scores, (TEXTS[:2], [0, 0]), words=3, candidates=make_candidates(without=["accept"]), progress=False
    )
    chances = [change.accept for record in result.records if record.succeeded for change in record.changes]
    assert chances
    (figures,) = result.summary.solvers.values()
    assert figures.acceptable == pytest.approx(np.mean(chances))
    assert result.summary.accept is None
