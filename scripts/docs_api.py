"""Writes the pages of docs/reference/api: one for the package and one for each folder, with the names it exports.

The tables of statuses in docs/how-to/solve-your-own-problem.md and of solvers in choose-a-solver.md are written, too.

    python scripts/docs_api.py

Only names are written; mkdocstrings puts signatures and docstrings in their place when the docs are built.
`tests/test_docs.py` fails when a page is not what this script would write.
"""

from __future__ import annotations

import ast
from pathlib import Path

from discotext.core import RelaxedOracle, Status
from discotext.solvers import SOLVERS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "discotext"
PAGES = ROOT / "docs" / "reference" / "api"
GUIDES = ROOT / "docs" / "how-to"
FOLDERS = ("core", "search", "solvers", "theory", "models", "text", "data", "victims", "runs", "attacks", "decoding")
INTRODUCTIONS = {
    "": "What `import discotext` offers. Everything else is imported from the folder that holds it.",
    "core": "Problems, oracles and solutions: arrays in, arrays out, and no text.",
    "search": "The loop that runs solvers, and what a solver is made of.",
    "solvers": "One class per way to search. [Choose a solver](../../how-to/choose-a-solver.md) compares them.",
    "theory": "Set functions, matroids, guarantees and the paper's propositions. "
    "[Theory](../../explanation/theory.md) introduces them.",
    "text": "Words, candidates and search spaces.",
    "models": "Language models and what is shared by parts that load pretrained models.",
    "data": "Labelled texts.",
    "victims": "The classifiers under attack.",
    "runs": "What an attack leaves behind: records and their summaries.",
    "attacks": "Attacks on many texts: executors that spread them over workers.",
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


def list_statuses() -> str:
    """The statuses of a solution, each with its sentence."""
    return "\n".join(["| `Status` | value |", "|---|---|", *(f"| `{one.name}` | {one.value} |" for one in Status)])


def list_solvers() -> str:
    """The solvers by name, each with the first sentence of its docstring, or the settings that tell it from another."""
    rows, names = [], {}
    for name, make in SOLVERS.items():
        solver = make()
        first = " ".join((solver.__doc__ or "").split("\n\n")[0].split())
        if names.setdefault(type(solver), name) != name:
            first = f"`{names[type(solver)]}` with other settings: `{solver}`"
        needs = "gradients" if solver.needs is RelaxedOracle else "scores"
        rows.append(f"| `{name}` | {first} | {needs} |")
    return "\n".join(["| name | what it does | needs |", "|---|---|---|", *rows])


def fill(page: Path, marker: str, table: str) -> str:
    """A page with a table between the markers of this name."""
    before, rest = page.read_text(encoding="utf-8").split(f"<!-- {marker} -->\n")
    after = ("\n" + rest).split("\n<!-- end -->", 1)[1]
    return f"{before}<!-- {marker} -->\n{table}\n<!-- end -->{after}"


def pages() -> dict[Path, str]:
    """Every page and what it should hold."""
    folders = {PAGES / f"{folder or 'discotext'}.md": render(folder) for folder in ("", *FOLDERS)}
    tables = {"solve-your-own-problem": ("statuses", list_statuses()), "choose-a-solver": ("solvers", list_solvers())}
    return folders | {GUIDES / f"{name}.md": fill(GUIDES / f"{name}.md", *table) for name, table in tables.items()}


if __name__ == "__main__":
    for page, text in pages().items():
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
