"""Language models: their laws, and a second road to every number."""

import gzip
import json
import math
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from discotext.cli import cli
from discotext.data.registry import read_texts
from discotext.models.arpa import LN_10, read_arpa, write_arpa
from discotext.models.kneser_ney import FALLBACK, Corpus, train_kneser_ney
from discotext.models.model import NGramModel, Token, make_sentence
from discotext.models.ngram import BackoffModel
from discotext.models.registry import KenLMModel, load_language_model
from discotext.text.sentences import find_sentences, read_sentences
from discotext.text.words import split
from tests.models.reading import read_word_by_word

LETTERS = "abcdefg"


def make_text(seed: int = 0, sentences: int = 80) -> list[list[str]]:
    """Sentences of letters in which some follow others more often."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(sentences):
        at, sentence = int(rng.integers(7)), []
        for _ in range(int(rng.integers(0, 9))):
            sentence.append(LETTERS[at])
            at = (at * 2 + int(rng.integers(0, 3))) % 7
        found.append(sentence)
    return found


def textbook(sentences: list[list[str]], order: int, words: set[str], prune: list[int]):
    """p(word | context) by the definition of Chen and Goodman, with dictionaries and recursion; slow."""
    known = [[word if word in words else "<unk>" for word in sentence] for sentence in sentences]
    raw: list[Counter] = [Counter() for _ in range(order + 1)]
    for sentence in known:
        marked = ["<s>", *sentence, "</s>"]
        for n in range(1, order + 1):
            for at in range(len(marked) - n + 1):
                raw[n][tuple(marked[at : at + n])] += 1
    counts = [Counter() for _ in range(order + 1)]
    counts[order] = raw[order]
    for n in range(1, order):
        before = defaultdict(set)
        for gram in raw[n + 1]:
            before[gram[1:]].add(gram[0])
        counts[n] = Counter({gram: raw[n][gram] if gram[0] == "<s>" else len(before[gram]) for gram in raw[n]})
    del counts[1][("<s>",)]
    vocabulary = [*words, "<unk>", "</s>"]
    discounts = [FALLBACK] * order
    for n in range(order):
        n1, n2, n3, n4 = (sum(count == k for count in counts[n + 1].values()) for k in (1, 2, 3, 4))
        if min(n1, n2, n3):
            y = n1 / (n1 + 2 * n2)
            found = (1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3)
            if all(0 <= value <= k for k, value in enumerate(found, start=1)):
                discounts[n] = found

    def p(context: tuple[str, ...], word: str) -> float:
        n = len(context) + 1
        shorter = p(context[1:], word) if context else 1 / len(vocabulary)
        after = {gram: count for gram, count in counts[n].items() if gram[:-1] == context}
        total = sum(after.values())
        if not total:
            return shorter
        kept = {gram: count for gram, count in after.items() if n == 1 or raw[n][gram] > prune[n - 1]}
        rest = {gram: max(count - discounts[n - 1][min(count, 3) - 1], 0) for gram, count in kept.items() if count}
        gamma = 1 - sum(rest.values()) / total
        return rest.get((*context, word), 0) / total + gamma * shorter

    return p, vocabulary


@pytest.mark.parametrize("prune", [(0,), (0, 1), (1, 1, 2)], ids=str)
@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_kneser_ney_agrees_with_the_textbook(order, prune):
    text = make_text()
    model = train_kneser_ney(text, order=order, prune=prune, least=20)
    words = {word for word, count in Counter(w for s in text for w in s).items() if count >= 20}
    assert set(model.words) == words | {"<s>", "</s>", "<unk>"}
    p, vocabulary = textbook(text, order, words, [0, *prune, *[prune[-1]] * 5])
    rng = np.random.default_rng(1)
    for _ in range(60):
        context = tuple(rng.choice([*words, "<unk>"], size=order - 1).tolist())
        if context and rng.random() < 0.3:
            context = ("<s>", *context[1:])
        ids = np.array([model.number[word] for word in context], dtype=np.int64)
        for word in vocabulary:
            found = model.log_probs(ids[None], np.array([model.number[word]]))[0]
            assert math.exp(found) == pytest.approx(p(context, word), rel=1e-5, abs=1e-9)


@given(st.lists(st.lists(st.sampled_from(LETTERS), max_size=6), min_size=1, max_size=12), st.integers(1, 5), st.data())
def test_probabilities_sum_to_one_whatever_was_read(text, order, data):
    prune = sorted(data.draw(st.lists(st.integers(0, 2), min_size=1, max_size=3)))
    model = train_kneser_ney(text, order=order, prune=prune, least=data.draw(st.integers(1, 3)))
    assert model.order <= order
    words = np.array([number for number in range(len(model.words)) if number != model.begin])
    context = [data.draw(st.integers(0, len(model.words) - 1)) for _ in range(model.order - 1)]
    after = np.array([context] * len(words), dtype=np.int64).reshape(len(words), -1)
    assert np.exp(model.log_probs(after, words)).sum() == pytest.approx(1, abs=1e-5)


@pytest.fixture(scope="module")
def model() -> BackoffModel:
    return train_kneser_ney(make_text(), order=3, prune=(0, 1), least=2)


def test_going_left_to_right_gives_the_score_of_the_sentence(model):
    for words in [["a", "b", "c"], [], ["a"], ["zz", "", "b", ""]]:
        total = read_word_by_word(model, words)
        assert total == pytest.approx(model.score([make_sentence(words)] * 2))
        # A skipped word is not in the sequence.
        assert total == pytest.approx(model.score_words([[word for word in words if word]] * 2))


def test_prefixes_of_equal_key_have_equal_futures(model):
    rng = np.random.default_rng(0)
    states = model.start(40)
    for _ in range(4):
        tokens = [Token(" ", LETTERS[number]) for number in rng.integers(0, 7, 40)]
        states, _ = model.extend(states, np.arange(40), tokens)
    futures: dict = {}
    _, gains = model.extend(states, np.arange(40), [Token(" ", "a")] * 40)
    for key, gain in zip(model.recombine(states), gains, strict=True):
        assert futures.setdefault(key, gain) == gain


def test_no_sentences_and_unknown_words(model):
    assert model.score([]).shape == (0,)
    assert model.knows("a")
    assert not model.knows("zebra")
    assert model.knows("A")  # words are looked up in lower case
    assert isinstance(model, NGramModel)


def test_seen_sentences_are_likelier_than_shuffled_ones():
    text = make_text(3, 400)
    model = train_kneser_ney(text, order=3, least=1)
    rng = np.random.default_rng(0)
    held = make_text(4, 100)
    shuffled = [[str(word) for word in rng.permutation(sentence)] for sentence in held]
    assert model.perplexity(held) < 0.8 * model.perplexity(shuffled)
    assert model.perplexity(held) < train_kneser_ney(text, order=1, least=1).perplexity(held)


def test_the_vocabulary_keeps_the_most_frequent_words_and_a_mark_in_a_text_is_unknown():
    assert Corpus.of([list("aaabbc")], least=1, most=2).words[3:] == ["a", "b"]
    assert Corpus.of([["a", "</s>", "<s>", "a"]], least=1).ids.tolist() == [1, 3, 0, 0, 3, 2]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"order": 6}, "the order is 6; choose 1 to 5"),
        ({"order": 0}, "the order is 0"),
        ({"prune": (2, 1)}, "do not fall"),
        ({"least": 0}, "choose 1 or more"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        train_kneser_ney([["a"]], **settings)
    with pytest.raises(ValueError, match="no sentences"):
        train_kneser_ney([])


# --- files


@pytest.mark.parametrize(
    ("name", "write"), [("model.arpa", write_arpa), ("model.arpa.gz", write_arpa), ("model.lm", BackoffModel.write)]
)
@pytest.mark.parametrize("order", [1, 2, 4])
def test_a_model_comes_back_from_a_file_as_it_was(name, write, order, tmp_path):
    model = train_kneser_ney(make_text(), order=order, prune=(0, 1), least=2)
    write(model, tmp_path / name)
    back = load_language_model(tmp_path / name)
    assert isinstance(back, BackoffModel)
    assert (back.words, back.counts, back.links.tolist()) == (model.words, model.counts, model.links.tolist())
    sentences = [*make_text(9, 20), ["zz", "a"]]
    assert back.score_words(sentences) == pytest.approx(model.score_words(sentences), abs=1e-4)


def test_kenlm_reads_the_same_numbers_as_ours_whole_and_from_left_to_right(tmp_path, model):
    pytest.importorskip("kenlm", reason="needs the package kenlm")
    # KenLM reads the text format through the same door as its binary one, which needs another program to be written.
    write_arpa(model, tmp_path / "model.arpa")
    theirs = KenLMModel(tmp_path / "model.arpa")
    assert theirs.knows("A")
    assert not theirs.knows("zebra")
    listed = [*make_text(9, 30), ["zz", "a", "zz"]]
    assert theirs.score(list(map(make_sentence, listed))) == pytest.approx(model.score_words(listed), abs=1e-3)
    for words in (["a", "B", "", "zebra"], ["c", "", "d", "e"]):
        assert read_word_by_word(theirs, words) == pytest.approx(model.score([make_sentence(words)] * 2), abs=1e-3)
    assert theirs.recombine(theirs.start(1)) is not None
    (tmp_path / "model.bin").write_bytes(b"mmap lm http://kheafield.com/code format version 5\n\0" + bytes(100))
    with pytest.raises(ValueError, match="cannot be read as a KenLM file"):
        load_language_model(tmp_path / "model.bin")


def test_a_damaged_file_of_our_own_is_refused(tmp_path, model):
    path = tmp_path / "model.lm"
    model.write(path)
    whole = path.read_bytes()
    for cut in (10, len(whole) // 2, len(whole) - 5):
        path.write_bytes(whole[:cut])
        with pytest.raises(ValueError, match="damaged or incomplete"):
            load_language_model(path)
    np.savez(tmp_path / "other.npz", words=np.arange(3))
    with pytest.raises(ValueError, match="expected a language model"):
        load_language_model(tmp_path / "other.npz")
    loop = model.links.copy()
    loop[5] = 7
    BackoffModel(model.words, model.keys, model.node_log_probs, model.backoffs, loop, "loop").write(path)
    with pytest.raises(ValueError, match="do not fit together"):
        load_language_model(path)


ARPA = """\
\\data\\
ngram 1=4
ngram 2=2

