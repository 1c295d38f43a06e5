"""Measures the size of the house: lines, files, options, public names, and the way of one attack through the code.

    python -m scripts.measure_house [--json]

`tests/test_house.py` holds these figures as upper limits, so that growth is a decision and not an accident.

The trace is that of `discotext attack` on three texts against a small network: functions in the order of their first
call (`sys.setprofile`), their files, and how often neighbours in that list stand in different files. A first attack,
which is not counted, loads and caches everything. The modules are those of the package that one attack imports.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "discotext"
TEXTS = 3


def count_lines(files: list[Path]) -> int:
    """All lines, blank ones and comments included."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)


def count_questions(files: list[Path]) -> int:
    """How often the code asks an object whether it has an attribute: `hasattr` and `getattr`."""
    calls = (node for path in files for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
    return sum(isinstance(call.func, ast.Name) and call.func.id in ("getattr", "hasattr") for call in calls)


def count_prose(files: list[Path]) -> int:
    """Assertions that pin a sentence: `match=` of three words or more, and such a string `in` an output."""
    found = 0
    for path in files:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.keyword) and node.arg == "match":
                found += _is_prose(node.value)
            elif isinstance(node, ast.Assert):
                compared = [part for part in ast.walk(node) if isinstance(part, ast.Compare)]
                found += any(isinstance(one.ops[0], ast.In) and _is_prose(one.left) for one in compared)
    return found


def _is_prose(node: ast.expr) -> bool:
    text = "".join(str(part.value) for part in ast.walk(node) if isinstance(part, ast.Constant))
    return len(re.findall(r"[A-Za-z']+", text)) >= 3


def count_words(pages: list[Path]) -> int:
    """The words that a person wrote, those in examples included; not what scripts write between their marks."""
    written = re.compile(r"<!-- (?!end)[\w-]+ -->.*?<!-- end -->", re.DOTALL)
    return sum(len(written.sub("", page.read_text(encoding="utf-8")).split()) for page in pages)


def list_pages() -> list[Path]:
    """The hand-written pages of docs/: all but the reference of the API and of the command line."""
    pages = sorted((ROOT / "docs").rglob("*.md"))
    return [page for page in pages if page.parent.name != "api" and page.name != "command-line.md"]


def list_options() -> dict[str, set[str]]:
    """The options of each command, by their longest spelling; `--help` apart."""
    import click

    from discotext.cli import cli

    context = click.Context(cli)
    commands = {name: cli.get_command(context, name) for name in cli.list_commands(context)}
    return {
        name: {
            max(one.opts, key=len)
            for one in command.params
            if isinstance(one, click.Option) and not one.hidden and "--help" not in one.opts
        }
        for name, command in commands.items()
        if command is not None
    }


class Trace:
    """The functions of the package, in the order of their first call. Code that runs on import is left out."""

    def __init__(self) -> None:
        self.functions: dict[tuple[str, str, int], int] = {}

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        # Comprehensions, generators and lambdas are parts of the function they stand in.
        if event != "call" or code.co_name.startswith("<") or not code.co_filename.startswith(str(PACKAGE)):
            return
        key = (str(Path(code.co_filename).relative_to(PACKAGE)), code.co_qualname, code.co_firstlineno)
        self.functions[key] = self.functions.get(key, 0) + 1

    @property
    def files(self) -> list[str]:
        return list(dict.fromkeys(file for file, _, _ in self.functions))

    @property
    def changes(self) -> int:
        return sum(one[0] != other[0] for one, other in pairwise(self.functions))


def make_attack(folder: Path) -> list[str]:
    """The command line of an attack on a few texts that a small network of random weights classifies correctly."""
    import torch

    from discotext.text.vectors import load_packaged_vectors
    from discotext.victims.neural.networks import Shape, WordNetwork
    from discotext.victims.neural.victim import NeuralVictim, Vocabulary

    words = list(load_packaged_vectors().words[:5000])
    torch.manual_seed(0)
    table = 2 * torch.randn(len(words) + 1, 16)
    victim = NeuralVictim(WordNetwork(Shape("lstm", 2, 16, hidden=12)), Vocabulary(words), table, ("bad", "good"))
    victim.save(folder / "victim")
    texts = [
        "a good film with a fine story and a strange ending that will keep every viewer awake and make people think "
        "about the way they live, work and talk with friends",
        "the acting is awful but the music was great and the pictures are beautiful, so that one may forget how slow "
        "and silly the plot gets after the first half hour",
        "one of the smart, sad and funny movies that everyone should see this summer, with a large cast of young "
        "actors who bring life and humor to an old and simple idea",
    ]
    labels = [victim.labels[number] for number in victim.scores(texts).argmax(1)]
    lines = (json.dumps({"text": text, "label": label}) for text, label in zip(texts, labels, strict=True))
    (folder / "texts.jsonl").write_text("\n".join(lines))
    return ["attack", str(folder / "victim"), str(folder / "texts.jsonl"), "--out"]


