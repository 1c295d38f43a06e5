"""Writes the pages of docs/reference/api: one for the package and one for each folder, with the names it exports.

The table of statuses in docs/reference/solve.md is written, too.

    python scripts/docs_api.py

Only names are written; mkdocstrings puts signatures and docstrings in their place when the docs are built.
`tests/test_docs.py` fails when a page is not what this script would write.
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "discotext"
PAGES = ROOT / "docs" / "reference" / "api"
SOLVE = ROOT / "docs" / "reference" / "solve.md"
FOLDERS = ("core", "search", "solvers", "theory", "text", "language", "data", "victims", "experiment", "decoding")
INTRODUCTIONS = {
    "": "What `import discotext` offers. Everything else is imported from the folder that holds it.",
    "core": "Problems, oracles and solutions: arrays in, arrays out, and no text.",
    "search": "The loop that runs solvers, and what a solver is made of.",
    "solvers": "One class per way to search. [Choose a solver](../../how-to/choose-a-solver.md) compares them.",
    "theory": "Set functions, matroids, guarantees and the paper's propositions. "
    "[Theory](../../explanation/theory.md) introduces them.",
    "text": "Words, candidates and search spaces.",
    "language": "Language models: how likely is a sentence?",
    "data": "Labelled texts.",
    "victims": "The classifiers under attack.",
    "experiment": "Attacks on many texts: records, summaries and executors.",
    "decoding": "Networks of words and their best texts. "
    "[Which search when](../../explanation/decoding.md) explains how they are found.",
}


def is_all(targets: list[ast.expr]) -> bool:
    """Whether `__all__` is assigned to."""
    return any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets)


def exported(folder: str) -> dict[str, str]:
    """The names that a folder exports and that are defined in it, with the module of each."""
    module = f"discotext.{folder}" if folder else "discotext"
    tree = ast.parse((PACKAGE / folder / "__init__.py").read_text(encoding="utf-8"))
    names: dict[str, str] = {}
    listed: set[str] | None = None
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{module}."):
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.List) and is_all(node.targets):
            listed = {str(item.value) for item in node.value.elts if isinstance(item, ast.Constant)}
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    if listed is not None:
        names |= {name: f"{module}.{name}" for name in listed & defined}
    private = {name for name in names if name.startswith("_") or name == "lazy_names"}
    return {name: names[name] for name in sorted(names) if name not in private and (listed is None or name in listed)}


def describe(home: str) -> str:
    """The first sentence of a name's docstring."""
    module, _, name = home.rpartition(".")
    tree = ast.parse((PACKAGE.parent / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8"))
    node = next(node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name)
    first = " ".join((ast.get_docstring(node) or "").split("\n\n")[0].split())
    return first.split(". ")[0].rstrip(".:") + "."


def render(folder: str) -> str:
    """The page of a folder; of the package itself where it is empty."""
    title = f"discotext.{folder}" if folder else "discotext"
    parts = [f"# {title}\n", "<!-- Written by scripts/docs_api.py; run it again when a name is added. -->\n"]
    parts.append(INTRODUCTIONS[folder] + "\n")
    if folder:
        parts += [f"::: {home}\n" for home in exported(folder).values()]
    else:
        homes = exported("")
        # A name that its folder does not export has its own entry here.
        own = [home for home in homes.values() if home not in exported(home.split(".")[1]).values()]
        rows = []
        for name, home in homes.items():
            page = "" if home in own else f"{home.split('.')[1]}.md"
            rows.append(f"| [`{name}`]({page}#{home}) | {describe(home)} |")
        parts.append("\n".join(["| name | what it is |", "|---|---|", *rows]) + "\n")
        parts += [f"::: {home}\n" for home in own]
    return "\n".join(parts)


def render_statuses() -> str:
    """docs/reference/solve.md with the statuses between their markers."""
    tree = ast.parse((PACKAGE / "core" / "solution.py").read_text(encoding="utf-8"))
    status = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Status")
    rows = [
        f"| `{node.targets[0].id}` | {node.value.value} |"
        for node in status.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
    ]
    before, rest = SOLVE.read_text(encoding="utf-8").split("<!-- statuses -->\n")
    after = ("\n" + rest).split("\n<!-- end -->", 1)[1]
    table = "\n".join(["| `Status` | value |", "|---|---|", *rows])
    return f"{before}<!-- statuses -->\n{table}\n<!-- end -->{after}"


def pages() -> dict[Path, str]:
    """Every page and what it should hold."""
    folders = {PAGES / f"{folder or 'discotext'}.md": render(folder) for folder in ("", *FOLDERS)}
    return folders | {SOLVE: render_statuses()}


if __name__ == "__main__":
    for page, text in pages().items():
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
