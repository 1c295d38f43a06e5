"""What a report says is what the records say, and nothing in the records can be more than text."""

import csv
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from click.testing import CliRunner

from discotext.cli.report import command
from discotext.experiment.record import Record
from discotext.experiment.report import make_page
from discotext.experiment.report.change_statistics import count_kinds, count_pairs, count_tenths
from discotext.experiment.report.figures import Strongest
from discotext.experiment.report.texts import describe, make_data, order_changes, select_texts
from discotext.experiment.run import read_run
from discotext.experiment.summary import summarise_run
from discotext.text.words import split

LABELS = ["bad", "good & <better>"]
TEXTS = [
    'A fine film, "really" fine.',
    "<script>alert('good')</script> is not code</script><!-- here",
    "Ein 🎬🍿 Film, sehr gut 👍🏽 gemacht",
    "فيلم جميل جدا ومؤثر",
    "first line\nsecond line\r\n\tthird & last",
    "…!? 123",
    "",
    "half a character \ud83d and on",
    "plain words without any harm",
]
STATUSES = [
    "reached",
    "fewest",
    "impossible",
    "improved",
    "unchanged",
    "misclassified",
    "failed",
    "unstable",
    "optimal",
]


def record(number, solver="disco", share="0.2", status="reached", new="NEW", **more):
    """A record as a run makes it: the first word changed where the status says so."""
    text = TEXTS[number % len(TEXTS)]
    found = split(text)
    touched = len(found) > 0 and status in ("reached", "fewest", "improved", "unstable", "optimal")
    if not len(found) and status in ("reached", "fewest"):
        status = "unchanged"
    place = min(1, len(found) - 1)
    changes = []
    if touched:
        start, end = found.spans()[place]
        changes = [{"position": place, "start": start, "end": end, "old": text[start:end], "new": new}]
    won = status in ("reached", "fewest")
    label = number % 2
    before = None if status == "failed" else 1 - label if status == "misclassified" else label
    given = {
        "id": number, "text": text, "label": label, "predicted": before,
        "adversarial_text": str(found.replace({place: new})) if touched else text,
        "adversarial_predicted": 1 - label if won else before, "score": None if before is None else -1.25,
        "adversarial_score": None if before is None else 0.5 if won else -0.5, "changes": changes, "words": len(found),
        "budget": 1, "status": status, "solver": solver, "seed": 7,
        "space": None if status in ("misclassified", "failed") else "abc", "forwards": 10 + number, "backwards": 3,
        "seconds": 0.25, "victim_seconds": 0.125, "unit": 0, "share": share, "allowed": None,
        "error": "ValueError: <b>no</b>" if status == "failed" else None,
    }  # fmt: skip
    return given | more


def settings(n=9, solvers=("disco", "greedy"), budgets=("0.1", "0.2"), **more):
    return {
        "version": "0.1.0", "victim": "a <victim>", "labels": LABELS, "data": "texts & more", "n": n,
        "solvers": {name: f"{name}()" for name in solvers}, "budgets": list(budgets), "seed": 3, "target": None,
        "candidates": {"source": "wordnet"}, "chunk": 64, "shard": "1/1",
    } | more  # fmt: skip


def records(n=9, solvers=("disco", "greedy"), budgets=("0.1", "0.2")):
    return [
        record(number, solver, share, STATUSES[(number + shift) % len(STATUSES)])
        for share in budgets
        for shift, solver in enumerate(solvers)
        for number in range(n)
    ]


def folder(path, found, given):
    path.mkdir(parents=True, exist_ok=True)
    (path / "settings.json").write_text(json.dumps(given))
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in found)
    (path / "records.jsonl").write_bytes(lines.encode("utf-8", "surrogatepass"))
    return path


@pytest.fixture
def run(tmp_path):
    return folder(tmp_path / "run", records(), settings())


