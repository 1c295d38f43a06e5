"""Splitting loses no character, and markup never counts as words."""

import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discotext.text.words import compute_budget, match_case, split

MARKUP = "<br />|<BR>|</b>|&lt;b&gt;|&lt;/FONT&gt;|&amp;|&#39;|#39;|quot;|gt;".split("|")
MARKUP += ['&lt;A HREF="x"&gt;']


@given(
    st.text()
    | st.lists(st.sampled_from([*MARKUP, "good", " ", "\r\n", "'", "-", "é", "e\u0301", "\u200f", "😀"])).map("".join)
)
@example("")
@example("שלום עולם, مرحبا")
@example("\x00\x85tab\tCR\r\nLF\n\u2028")
@example("👩‍👩‍👧 good 👍🏽")
@example("\ud800 lone surrogate")
def test_nothing_is_lost(text):
    words = split(text)
    assert str(words) == text
    assert [text[begin:end] for begin, end in words.spans()] == list(words.words)
    assert len(words.gaps) == len(words) + 1


@given(st.text())
def test_every_letter_and_digit_outside_markup_is_in_a_word(text):
    outside = split(text)
    for gap in outside.gaps:
        if not any(sign in gap for sign in "<&#;"):
            assert not any(character.isalnum() for character in gap)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It's well-known", ["It's", "well-known"]),
        ("rock 'n' roll -- 'quoted' dash-", ["rock", "n", "roll", "quoted", "dash"]),
        ("cafe\u0301 naïve", ["cafe\u0301", "naïve"]),
        ("snake_case 3.5% U.S.", ["snake", "case", "3", "5", "U", "S"]),
        ("great.<br /><br />Then", ["great", "Then"]),
        ("Oil &lt;b&gt;prices&lt;/b&gt; up", ["Oil", "prices", "up"]),
        ('&lt;A HREF="http://a.b/c"&gt;full quote&lt;/A&gt;', ["full", "quote"]),
        ("Bush #39;s plan, AT&amp;T, quot;yes quot;", ["Bush", "s", "plan", "AT", "T", "yes"]),
        ("a great film; amp up", ["a", "great", "film", "amp", "up"]),
        ("5 < 6 and x > y", ["5", "6", "and", "x", "y"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("don’t", ["don’t"]),
        ("", []),
        ("?!… —", []),
    ],
)
def test_words_are_what_a_reader_would_call_words(text, words):
    assert list(split(text).words) == words


@given(st.text(max_size=40), st.data())
def test_replacing_touches_nothing_else(text, data):
    words = split(text)
    numbers = data.draw(st.sets(st.integers(0, len(words) - 1)) if len(words) else st.just(set()))
    changed = words.replace(dict.fromkeys(numbers, "zzz"))
    assert changed.gaps == words.gaps
    assert [a == b for a, b in zip(changed.words, words.words, strict=True)] == [
        number not in numbers or words.words[number] == "zzz" for number in range(len(words))
    ]
    with pytest.raises(IndexError, match=f"word {len(words)}"):
        words.replace({len(words): "x"})


@given(st.text(max_size=40), st.integers(0, 3), st.integers(0, 3))
def test_the_text_around_a_word_is_cut_at_words(text, before, after):
    words = split(text)
    for number, (begin, end) in enumerate(words.spans()):
        left, right = words.around(number, before, after)
        assert text[:begin].endswith(left)
        assert text[end:].startswith(right)
        whole = words.around(number, len(words), len(words))
        assert whole == (text[len(words.gaps[0]) : begin], text[end : len(text) - len(words.gaps[-1])])


def test_splitting_takes_linear_time():
    # Quadratic time would be hours, so the limit can be generous.
    code = (
        "from discotext.text.words import split\n"
        "for piece in ['a good film. ', '&lt;b ', '<a ', \"'-\", 'é', '\\u0301', '&', 'x-']:\n"
        "    text = piece * (1_000_000 // len(piece))\n"
        "    assert str(split(text)) == text\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=900)


@pytest.mark.parametrize(
    ("original", "shown"), [("good", "nice"), ("Good", "Nice"), ("GOOD", "NICE"), ("Él", "Nice"), ("mcDonald", "nice")]
)
def test_a_replacement_takes_over_the_casing(original, shown):
    assert match_case(original, "nice") == shown


@given(st.integers(1, 1000), st.integers(1, 100))
def test_budgets_are_exact_shares_rounded_down_and_at_least_one(words, hundredths):
    assert compute_budget(words, hundredths / 100) == max(1, words * hundredths // 100)


@pytest.mark.parametrize("name", ["ag_news", "imdb", "trec"])
def test_real_texts_are_restored_and_their_markup_is_not_split_into_words(name, shared_data):
    parquet = pytest.importorskip("pyarrow.parquet")
    texts = parquet.read_table(shared_data / f"{name}_test.parquet", columns=["text"])["text"].to_pylist()[:3000]
    for text in texts:
        words = split(text)
        assert str(words) == text
        assert len(words)
        assert not {"br", "quot", "lt", "gt", "HREF", "FONT"} & set(words.words), text
