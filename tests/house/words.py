"""Counts the phrases of words.toml: none in the manual, and elsewhere no more than before.

``python tests/house/words.py [FILE...]`` lists them by line (pre-commit runs it); ``--count`` writes today's numbers.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("words.toml")
SETTINGS = tomllib.loads(LIST.read_text())
PHRASES = {re.compile(phrase): instead for phrase, instead in SETTINGS["phrases"].items()}
_ANY = re.compile("|".join(f"(?:{pattern.pattern})" for pattern in PHRASES))
_CODE = re.compile(r"^\s*```.*?^\s*```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
STRICT = ("docs/", "README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", ".github/")
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


def folder(path: str) -> str:
    """The folder whose number counts: a room of memsim or of tests, else the first one."""
    parts = Path(path).parts
    return "/".join(parts[:2]) if parts[0] in ("memsim", "tests") and len(parts) > 2 else parts[0]


def files() -> list[str]:
    """The tracked files that are read."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [path for path in listed.splitlines() if path.endswith(READ) and not path.startswith(NOT_READ)]


def is_strict(path: str) -> bool:
    return path.startswith(STRICT)


def counts() -> Counter[str]:
    """Phrases by folder, outside of the manual."""
    return Counter({where: n for where, n in _all().items() if n})


def _all() -> Counter[str]:
    total: Counter[str] = Counter()
    for path in files():
        if not is_strict(path) and (ROOT / path).exists():
            total[folder(path)] += len(found(path))
    return total


def main(arguments: list[str]) -> int:
    if arguments == ["--count"]:
        lines = [f'"{where}" = {n}' for where, n in sorted(counts().items())]
        LIST.write_text(LIST.read_text().split("[allowed]\n")[0] + "[allowed]\n" + "\n".join(lines) + "\n")
        return 0
    chosen = [str(Path(name).resolve().relative_to(ROOT)) for name in arguments] or files()
    failed = False
    for path in chosen:
        if path.endswith(READ) and not path.startswith(NOT_READ):
            for line, phrase, instead in found(path):
                print(f"{path}:{line}: {phrase!r}: write {instead}")
                failed |= is_strict(path)
    more = {where: n for where, n in counts().items() if n > SETTINGS["allowed"].get(where, 0)}
    for where, n in more.items():
        print(f"{where}: {n} such phrases, {SETTINGS['allowed'].get(where, 0)} are allowed")
    return int(failed or bool(more))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