class Reader(HTMLParser):
    """Elements with their attributes and texts; complains where they do not nest."""

    VOID = ("meta", "br", "input", "link")

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.found = [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.found.append([tag, dict(attributes), ""])
        if tag not in self.VOID:
            self.open.append(self.found[-1])

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        for one in self.open:
            one[2] += data

    def all(self, tag, **attributes):
        wanted = attributes.items()
        return [one for one in self.found if one[0] == tag and all(one[1].get(key) == value for key, value in wanted)]


def test_the_page_is_whole_self_contained_and_the_same_every_time(run):
    text = make_page(read_run(run))
    read = Reader(text)
    assert text == make_page(read_run(run))
    assert read.all("html", lang="en")
    assert all(read.all("section", id=name) for name in ("solvers", "accuracy", "classes", "words", "places", "texts"))
    for _, attributes, _ in read.found:
        assert not {"src", "style", "onclick", "onload", "srcset"} & set(attributes)
        assert (attributes.get("href") or "#").startswith("#")
    assert not re.search(r"url\(|@import|https?://|//cdn", text)
    policy = read.all("meta", **{"http-equiv": "Content-Security-Policy"})[0][1]["content"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_no_text_becomes_markup(run):
    text = make_page(read_run(run))
    read = Reader(text)
    assert len(read.all("script")) == 2  # the data and the page's own
    assert "<!--" not in text
    shown = [one[2] for one in read.all("p", **{"class": "text"})]
    assert TEXTS[1] in shown
    embedded = json.loads(read.all("script", id="data")[0][2])
    assert [one[1] for one in embedded["texts"]] == [text.replace("\ud83d", "\ufffd") for text in TEXTS]
    assert embedded["labels"] == LABELS
    assert "<b>no" not in text


def test_the_numbers_of_the_table_are_those_of_the_summary(run):
    found = read_run(run)
    read = Reader(make_page(found))
    expected = summarise_run(found.settings, found.records)
    rows = {}
    current = None
    for tag, attributes, _ in read.found:
        if tag == "tr":
            current = rows.setdefault((attributes.get("data-budget"), attributes.get("data-solver")), [])
        elif tag == "data":
            current.append(attributes["value"])
    for budget, summary in zip(found.settings["budgets"], expected, strict=True):
        for solver, row in summary.solvers.items():
            shares = (row.original_accuracy, row.adversarial_accuracy, row.success_rate, row.perturbation)
            shown = [float(value) if value else None for value in rows[budget, solver]]
            passes, seconds = row.forwards + row.backwards, row.seconds
            assert shown[:7] == [*shares, row.perturbation_all, row.optimal, row.failed]
            assert shown[7:] == [passes / row.attacked, seconds / row.attacked]
    assert all(
        f"{100 * row.adversarial_accuracy.low:.1f}–" in read.all("main")[0][2] for row in expected[1].solvers.values()
    )


def test_the_headline_is_about_the_strongest_attack(tmp_path):
    strong = [record(number, "greedy") for number in range(4)]
    weak = [record(number, "disco", status="improved") for number in range(4)]
    read = Reader(make_page(read_run(folder(tmp_path / "run", weak + strong, settings(4, budgets=["0.2"])))))
    said = read.all("h1")[0][2].replace("\u00a0", " ")
    assert said == (
        "Changing at most 20 % of the words (or one) flips 100 % of the texts that the victim had right: "
        "accuracy falls from 100.0 % to 0.0 %."
    )
    assert "flips 4 and disco 0" in read.all("section", id="solvers")[0][2]


def test_of_two_that_are_as_strong_the_headline_takes_the_one_that_proves_more(tmp_path):
    first = [record(0, "disco"), record(1, "disco", status="improved")]
    proved = [record(0, "greedy"), record(1, "greedy", status="impossible")]
    read = Reader(make_page(read_run(folder(tmp_path / "run", first + proved, settings(2, budgets=["0.2"])))))
    assert "greedy on 2 texts" in read.all("body")[0][2]
    assert "This is the true worst case: every verdict is proved." in read.all("body")[0][2]


@pytest.mark.parametrize("status", ["misclassified", "failed", "unchanged"])
def test_a_run_in_which_nothing_happened_has_a_page(tmp_path, status):
    found = [record(number, status=status) for number in range(3)]
    read = Reader(make_page(read_run(folder(tmp_path / "run", found, settings(3, ["disco"], ["0.2"])))))
    assert "No word was changed." in read.all("section", id="places")[0][2]
    assert "No text" in read.all("body")[0][2]


def test_budgets_in_words_and_a_target_are_said_in_words(tmp_path):
    found = [record(number, share=None, allowed=allowed) for allowed in (0, 1, 3) for number in (0, 2)]
    for row in found:
        if row["allowed"] == 0:
            row |= {"status": "unchanged", "changes": [], "adversarial_text": row["text"], "adversarial_predicted": 0}
    given = settings(2, ["disco"], ["0 words", "1 words", "3 words"], target=1)
    said = Reader(make_page(read_run(folder(tmp_path / "run", found, given)))).all("h1")[0][2]
    assert said.startswith("Changing at most 3 words flips")
    assert "into good & <better>" in said


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_is_a_sentence(tmp_path, status):
    found = read_run(folder(tmp_path / "run", [record(0, status=status)], settings(1, ["disco"], ["0.2"])))
    said = describe(found, found.records[0])
    assert said[0].isupper()
    assert len(said.split()) > 3


def test_marks_lead_from_the_text_to_the_adversarial_text_as_javascript_counts(run):
    found = read_run(run)
    embedded = make_data(Strongest.of(found))
    rows = {(row.id, row.solver, row.share): row for row in found.records}
    for place, solver, budget, *_, changes, other in embedded["rows"]:
        text = embedded["texts"][place][1].encode("utf-16-le")
        made, at = b"", 0
        for start, end, new in changes:
            made, at = made + text[2 * at : 2 * start] + new.encode("utf-16-le"), end
        row = rows[embedded["texts"][place][0], embedded["solvers"][solver], embedded["budgetKeys"][budget]]
        assert (made + text[2 * at :]).decode("utf-16-le") == row.adversarial_text.replace("\ud83d", "\ufffd")
        assert other is None


def test_an_adversarial_text_that_changes_do_not_explain_is_shown_as_it_is(tmp_path):
    odd = record(0, adversarial_text="something else altogether")
    assert order_changes(Record.from_dict(odd)) is None
    text = make_page(read_run(folder(tmp_path / "run", [odd], settings(1, ["disco"], ["0.2"]))))
    assert text.count("something else altogether") == 2


def test_pairs_places_and_kinds_by_hand():
    found = list(map(Record.from_dict, [record(0), record(8, new="WORDS"), record(8, status="improved")]))
    assert [(pair.old, pair.new, pair.flipped, pair.used) for pair in count_pairs(found)] == [
        ("fine", "new", 1, 1),
        ("words", "words", 1, 1),
    ]
    assert sum(count_tenths(found)) == 3
    assert count_tenths([found[0]])[3] == 1  # the second of five words, 1.5 / 5
    counted = {kind.name: (kind.changed, kind.words) for kind in count_kinds(found[:1])}
    assert counted["adjectives"][0] == 1
    assert sum(words for _, words in counted.values()) == 5


def test_a_large_run_is_shown_in_part_and_says_so(tmp_path):
    n = 520
    text = make_page(
        read_run(folder(tmp_path / "run", [record(number) for number in range(n)], settings(n, ["disco"], ["0.2"])))
    )
    read = Reader(text)
    flipped = sum(len(split(TEXTS[number % len(TEXTS)])) > 0 for number in range(n))
    embedded = json.loads(read.all("script", id="data")[0][2])
    shown = [one[0] for one in embedded["texts"]]
    assert len(shown) == 500
    assert shown == sorted(shown)
    said = read.all("section", id="texts")[0][2]
    others = n - flipped
    assert f"The page holds 500 of 520 texts: {500 - others} of the {flipped} that the strongest attack" in said
    assert f"and {others} of the {others} others" in said
    assert f"not typical ones; {500 - others} are listed below" in read.all("header")[0][2]
    assert len(read.all("article")) == 20


def test_a_selection_has_room_for_texts_that_were_not_flipped_and_says_what_is_there(tmp_path):
    n = 1200
    found = [record(8, status="improved" if number % 2 else "reached", id=number) for number in range(n)]
    selection = select_texts(Strongest.of(read_run(folder(tmp_path / "run", found, settings(n, ["disco"], ["0.2"])))))
    assert len(selection.numbers) == 500
    assert selection.flipped == (375, 600)
    assert selection.others == (125, 600)
    assert selection.numbers == sorted({*range(0, 750, 2), *range(1, 250, 2)})
    assert "Flipped texts are more frequent here than in the run" in str(selection)


def invoke(*arguments):
    return CliRunner().invoke(command, list(map(str, arguments)), catch_exceptions=False)


def test_the_command_prints_tables_and_says_where_the_page_is(run, tmp_path):
    done = invoke(run)
    assert done.exit_code == 0
    assert len(re.findall(r"^solver +before +after", done.stdout, re.MULTILINE)) == 2
    assert f"wrote {run / 'report.html'}" in done.stderr
    elsewhere = tmp_path / "other.html"
    invoke(run, "--html", elsewhere, "--solver", "disco")
    assert "greedy" not in elsewhere.read_text(encoding="utf-8")


def test_json_is_the_summary_and_nothing_else(run):
    found = read_run(run)
    lines = invoke(run, "--json").stdout.splitlines()
    assert [json.loads(line) for line in lines] == [
        summary.as_dict() for summary in summarise_run(found.settings, found.records)
    ]


def test_csv_and_parquet_hold_every_record(run, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    invoke(run, "--csv", tmp_path / "a.csv", "--parquet", tmp_path / "a.parquet")
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    table = parquet.read_table(tmp_path / "a.parquet").to_pylist()
    by_text = sorted(records(), key=lambda record: record["id"])
    assert len(rows) == len(table) == len(by_text)
    for row, other, given in zip(rows, table, by_text, strict=True):
        assert row["text"] == other["text"] == given["text"].replace("\ud83d", "\ufffd")
        assert other["score"] == given["score"]
        assert (float(row["score"]) if row["score"] else None) == given["score"]
        assert {name: "" if value is None else str(value) for name, value in other.items()} == row
        assert row["changes"] == "; ".join(f"{one['old']}→{one['new']}" for one in given["changes"])
        assert other["changed"] == len(given["changes"])


def test_an_unfinished_run_is_reported_as_far_as_it_is(tmp_path):
    # The second solver and the second budget have not begun; a line is cut off.
    path = folder(tmp_path / "run", records()[:5], settings())
    with (path / "records.jsonl").open("ab") as file:
        file.write(b'{"id": 5, "te')
    done = invoke(path)
    assert "5 of 36 records" in done.stderr
    assert "greedy" not in done.stdout
    assert "5 of 36 records are there" in (path / "report.html").read_text(encoding="utf-8")


def test_a_shard_expects_its_own_chunks_only(tmp_path):
    # 9 texts in chunks of 4, 4 and 1: the second of two parts has 4 texts.
    found = read_run(folder(tmp_path / "run", records(), settings(chunk=4, shard="2/2")))
    assert found.expected == 4 * 4


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: shutil.rmtree(path), "is not a run folder"),
        (lambda path: (path / "settings.json").unlink(), "is not a run folder"),
        (lambda path: (path / "settings.json").write_text("{"), "is not JSON"),
        (lambda path: (path / "settings.json").write_text("[1]"), "is not a run's settings"),
        (lambda path: (path / "settings.json").write_text('{"name": "other"}'), "there is no 'version'"),
        (lambda path: folder(path, records(), settings(budgets=["many"])), "a budget is 'many'"),
        (lambda path: folder(path, records(), settings(shard="x")), "'shard' 'x'"),
        (lambda path: (path / "records.jsonl").unlink(), "has no records yet"),
        (lambda path: (path / "records.jsonl").write_text(""), "has no records yet"),
        (lambda path: (path / "records.jsonl").write_text("nonsense\n"), "line 1: not a record"),
        (lambda path: (path / "records.jsonl").write_text("[]\n"), "it is not an object"),
        (lambda path: (path / "records.jsonl").write_text('{"id": 1}\n'), "there is no 'text'"),
        (lambda path: folder(path, [record(0, words="many")], settings()), "'words' is 'many'"),
        (lambda path: folder(path, [record(0), record(0)], settings()), "has a record of disco under 0.2 already"),
        (lambda path: folder(path, [record(0, "beam")], settings()), "its solver 'beam' is not one of the run's"),
        (lambda path: folder(path, [record(0, share="0.9")], settings()), "its budget '0.9' is not one of the run's"),
        (lambda path: folder(path, [record(0, label=5)], settings()), "'label' is 5"),
        (lambda path: folder(path, [record(0, text="another")], settings()), "is not in the text"),
    ],
)
def test_a_folder_that_is_no_run_ends_in_one_sentence(run, spoil, said):
    spoil(run)
    code = "from discotext.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "report", run], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (run / "report.html").exists()


