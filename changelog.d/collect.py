"""Move the fragments of this folder into CHANGELOG.md, under a version: ``python changelog.d/collect.py 0.2.0``."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
KINDS = ("added", "changed", "fixed", "removed")


def section(version: str, folder: Path = FOLDER) -> str:
    """The new part of the changelog, its entries grouped by kind."""
    text = f"## {version} ({date.today()})\n"
    for kind in KINDS:
        entries = [path.read_text().strip().replace("\n", "\n  ") for path in sorted(folder.glob(f"*.{kind}.md"))]
        text += f"\n### {kind.capitalize()}\n\n" + "".join(f"- {entry}\n" for entry in entries) if entries else ""
    return text


def collect(version: str, changelog: Path, folder: Path = FOLDER) -> None:
    """Put the section in front of the earlier versions, and remove the fragments."""
    before, mark, after = changelog.read_text().partition("\n## ")
    changelog.write_text(f"{before}\n{section(version, folder)}{mark}{after}")
    for kind in KINDS:
        for path in folder.glob(f"*.{kind}.md"):
            path.unlink()


if __name__ == "__main__":
    collect(sys.argv[1], FOLDER.parent / "CHANGELOG.md")