def trace_attack() -> Trace:
    """Run `discotext attack` on a few texts and trace it."""
    from discotext.cli import cli

    trace = Trace()
    quiet = io.StringIO()
    with tempfile.TemporaryDirectory() as name, redirect_stdout(quiet), redirect_stderr(quiet):
        arguments = make_attack(Path(name))
        cli([*arguments, str(Path(name) / "first")], standalone_mode=False)
        threading.setprofile(trace)
        sys.setprofile(trace)
        try:
            cli([*arguments, str(Path(name) / "second")], standalone_mode=False)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]
    return trace


def count_repeats() -> dict[str, int]:
    """How often the same attack scores an original text before it looks for candidates, and how often it looks."""
    from discotext.cli import cli
    from discotext.text.candidates import Candidates
    from discotext.victims.neural.victim import NeuralVictim

    asked: Counter[str] = Counter()
    looked = 0
    scores, find = NeuralVictim.scores, Candidates.find

    def count_scores(self: NeuralVictim, texts: Sequence[str]) -> Any:
        if not looked:
            asked.update(texts)
        return scores(self, texts)

    def count_lookups(self: Candidates, texts: Iterable[Any]) -> Any:
        nonlocal looked
        looked += len(texts := list(texts))
        return find(self, texts)

    quiet = io.StringIO()
    with (
        tempfile.TemporaryDirectory() as name, redirect_stdout(quiet), redirect_stderr(quiet),
        patch.object(NeuralVictim, "scores", count_scores), patch.object(Candidates, "find", count_lookups),
    ):  # fmt: skip
        arguments = make_attack(Path(name))
        asked.clear()  # what labelled the texts
        cli([*arguments, str(Path(name) / "run")], standalone_mode=False)
    return {"originals_scored": max(asked.values()), "candidates_sought": looked // TEXTS}


def list_imported() -> list[str]:
    """The modules of the package that a process has imported after one attack."""
    with tempfile.TemporaryDirectory() as name:
        arguments = [*make_attack(Path(name)), str(Path(name) / "run")]
        code = (
            f"import sys; from discotext.cli import cli; cli({arguments!r}, standalone_mode=False)\n"
            "print(*(name for name in sys.modules if name.startswith('discotext')), file=sys.stderr)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stderr.splitlines()[-1].split()


def measure() -> dict[str, int]:
    """All figures, by the names that the limits use."""
    import discotext

    source = sorted(PACKAGE.rglob("*.py"))
    tests = sorted((ROOT / "tests").rglob("*.py"))
    options = list_options()
    trace = trace_attack()
    parts = {
        "decoding_lines": [
            path
            for path in source
            if path.relative_to(PACKAGE).parts[0] in ("decoding", "models")
            or path.stem in ("decode", "decode_options", "spelling", "train_lm", "viterbi", "prefix_beam", "nbest")
        ],
        "theory_lines": [path for path in source if path.relative_to(PACKAGE).parts[0] == "theory"],
    }
    return {
        "src_lines": count_lines(source),
        "src_files": len(source),
        **{name: count_lines(files) for name, files in parts.items()},
        "test_lines": count_lines(tests),
        "prose_assertions": count_prose(tests),
        "docs_words": count_words(list_pages()),
        "attack_options": len(options["attack"]),
        "options": len(set().union(*options.values())),
        "public_names": len(discotext.__all__),
        "getattr": count_questions(source),
        "trace_functions": len(trace.functions),
        "trace_files": len(trace.files),
        "trace_changes": trace.changes,
        "imported_modules": len(list_imported()),
        **count_repeats(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the size of the house.")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--trace", action="store_true", help="list the functions of the traced attack by file")
    chosen = parser.parse_args()
    if chosen.trace:
        trace = trace_attack()
        for file in trace.files:
            print(f"{file}: {', '.join(name for where, name, _ in trace.functions if where == file)}")
        return
    figures = measure()
    if chosen.json:
        print(json.dumps(figures))
    else:
        print("\n".join(f"{name:18}{value:8,}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
