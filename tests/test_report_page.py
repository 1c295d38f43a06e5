"""The page answers first, shows flipped texts, says what to do next, explains its words, and uses the whole window."""

import json
import re
import shlex
import subprocess

import click
import pytest

from discotext.cli import cli
from discotext.experiment.report import make_page
from discotext.experiment.report.figures import Strongest, make_table
from discotext.experiment.report.next_steps import find_next_steps
from discotext.experiment.report.showcase import choose_flipped, mark_excerpt
from discotext.experiment.run import read_run
from discotext.experiment.terms import define
from tests.test_report import CHROMIUM, FLAGS, Reader, browser, folder, invoke, record, records, settings


def page_of(path, found, given=None):
    return read_run(folder(path, found, given or settings(len(found), ["disco"], ["0.2"])))


def made(number, status="reached", changed=1, accept=None, text=None, **more):
    """A record in which the first words of a text were changed."""
    text = text or f"some words of text number {number} that anyone can read"
    words = list(re.finditer(r"\w+", text))
    changes, after, at = [], "", 0
    for place, word in enumerate(words[:changed]):
        new = f"new{place}"
        changes.append(
            {"position": place, "start": word.start(), "end": word.end(), "old": word[0], "new": new, "accept": accept}
        )
        after += text[at : word.start()] + new
        at = word.end()
    touched = {"changes": changes, "adversarial_text": after + text[at:]} if status in ("reached", "improved") else {}
    empty = {"changes": [], "adversarial_text": text}
    like = 8 + 9 * (number % 2)  # one whose text has words, with the same label
    return record(like, status=status, id=number, text=text, words=len(words), **({**empty, **touched} | more))


# Three flipped texts.


def test_three_flipped_texts_stand_under_the_headline_and_say_how_they_were_chosen(tmp_path):
    found = [made(0, changed=3), made(1, changed=1), made(2, changed=2), made(3, changed=4), made(4, "unchanged")]
    text = make_page(page_of(tmp_path / "run", found))
    read = Reader(text)
    shown = read.all("figure", **{"class": "example"})
    assert [one[2].partition("number ")[2][0] for one in shown] == ["1", "2", "0"]
    assert "good & <better> → bad" in shown[0][2]  # label 1 becomes 0
    assert "1 of 10 words changed" in shown[0][2]
    assert "3 of the 4 texts that disco flipped: the fewest words changed" in read.all("header")[0][2]
    assert "not typical" in read.all("header")[0][2]
    first = text.index("</h1>") + len("</h1>")
    assert text[first:].startswith('<div class="showcase"')
    assert "<del>some</del> <ins>new0</ins>" in text[first : text.index("</header>")]


def test_of_texts_with_as_few_changes_the_most_acceptable_come_first_and_none_twice():
    from discotext.experiment.record import Record

    same = "the very same text"
    rows = [made(0, accept=0.5), made(1, accept=0.9), made(2, accept=0.7, text=same), made(3, accept=0.6, text=same)]
    rows += [made(4, changed=2, accept=1.0), made(5, "improved", accept=1.0)]
    assert [one.id for one in choose_flipped(list(map(Record.from_dict, rows)), 5)] == [1, 2, 0, 4]


def test_a_long_text_is_shown_around_its_changes_only():
    from discotext.experiment.record import Record

    row = Record.from_dict(made(0, text="start " + "word " * 500 + "end"))
    shown = "".join(map(str, mark_excerpt(row)))
    assert len(shown) < 300
    assert shown.startswith("<del>start</del> <ins>new0</ins> word")
    assert shown.endswith("…")


def test_without_a_flipped_text_there_is_no_showcase(tmp_path):
    text = make_page(page_of(tmp_path / "run", [made(0, "unchanged"), made(1, "improved")]))
    assert "showcase" not in text[text.index("</style>") :]


# The list of texts.