def test_a_solver_that_is_not_there_is_named(run):
    with pytest.raises(ValueError, match="no solver 'beam'; choose from disco, greedy"):
        read_run(run).only(["beam"])


CHROMIUM = shutil.which("chromium")
browser = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update "
    "--disable-sync --allow-file-access-from-files --virtual-time-budget=4000"
).split()


def opened(url, tmp_path):
    """The document after its scripts have run, without what is there for readers who have none."""
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", url]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, encoding="utf-8")
    return Reader(re.sub(r"<noscript>.*?</noscript>", "", done.stdout, flags=re.DOTALL))


@browser
def test_in_a_browser_texts_are_filtered_and_stay_texts(run, tmp_path):
    invoke(run)
    url = (run / "report.html").as_uri()
    read = opened(f"{url}#solver=disco&outcome=success&budget=all", tmp_path)
    root = read.all("html")[0][1]
    assert root["data-ready"] == "yes"
    assert "data-error" not in root
    won = [row for row in records() if row["solver"] == "disco" and row["status"] in ("reached", "fewest")]
    assert root["data-count"] == str(len(won))
    cards = read.all("article")
    assert len(cards) == len(won)
    assert all("Flipped to" in one[2] for one in cards)
    shown = [one[2] for one in read.all("p", **{"class": "text"})]
    expected = sorted((row["id"], row["share"], row["text"], row["adversarial_text"]) for row in won)
    # A newline written by script is a newline of the document; a carriage return is not kept by the dump.
    assert [text for one in expected for text in one[2:]] == shown
    assert len(read.all("script")) == 2


