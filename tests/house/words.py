"""Finds the phrases of words.toml in all files that people read.

``python tests/house/words.py [FILE...]`` lists them by line; pre-commit runs it.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("words.toml")
SETTINGS = tomllib.loads(LIST.read_text())
PHRASES = {re.compile(phrase): instead for phrase, instead in SETTINGS["phrases"].items()}
_ANY = re.compile("|".join(f"(?:{pattern.pattern})" for pattern in PHRASES))
_CODE = re.compile(r"^\s*```.*?^\s*```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
READ = (".py", ".md", ".toml", ".cfg", ".cpp", ".h", ".cu", ".j2", ".js", ".yml", ".yaml")
NOT_READ = (
    "CHANGELOG.md",
    "docs/examples/nsight_compute.",
    "tests/house/",
    "tests/data/",
    "LICENSE",
    "memsim/support/deprecated.py",
)


def found(path: str) -> list[tuple[int, str, str]]:
    """Line, phrase and what to write instead, of one file; in Markdown without code."""
    text = (ROOT / path).read_text(errors="replace")
    if path.endswith(".md"):
        text = _CODE.sub(lambda code: re.sub(r"[^\n]", "`", code[0]), text)
    return [(text.count("\n", 0, hit.start()) + 1, hit[0], _instead(hit[0])) for hit in _ANY.finditer(text)]


def _instead(phrase: str) -> str:
    return next(instead for pattern, instead in PHRASES.items() if pattern.fullmatch(phrase))


def files() -> list[str]:
    """The tracked files that are read."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [path for path in listed.splitlines() if path.endswith(READ) and not path.startswith(NOT_READ)]


def main(arguments: list[str]) -> int:
    chosen = [str(Path(name).resolve().relative_to(ROOT)) for name in arguments] or files()
    failed = False
    for path in chosen:
        if path.endswith(READ) and not path.startswith(NOT_READ):
            for line, phrase, instead in found(path):
                print(f"{path}:{line}: {phrase!r}: write {instead}")
                failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