def test_flipped_texts_come_first_without_a_script(tmp_path):
    found = [made(0, "unchanged"), made(1, "misclassified"), made(2), made(3, "failed"), made(4, "improved"), made(5)]
    read = Reader(make_page(page_of(tmp_path / "run", found)))
    order = [one[2].partition(" ·")[0] for one in read.all("p", **{"class": "facts"})]
    assert order == ["text 2", "text 5", "text 0", "text 4", "text 1", "text 3"]
    assert "flipped ones first" in read.all("section", id="texts")[0][2]
    assert read.all("option", value="flipped") == [read.all("option")[0]]


@browser
def test_flipped_texts_come_first_in_a_browser_and_the_page_says_so(tmp_path):
    found = [made(0, "unchanged"), made(1), made(2, "misclassified"), made(3)]
    path = folder(tmp_path / "run", found, settings(4, ["disco"], ["0.2"]))
    invoke(path)
    read = opened((path / "report.html").as_uri(), tmp_path)
    assert [one[2].partition(" ·")[0] for one in read.all("p", **{"class": "facts"})] == [
        "text 1", "text 3", "text 0", "text 2",
    ]  # fmt: skip
    assert read.all("output")[0][2] == "4 of 4 records: 2 flipped, 1 not flipped, 1 not attacked; flipped first"
    read = opened((path / "report.html").as_uri() + "#sort=order", tmp_path)
    assert [one[2].partition(" ·")[0] for one in read.all("p", **{"class": "facts"})] == [
        "text 0", "text 1", "text 2", "text 3",
    ]  # fmt: skip


# What to do next.


def check_command(line):
    """Parse a command line as the program would, without doing it."""
    name, *arguments = shlex.split(line)
    assert name == "discotext"
    command = cli.get_command(click.Context(cli), arguments[0])
    assert command is not None, line
    with command.make_context(arguments[0], arguments[1:]):
        pass


def steps_of(path, found, more):
    run = page_of(path, found, settings(len(found), ["disco"], ["0.2"]) | more)
    return find_next_steps(Strongest.of(run), "my run")


