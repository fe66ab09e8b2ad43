"""Move the fragments of this folder into CHANGELOG.md, under a version: ``python changelog.d/collect.py 1.1.0``."""

from __future__ import annotations

import re
import sys
from datetime import date
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
KINDS = ("added", "changed", "fixed", "removed")


def entries(kind: str, folder: Path = FOLDER) -> str:
    """The fragments of a kind as items of a list; a fragment may be such a list."""
    texts = [path.read_text().strip() for path in sorted(folder.glob(f"*.{kind}.md"))]
    items = (text if text.startswith("- ") else "- " + text.replace("\n", "\n  ") for text in texts)
    return "".join(f"{item}\n" for item in items)


def section(version: str, folder: Path = FOLDER) -> str:
    """The new part of the changelog, its entries grouped by kind."""
    found = {kind: entries(kind, folder) for kind in KINDS}
    parts = [f"\n### {kind.capitalize()}\n\n{text}" for kind, text in found.items() if text]
    return f"## {version} ({date.today()})\n" + "".join(parts)


def collect(version: str, changelog: Path, folder: Path = FOLDER) -> None:
    """Put the entries into the version's section, in front of the earlier versions; remove the fragments."""
    text = changelog.read_text()
    before, mark, after = text.partition(f"\n## {version} ")
    if mark:
        section_text, next_mark, rest = after.partition("\n## ")
        changelog.write_text(before + mark + _with_entries(section_text, folder) + next_mark + rest)
    else:
        before, mark, after = text.partition("\n## ")
        changelog.write_text(f"{before}\n{section(version, folder)}{mark}{after}")
    for kind in KINDS:
        for path in folder.glob(f"*.{kind}.md"):
            path.unlink()


def _with_entries(text: str, folder: Path) -> str:
    """A version's section with the fragments first in the part of their kind."""
    for kind in KINDS:
        title = f"\n### {kind.capitalize()}\n\n"
        if not (new := entries(kind, folder)):
            continue
        text = text.replace(title, title + new, 1) if title in text else text.rstrip("\n") + f"\n{title}{new}"
    return text


if __name__ == "__main__":
    if len(sys.argv) != 2 or not re.fullmatch(r"\d+\.\d+\.\d+", sys.argv[1]):
        sys.exit("usage: python changelog.d/collect.py VERSION, for example 1.1.0")
    collect(sys.argv[1], FOLDER.parent / "CHANGELOG.md")
