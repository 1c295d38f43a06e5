"""Draws docs/pictures/architecture.svg: the layers of the package, and who imports whom, read from the source.

    python scripts/draw_architecture.py

Imports are found by `ast` wherever they stand in a file. Thickness shows roughly how many there are, in three steps, so
that the picture does not change with every line of code. `tests/test_docs.py` fails when it is not up to date.
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "discotext"
PICTURE = ROOT / "docs" / "pictures" / "architecture.svg"

# From the outside to the centre: a layer imports only from those below it.
LAYERS = {
    "cli": "one file per command",
    "web": "the page of discotext serve",
    "testing": "a check of robustness for test suites",
    "decoding": "networks of words, their scores and their best texts",
    "hardening": "recipes, trainers, the matrix",
    "attacks": "what is asked, one task, workers; attack, compare, certify",
    "report": "tables, pages and figures of runs",
    "runs": "records, run folders, summaries, certificates",
    "victims": "the classifiers under attack",
    "data": "labelled texts from files, names and objects",
    "text": "words, candidates, search spaces",
    "models": "language models; one loader of pretrained ones",
    "theory": "set functions, matroids, guarantees",
    "solvers": "one class per way to search",
    "search": "the loop, moves, climbing, pruning",
    "core": "problems, oracles, relaxation, rounding: arrays only",
    "support": "files, intervals, optional packages",
    "version": "the version number",
}
WIDTH, LEFT, TOP = 840, 20, 20
BOX_WIDTH, BOX_HEIGHT, STEP = 470, 44, 62
THICKNESS = ((1, 1.2), (3, 2.4), (10, 4.5))  # from so many imports on, so thick
COLOURS = ("#1b6ca8", "#b3541e", "#2f7d4f", "#7b4ba0", "#a83250", "#5b6b1f", "#00707a", "#8a5a00", "#555f6b", "#777777")

STYLE = """\
  .ground { fill: #ffffff; stroke: #d0d5da; }
  .box { fill: #f3f6f9; stroke: #8593a1; }
  .name { font: 600 15px ui-monospace, Consolas, Menlo, monospace; fill: #18202a; }
  .what { font: 13px system-ui, sans-serif; fill: #45505c; }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #161b22; stroke: #30363d; }
    .box { fill: #212830; stroke: #6e7a87; }
    .name { fill: #e8edf2; }
    .what { fill: #aab4bf; }
    .arrow { filter: brightness(1.6); }
  }"""


def layer_of(path: Path) -> str:
    """The layer of a file: the folder it is in, or its own name."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def read_imports() -> Counter[tuple[str, str]]:
    """How many statements of a layer import from another, by (importer, imported)."""
    found: Counter[tuple[str, str]] = Counter()
    for path in sorted(PACKAGE.rglob("*.py")):
        layer = layer_of(path)
        if layer not in LAYERS:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and not node.level:
                modules = [node.module or ""]
                if node.module == "discotext":
                    modules = [f"discotext.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            else:
                continue
            for module in modules:
                parts = module.split(".")
                if parts[0] == "discotext" and len(parts) > 1 and parts[1] in LAYERS and parts[1] != layer:
                    found[layer, parts[1]] += 1
    return found


def draw() -> str:
    """The picture, as text."""
    imports, names = read_imports(), list(LAYERS)
    height = 2 * TOP + STEP * (len(names) - 1) + BOX_HEIGHT
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'width="{WIDTH}" height="{height}" aria-label="Layers of the package and the imports between them">',
        f"<style>\n{STYLE}\n</style>",
        "<defs>",
    ]
    for number, colour in enumerate(COLOURS):
        lines.append(
            f'<marker id="head{number}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" '
            f'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="{colour}"/></marker>'
        )
    lines += ["</defs>", f'<rect class="ground" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>']
    for row in range(len(names)):
        lines += draw_arrows(row, names, imports)
    for row, (name, what) in enumerate(LAYERS.items()):
        y = TOP + STEP * row
        lines += [
            f'<rect class="box" x="{LEFT}" y="{y}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="6"/>',
            f'<text class="name" x="{LEFT + 12}" y="{y + 27}">{name}</text>',
            f'<text class="what" x="{LEFT + 116}" y="{y + 27}">{what}</text>',
        ]
    return "\n".join([*lines, "</svg>"]) + "\n"


def draw_arrows(row: int, names: list[str], imports: Counter[tuple[str, str]]) -> list[str]:
    """Arrows from one layer to all that it imports from, bent the further the longer they are."""
    lines = []
    colour = COLOURS[row % len(COLOURS)]
    for other, name in enumerate(names):
        count = imports[names[row], name]
        if not count:
            continue
        thickness = next(width for least, width in reversed(THICKNESS) if count >= least)
        # Arrows leave at the lower part of a box and arrive at the upper part, each importer at another place.
        begin = TOP + STEP * row + BOX_HEIGHT - 6 - 2 * (len(names) - 1 - other)
        end = TOP + STEP * other + 4 + 3 * row
        x = LEFT + BOX_WIDTH
        bend = x + 26 + 30 * abs(other - row)
        lines.append(
            f'<path class="arrow" d="M{x} {begin} C{bend} {begin}, {bend} {end}, {x + 2} {end}" fill="none" '
            f'stroke="{colour}" stroke-width="{thickness}" stroke-opacity="0.8" '
            f'marker-end="url(#head{row % len(COLOURS)})"><title>{names[row]} imports {name}</title></path>'
        )
    return lines


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