USUAL = {
    "source": "thesaurus",
    "tagger": "light",
    "limit": 8,
    "unknown_words": False,
    "scorer": "light",
    "accept": 0.45,
}
COVERED = {"changeable": 5, "candidates": 9}
CASES = {
    "unfinished": ([made(0)], {"n": 40}, "is not finished", "--out 'my run'"),
    "failed": ([made(0), made(1, "failed")], {}, "The victim failed on 1 text", "discotext check"),
    "unstable": ([made(0), made(1, "unstable")], {}, "did not give the same score", "discotext check"),
    "guessing": ([made(n, "misclassified") for n in range(30)], {}, "fewer than by guessing", "discotext check"),
    "not attacked": ([made(0, "misclassified")], {}, "No text was attacked", "discotext check"),
    "few candidates": (
        [made(n, "impossible", changeable=0, candidates=0) for n in range(5)] + [made(n, **COVERED) for n in (5, 6)],
        {"candidates": USUAL}, "in 5 of 7 texts nothing can change", "--accept 0.3",
    ),
    "no candidates": (
        [made(n, "impossible", changeable=0, candidates=0) for n in range(7)], {"candidates": USUAL},
        "nothing can change", "--synonyms FILE",
    ),
    "not proved": ([made(0), made(1, "improved")], {}, "nothing is proved", "discotext certify"),
    "flipped": ([made(0), made(1, "impossible")], {}, "of the attacked texts were flipped", "discotext harden"),
    "holds": ([made(n, "impossible") for n in range(9)], {}, "Few texts were flipped", "--budget 0.4"),
    "unlikely swaps": (
        [made(n, accept=0.5) for n in range(9)], {"candidates": USUAL}, "accept only 50\u00a0%", "--accept 0.6",
    ),
    "few texts": ([made(0, "impossible"), made(1)], {}, "there are only 2 texts", "--limit 20"),
    "a function": (
        [made(n, "impossible", solver="greedy") for n in range(99)],
        {"victim": "py:model.py:scores", "solvers": {"greedy": "Greedy()"}}, "has no gradients", "--surrogate auto",
    ),
    "open proofs": (
        [made(n, "improved") for n in range(99)], {"certify": {"passes": 50, "budgets": ["0.2"]}},
        "99 texts are open", "--passes 500",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_next_step_follows_from_the_figures_and_its_command_is_real(case, tmp_path):
    found, more, reason, command = CASES[case]
    steps = steps_of(tmp_path / "run", found, more)
    assert any(reason in step.reason and command in (step.command or "") for step in steps), steps
    for step in steps:
        for line in (step.command or "").splitlines():
            check_command(line.replace("FILE", __file__) if "--synonyms FILE" in line else line)


def test_a_step_that_the_figures_do_not_suggest_is_not_there(tmp_path):
    found = [made(n, "impossible") for n in range(200)] + [made(n) for n in range(200, 220)]
    steps = steps_of(tmp_path / "run", found, {"victim": "victim", "data": "movie_reviews"})
    assert [step.command.split()[1] for step in steps] == ["harden"]
    assert steps[0].command.splitlines() == [
        "discotext harden movie_reviews --model victim --budget 0.2 --out hardened",
        "discotext report hardened/before hardened/after",
    ]


def test_commands_name_victim_and_data_where_these_have_names(tmp_path):
    found = [made(0), made(1, "improved")]
    hostile = steps_of(tmp_path / "a", found, {"victim": "my $(rm) 'model'", "data": "a file.csv"})
    assert "my $(rm) 'model'" in shlex.split(hostile[0].command)
    assert "a file.csv" in shlex.split(hostile[0].command)
    given = steps_of(tmp_path / "b", found, {"victim": "function", "data": "given"})
    assert given[0].command.startswith("discotext certify VICTIM DATA ")
    read = Reader(make_page(page_of(tmp_path / "c", found, settings(2, ["disco"], ["0.2"], data="given"))))
    assert "VICTIM stands for your model; DATA stands for your texts" in read.all("section", id="next")[0][2]


# Terms.


def test_every_term_explains_itself_on_hover_on_focus_and_in_the_list(run):
    read = Reader(make_page(read_run(run)))
    listed = {one[1]["id"]: one[2] for one in read.all("dd") if "id" in one[1]}
    terms = read.all("a", **{"class": "term"})
    assert {one[2] for one in terms} >= {"accuracy before", "success", "proved", "words changed", "solver"}
    for _, attributes, _ in terms:
        # A link is reached by the keyboard; its description is the meaning in the list.
        assert attributes["href"] == "#" + attributes["aria-describedby"]
        assert listed[attributes["aria-describedby"]] == attributes["data-meaning"]
    words = {one[2] for one in read.all("dt")}
    assert {"flipped", "not flipped", "not attacked", "failed", "impossible", "victim", "budget"} <= words
    assert all(define(heading[2]) for heading in read.all("th", scope="col") if heading[2] not in ("swap",))


@pytest.fixture
def run(tmp_path):
    return folder(tmp_path / "run", records(), settings())


# In a browser.


def opened(url, tmp_path, *flags):
    command = [CHROMIUM, *FLAGS, *flags, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", url]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, encoding="utf-8")
    return Reader(re.sub(r"<noscript>.*?</noscript>", "", done.stdout, flags=re.DOTALL))


def measure(tmp_path, name, width, code, height=900):
    """What a piece of JavaScript finds on a page in a frame so wide."""
    frame = tmp_path / "frame.html"
    frame.write_text(
        f'<!doctype html><body><iframe id="frame" src="{name}" width="{width}" height="{height}" frameborder="0">'
        "</iframe><script>addEventListener('load', () => { const view = document.getElementById('frame').contentWindow;"
        "const page = view.document, root = page.documentElement; document.documentElement.dataset.seen ="
        f"JSON.stringify((() => {{ {code} }})()); }});</script></body></html>"
    )
    return json.loads(opened(frame.as_uri(), tmp_path).all("html")[0][1]["data-seen"])


@browser
@pytest.mark.parametrize("width", [320, 375, 700, 1100, 1600, 2200])
def test_no_window_scrolls_sideways_and_a_wide_one_is_used(run, tmp_path, width):
    invoke(run)
    client, scroll, boxes = measure(
        tmp_path, "run/report.html", width,
        "const box = (id) => { const box = page.getElementById(id).getBoundingClientRect();"
        "return [box.left, box.right, box.top]; };"
        "return [root.clientWidth, root.scrollWidth, Object.fromEntries("
        "['solvers', 'accuracy', 'queries', 'classes', 'words', 'texts'].map((id) => [id, box(id)]))];",
    )  # fmt: skip
    assert scroll <= client
    left, right = min(box[0] for box in boxes.values()), max(box[1] for box in boxes.values())
    beside = boxes["accuracy"][2] == boxes["queries"][2] or boxes["accuracy"][2] == boxes["solvers"][2]
    if width < 1100:
        assert not beside
    else:
        assert beside
        assert boxes["words"][0] > client / 2 - 100  # the right half is not empty
        assert right - left > min(0.8 * client, 1500)


@browser
def test_texts_stand_in_two_columns_where_there_is_room(run, tmp_path):
    invoke(run)
    code = (
        "return [...page.querySelectorAll('#cards article')].slice(0, 2).map((one) => one.getBoundingClientRect().top);"
    )
    tops = measure(tmp_path, "run/report.html", 1600, code)
    assert tops[0] == tops[1]
    tops = measure(tmp_path, "run/report.html", 375, code)
    assert tops[0] < tops[1]


@browser
@pytest.mark.parametrize("width", [375, 1600])
def test_a_meaning_appears_beside_a_term_that_has_the_focus_and_escape_hides_it(run, tmp_path, width):
    invoke(run)
    code = (
        "const terms = [...page.querySelectorAll('.term')]; const seen = terms.map((term) => {"
        "term.scrollIntoView({block: 'center', behavior: 'instant'});"
        "term.focus({focusVisible: true, preventScroll: true});"
        "const style = view.getComputedStyle(term, '::after'); const left = parseFloat(style.left);"
        "return [style.display, style.content.includes(term.dataset.meaning), left >= 0 &&"
        "left + parseFloat(style.width) <= root.clientWidth]; });"
        "page.dispatchEvent(new view.KeyboardEvent('keydown', {key: 'Escape', bubbles: true}));"
        "const last = terms.at(-1);"
        "return [seen, view.getComputedStyle(last, '::after').display, root.scrollWidth - root.clientWidth];"
    )
    seen, dismissed, overflow = measure(tmp_path, "run/report.html", width, code)
    assert len(seen) > 10
    assert all(one == ["block", True, True] for one in seen)
    assert dismissed == "none"
    assert overflow == 0


@browser
def test_hostile_texts_on_top_of_the_page_stay_texts(tmp_path):
    evil = [
        "<script>document.title='PWNED'</script> awful",
        "<img src=x onerror=\"document.title='PWNED'\"> bad",
        "\u202eright to left\u202c فيلم جميل جدا",
        "\"quotes' `and` </blockquote></figure><b>bold</b>",
    ]
    found = [made(number, text=text) for number, text in enumerate(evil)]
    path = folder(tmp_path / "run", found, settings(4, ["disco"], ["0.2"], labels=["<i>no</i>", "\"yes'"]))
    invoke(path)
    # Without its policy, which would hide a mistake in the markup.
    page = path / "report.html"
    page.write_text(re.sub(r'<meta http-equiv="Content[^>]*>', "", page.read_text(encoding="utf-8")), encoding="utf-8")
    read = opened(page.as_uri(), tmp_path)
    assert read.all("title")[0][2] == "discotext: a <victim> on texts & more"
    assert len(read.all("script")) == 2
    assert not read.all("img")
    shown = [one[2] for one in read.all("blockquote")]
    assert len(shown) == 3
    assert all(one[1]["dir"] == "auto" for one in read.all("blockquote"))
    assert any("</blockquote></figure>" in one for one in shown) or any("<script>" in one for one in shown)
    assert "<i>no</i>" in read.all("header")[0][2]


def test_a_heading_is_explained_under_its_full_name_only():
    head = make_table("both models", ("attack", "before", "after", "proved"))
    assert [one[2] for one in Reader(head).all("a", **{"class": "term"})] == ["proved"]
