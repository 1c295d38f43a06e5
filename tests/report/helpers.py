"""Run folders made by hand, and readers of the pages that are made of them."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest
from click.testing import CliRunner

from discotext.cli.report import command
from discotext.runs.folder import read_run
from discotext.text.words import split
from tests.conftest import EMPTY_RECORD

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
STATUSES = "reached fewest impossible improved unchanged misclassified failed unstable optimal".split()


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
    given = EMPTY_RECORD.as_dict() | {
        "id": number, "text": text, "label": label, "predicted": before,
        "adversarial_text": str(found.replace({place: new})) if touched else text,
        "adversarial_predicted": 1 - label if won else before, "score": None if before is None else -1.25,
        "adversarial_score": None if before is None else 0.5 if won else -0.5, "changes": changes, "words": len(found),
        "budget": 1, "status": status, "solver": solver, "space": None if before in (None, 1 - label) else "abc",
        "forwards": 10 + number, "backwards": 3, "seconds": 0.25, "victim_seconds": 0.125, "share": share,
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


def made(number, status="reached", changed=1, accept=None, text=None, **more):
    """A record in which the first words of a text were changed."""
    text = text or f"some words of text number {number} that anyone can read"
    found = split(text)
    places = range(changed if status in ("reached", "improved") else 0)
    changes = [
        {"position": n, "start": start, "end": end, "old": text[start:end], "new": f"new{n}", "accept": accept}
        for n, (start, end) in zip(places, found.spans(), strict=False)
    ]
    after = str(found.replace({n: f"new{n}" for n in places}))
    given = {"text": text, "words": len(found), "changes": changes, "adversarial_text": after}
    # Like a record whose text has words, with the same label.
    return record(8 + 9 * (number % 2), status=status, id=number, **(given | more))


def run_of(path, found, **more):
    """The run of some records of disco under a budget of 0.2."""
    return read_run(folder(path, found, settings(len(found), ["disco"], ["0.2"]) | more))


def invoke(*arguments):
    return CliRunner().invoke(command, list(map(str, arguments)), catch_exceptions=False)


class Reader(HTMLParser):
    """Elements with their attributes and texts; complains where they do not nest."""

    VOID = ("meta", "br", "input", "link")

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.found, self.around = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.found.append([tag, dict(attributes), ""])
        self.around.append(list(self.open))
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

    def within(self, tag, outer, **attributes):
        """The elements of a kind that stand within another."""
        (place,) = self.all(outer, **attributes)
        inside = zip(self.found, self.around, strict=True)
        return [one for one, around in inside if one[0] == tag and any(other is place for other in around)]


CHROMIUM = shutil.which("chromium")
browser = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update "
    "--disable-sync --allow-file-access-from-files --virtual-time-budget=4000"
).split()


def opened(url, tmp_path, *flags):
    """The document after its scripts have run, without what is there for readers who have none."""
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