@browser
def test_in_a_browser_sorting_and_searching_work(run, tmp_path):
    invoke(run)
    url = (run / "report.html").as_uri()
    read = opened(f"{url}#solver=all&budget=all&outcome=all&search=ALERT&sort=long", tmp_path)
    assert read.all("html")[0][1]["data-count"] == "4"
    read = opened(f"{url}#solver=disco&budget=0.2&sort=short", tmp_path)
    facts = [one[2].split(" · ")[0] for one in read.all("p", **{"class": "facts"})]
    lengths = [len(split(TEXTS[int(one.removeprefix("text "))])) for one in facts]
    assert lengths == sorted(lengths)
    assert len(lengths) == len(TEXTS)


@browser
def test_on_a_phone_nothing_is_wider_than_the_window(run, tmp_path):
    invoke(run)
    # A window has a least width of its own; a frame has none.
    frame = tmp_path / "phone.html"
    frame.write_text(
        "<!doctype html><html><body>"
        '<iframe id="phone" src="run/report.html#solver=all" width="360" height="800"></iframe>'
        "<script>addEventListener('load', () => { const page = document.getElementById('phone').contentDocument;"
        "const root = page.documentElement; document.documentElement.dataset.seen = JSON.stringify("
        "[root.clientWidth, root.scrollWidth, root.dataset.ready, root.dataset.overflow]); });</script></body></html>"
    )
    client, scroll, ready, overflow = json.loads(opened(frame.as_uri(), tmp_path).all("html")[0][1]["data-seen"])
    assert ready == "yes"
    assert 300 < client <= 360
    assert scroll <= client
    assert overflow == "0"