\\1-grams:
-1.0\t<s>\t-0.5
-0.5\t</s>
-0.6\ta\t-0.2
-0.7\tb\t-0.3

\\2-grams:
-0.1\t<s> a
-0.2\ta b

\\end\\
"""


def test_an_arpa_file_worked_by_hand(tmp_path):
    path = tmp_path / "small.arpa"
    path.write_text(ARPA)
    model = read_arpa(path)
    # p(a | <s>) p(b | a) bow(b) p(</s>)
    assert model.score_words([["a", "b"]])[0] / LN_10 == pytest.approx(-0.1 - 0.2 - 0.3 - 0.5, abs=1e-6)
    # bow(<s>) p(b) bow(b) p(a) bow(a) p(</s>)
    assert model.score_words([["b", "a"]])[0] / LN_10 == pytest.approx(-0.5 - 0.7 - 0.3 - 0.6 - 0.2 - 0.5, abs=1e-6)
    # The file has no <unk>; one is a tenth as likely as the least likely word.
    assert model.log_probs(model.ids(["a"])[:, None], model.ids(["c"]))[0] / LN_10 == pytest.approx(-0.2 - 2.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[: text.index("-0.2\ta b")], "line 13: the file ends"),
        (lambda text: text.replace("\\end\\\n", ""), "line 15: the file ends"),
        (lambda text: text.replace("-0.2\ta b", "-0.2\ta"), "line 13: 2 fields"),
        *((lambda text, p=p: text.replace("-0.2\ta b", f"{p}\ta b"), f"line 13: '{p}'") for p in ("x", "nan", "0.2")),
        (lambda text: text.replace("-0.2\ta b", "-0.2\ta c"), "line 13: 'c'"),
        (lambda text: text.replace("-0.2\ta b", "-0.2\t<s> a"), "line 13: .* before"),
        (lambda text: text.replace("ngram 2=2", "ngram 2=3"), "line 15: 1 of 3 2-grams"),
        (lambda text: text.replace("ngram 2=2", "ngram 2=1"), "line 13: .*'-0.2"),
        (lambda text: text.replace("ngram 1=4", "ngram 3=4"), "line 2: .*`ngram 1=COUNT`"),
        (lambda text: text.replace("\\2-grams:", "\\3-grams:"), "line 11: expected .2-grams:"),
        (lambda text: "hello\n" * 3, "line 4: the file ends"),
        (lambda text: text.replace("a b", "a\0b"), "line 13: a NUL byte"),
        (lambda text: text + "x" * 70_000, None),  # what follows the end does not matter
        (lambda text: "x" * 70_000 + text, "line 1: "),
    ],
)
def test_a_malformed_arpa_file_is_refused_with_its_line(change, message, tmp_path):
    path = tmp_path / "small.arpa"
    path.write_text(change(ARPA))
    if message is None:
        assert read_arpa(path).order == 2
        return
    with pytest.raises(ValueError, match=message):
        read_arpa(path)


def test_other_files_are_refused_in_one_sentence(tmp_path):
    path = tmp_path / "x"
    for content, message in [
        (b"\x89PNG\r\n\xff\xfe", "line 1: not UTF-8"),
        (gzip.compress(ARPA.encode())[:-20], r"compressed file is damaged or incomplete|the file ends"),
        (b"", "is empty"),
    ]:
        path.write_bytes(content)
        with pytest.raises(ValueError, match=message):
            load_language_model(path)
    with pytest.raises(ValueError, match="is a folder"):
        load_language_model(tmp_path)
    with pytest.raises(FileNotFoundError, match="smollm2"):
        load_language_model("smolm2")


def test_an_n_gram_whose_end_is_missing_backs_off_past_it(tmp_path):
    """Pruned files may hold `a b c` without `b c`; the next context is then the longest end that is there."""
    path = tmp_path / "pruned.arpa"
    path.write_text(
        "\\data\\\nngram 1=5\nngram 2=1\nngram 3=1\n\n\\1-grams:\n-1\t<s>\n-1\t</s>\n-1\ta\n-1\tb\t-0.4\n"
        "-1\tc\t-0.7\n\n\\2-grams:\n-0.5\ta b\t-0.1\n\n\\3-grams:\n-0.2\ta b c\n\n\\end\\\n"
    )
    model = read_arpa(path)
    assert model.score_words([["a", "b", "c", "a"]])[0] / LN_10 == pytest.approx(-1 - 0.5 - 0.2 - 0.7 - 1 - 1, abs=1e-6)


# --- text


def test_sentences_end_where_a_reader_would_end_them():
    text = "One, two! Three (four). Mr. Smith paid 3.50 in the U.S. yesterday. “Five?” Six\n\nseven"
    words = split(text)
    found = [" ".join(words.words[a:b]) for a, b in find_sentences(words)]
    assert found == ["One two", "Three four", "Mr Smith paid 3 50 in the U S yesterday", "Five", "Six", "seven"]
    assert find_sentences(split("...")) == []


@given(st.text(alphabet="aA .!?\n'-1é", max_size=60))
def test_sentences_hold_every_word_once(text):
    spans = find_sentences(split(text))
    assert [word for sentence in read_sentences(text) for word in sentence] == list(split(text).lower)
    assert all(a[1] == b[0] for a, b in pairwise(spans))


@pytest.mark.parametrize(("piece", "name"), [("wörd ", "long.txt"), ("ö", "long.txt.gz")])
def test_a_long_line_is_read_in_pieces_and_loses_nothing(piece, name, tmp_path):
    whole = piece * (3 * 2**16 // len(piece.encode())) + "\nend"
    content = whole.encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    pieces = list(read_texts(tmp_path / name))
    assert "".join(pieces) == whole
    assert len(pieces) > 3


# --- the command


def test_train_lm_writes_a_model_and_tells_its_perplexity(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("".join(" ".join(sentence) + "\n" for sentence in make_text(0, 1000)))
    for name in ("model.lm", "model.arpa.gz"):
        out = tmp_path / name
        done = CliRunner().invoke(cli, ["train-lm", str(text), "--order", "2", "--out", str(out), "--json"])
        assert done.exit_code == 0, done.output
        report = json.loads(done.stdout)
        assert [report[key] for key in ("words", "order", "lines", "held_out_lines")] == [10, 2, 990, 10]
        assert 1 < report["perplexity"] < 7
        assert load_language_model(out).order == 2
    again = CliRunner().invoke(cli, ["train-lm", str(text), "--out", str(out)])
    assert again.exit_code == 1
    assert "model.arpa.gz already exists" in again.stderr
    shown = CliRunner().invoke(cli, ["train-lm", str(text), "--words", "5", "--out", str(tmp_path / "few.lm")])
    assert "8 words" in shown.stdout


def test_train_lm_refuses_what_is_not_there(tmp_path):
    for arguments, message in [
        (["nowhere.txt", "--out", str(tmp_path / "x")], "neither a data set"),
        ([str(tmp_path), "--out", str(tmp_path / "x")], "is a folder"),
        (["-", "--out", str(tmp_path / "no" / "x")], "there is no folder"),
        (["-", "--out", str(tmp_path / "x")], "no sentences"),
    ]:
        done = CliRunner().invoke(cli, ["train-lm", *arguments], input="")
        assert done.exit_code == 1, done.output
        assert message in done.stderr
    assert not list(tmp_path.iterdir())
