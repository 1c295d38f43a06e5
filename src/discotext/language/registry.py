"""Language models by name.

FILE                 written by `discotext train-lm`; an ARPA file, gzipped or not; a binary file of KenLM or Sphinx
pocketsphinx         the general English trigram model of the package `pocketsphinx` (extra `decode`)
"""

from __future__ import annotations

import difflib
from pathlib import Path

from discotext.language.model import LanguageModel

NAMES = ("pocketsphinx",)


def load_language_model(name: str | Path) -> LanguageModel:
    """Load a language model by its name or file; what kind of file it is, its first bytes tell."""
    text = str(name)
    if text == "pocketsphinx":
        from discotext.language.sphinx import load_pocketsphinx

        return load_pocketsphinx()
    path = Path(text).expanduser()
    if path.is_dir():
        raise ValueError(f"{text} is a folder without a language model; name a file written by discotext train-lm")
    if not path.exists():
        near = difflib.get_close_matches(text, NAMES, n=1)
        hint = f"did you mean {near[0]}?" if near else f"name a file, or one of {', '.join(NAMES)}"
        raise FileNotFoundError(f"there is no language model {text!r}; {hint}")
    return _load_file(path)


def _load_file(path: Path) -> LanguageModel:
    from discotext.language.arpa import read_arpa
    from discotext.language.kenlm_file import MAGIC as KENLM
    from discotext.language.kenlm_file import KenLMModel
    from discotext.language.ngram import BackoffModel
    from discotext.language.sphinx import MAGIC as SPHINX
    from discotext.language.sphinx import read_sphinx

    with path.open("rb") as file:
        first = file.read(64)
    if not first:
        raise ValueError(f"{path} is empty; expected a language model")
    if first.startswith(b"PK"):
        return BackoffModel.read(path)
    if first.startswith(KENLM):
        return KenLMModel(path)
    if first.startswith(SPHINX):
        return read_sphinx(path)
    return read_arpa(path)
