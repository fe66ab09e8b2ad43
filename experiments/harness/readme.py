"""Tables that a run writes into a README, between ``<!-- table NAME -->`` and ``<!-- end -->``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from memsim.support.files import replacing


def markdown(headers: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """A Markdown table; the first `left` columns hold text, the others are aligned to the right.

    >>> print(markdown(["block", "ms"], [["(8, 64)", "365"]]))
    | block | ms |
    |---|--:|
    | (8, 64) | 365 |
    """
    ruler = "".join("---|" if column < left else "--:|" for column in range(len(headers)))
    lines = ["| " + " | ".join(cells) + " |" for cells in (headers, *rows)]
    return "\n".join([lines[0], f"|{ruler}", *lines[1:]])


def filled(text: str, tables: Mapping[str, str]) -> str:
    """`text` with each table in its place.

    Raises:
        ValueError: a place without a table, or a table without a place.

    >>> filled("<!-- table a -->old<!-- end -->", {"a": "| new |"})
    '<!-- table a -->\\n\\n| new |\\n\\n<!-- end -->'
    """
    places = set(re.findall(r"<!-- table (\S+) -->", text))
    if places != set(tables):
        raise ValueError(f"the README has places for {sorted(places)}, the study has tables {sorted(tables)}")
    for name, table in tables.items():
        place = re.compile(rf"(<!-- table {re.escape(name)} -->).*?(<!-- end -->)", re.DOTALL)
        text = place.sub(lambda found, table=table: f"{found[1]}\n\n{table}\n\n{found[2]}", text)
    return text


def fill(path: Path, tables: Mapping[str, str]) -> None:
    """Write `tables` into the file at `path`, all or none."""
    text = filled(path.read_text(encoding="utf-8"), tables)
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
