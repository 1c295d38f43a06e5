"""Check that version.py, CITATION.cff and CHANGELOG.md name the same version, and with a tag that it can be released.

python scripts/check_version.py [TAG]
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Where the version is stated: the first match counts, which in the changelog is the latest entry.
PATTERNS = {
    "src/discotext/version.py": r'__version__ = "([^"]+)"',
    "CITATION.cff": r"(?m)^version: (\S+)$",
    "CHANGELOG.md": r"(?m)^## (\d\S*) \(",
}


def read_versions(root: Path = ROOT) -> dict[str, str]:
    """The version that each file states; a development version counts as the release it leads to.

    >>> sorted(read_versions()) == sorted(PATTERNS)
    True
    """
    found = {}
    for name, pattern in PATTERNS.items():
        match = re.search(pattern, (root / name).read_text(encoding="utf-8"))
        if match is None:
            raise SystemExit(f"{name} states no version; expected a line that matches {pattern}")
        found[name] = re.sub(r"\.dev\d+$", "", match[1])
    return found


def check_tag(tag: str, root: Path = ROOT) -> None:
    """Raise SystemExit unless the tag names the version, which is no development version and has a dated entry."""
    text = (root / "src/discotext/version.py").read_text(encoding="utf-8")
    version = re.search(PATTERNS["src/discotext/version.py"], text)[1]  # type: ignore[index]
    if tag != f"v{version}":
        raise SystemExit(f"the tag is {tag}, but version.py states {version}; tag v{version}, or change version.py")
    if ".dev" in version:
        raise SystemExit(f"{version} is a development version; change version.py before tagging")
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(rf"(?m)^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$", changelog):
        raise SystemExit(f"CHANGELOG.md has no entry '## {version} (YYYY-MM-DD)'; date the entry before tagging")


def main() -> None:
    versions = read_versions()
    if len(set(versions.values())) > 1:
        raise SystemExit(f"the files state different versions: {versions}; make them agree")
    if len(sys.argv) > 1:
        check_tag(sys.argv[1])
    print(next(iter(versions.values())))


if __name__ == "__main__":
    main()
