"""Predict the times of the list: ``python -m experiments.fresh_times.compare CHECKOUTS [ROW ...]``.

Writes ``compared.csv``, a line per row of ``rows.csv``; lines of rows that are not named stay.
"""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import memsim
from experiments.harness.readme import markdown
from experiments.modern_counters.rows import CASES
from memsim.gpu.config import GPU
from memsim.gpu.presets import load_gpu, override
from memsim.sources.traced_blocks import wave_blocks
from memsim.support.result_cache import VARIABLE

ROWS = Path(__file__).with_name("rows.csv")
TABLE = Path(__file__).with_name("compared.csv")
_HOST = Path(__file__).with_name("launches.cu")
_HEADERS = Path(__file__).with_name("include")
_LENGTHS = 256, 512  # inner lengths of products that are simulated
_WAVE = "1x"  # blocks to trace where the default sample does not fill the GPU, of which memsim warns
_BLOCKS = 64, 128, 256, 512, 1024  # threads; the program of the sums tries these
Row = dict[str, str]


def rows() -> list[Row]:
    """The list.

    >>> len(rows())
    52
    """
    with ROWS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def gpu(name: str) -> GPU:
    """A preset; ``a100-40`` is an A100 of 40 GB, with that memory's clock."""
    if name != "a100-40":
        return load_gpu(name)
    memory = {key: value for key, value in CASES["silu"].settings.items() if key.startswith("dram.")}
    return override(load_gpu("a100"), memory)


def microseconds(row: Row, checkouts: Path) -> float:
    """What memsim predicts; of a product from two with shorter inner lengths, of a sum with its fastest block."""
    if "BLOCK" in row["arguments"]:
        return min(_launch(row, checkouts, BLOCK=block) for block in _BLOCKS)
    if not row["inner"]:
        return _launch(row, checkouts)
    short, long = (_launch(row, checkouts, INNER=length) for length in _LENGTHS)
    return long + (long - short) * (int(row["inner"]) - _LENGTHS[1]) / (_LENGTHS[1] - _LENGTHS[0])


def _launch(row: Row, checkouts: Path, **numbers: int) -> float:
    machine = gpu(row["gpu"])
    folder = checkouts / row["repository"].replace("/", "+")
    if row["repository"] == "ayush-os/transpose":
        folder = folder.with_name(f"{folder.name}-{row['commit']}")
    arguments = [str(numbers.get(word, word)) for word in row["arguments"].split()]
    for blocks in (None, _WAVE):
        trace = memsim.capture(
            [_HOST if row["define"] else folder / row["path"]],
            kernel=row["kernel"],
            launch=0,
            gpu=machine,
            arguments=arguments,
            blocks=blocks,
            includes=[folder / row["path"], _HEADERS] if row["define"] else [],
            definitions=[row["define"]] if row["define"] else [],
            snapshot_only=True,
        ).trace
        if trace.n_blocks >= min(trace.launch.n_blocks, wave_blocks(trace.launch, machine)):
            break
    return 1000 * memsim.simulate(trace, machine, trials=1).kernel_time.mean


def read() -> dict[tuple[str, str], float]:
    """The predictions of the table, by row and GPU."""
    if not TABLE.exists():
        return {}
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {(row["row"], row["gpu"]): float(row["memsim"]) for row in csv.DictReader(file)}


def write(found: dict[tuple[str, str], float]) -> None:
    """Write the table, in the order of the list."""
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["row", "gpu", "measured", "memsim", "percent"])
        for row in rows():
            key, measured = (row["row"], row["gpu"]), float(row["microseconds"])
            if key in found:
                percent = 100 * (found[key] / measured - 1)
                lines.writerow([*key, row["microseconds"], f"{found[key]:.5g}", f"{percent:+.1f}"])


def table(found: dict[tuple[str, str], float]) -> str:
    """Errors by GPU."""
    measured = {(row["row"], row["gpu"]): float(row["microseconds"]) for row in rows()}
    errors: dict[str, list[float]] = {}
    for key, ours in found.items():
        for family in ("all", key[1]):
            errors.setdefault(family, []).append(100 * abs(ours / measured[key] - 1))
    lines = [[family, str(len(of)), f"{sum(of) / len(of):.0f}", f"{median(of):.0f}"] for family, of in errors.items()]
    return markdown(["rows", "number", "mean error, %", "median"], lines)


def main(arguments: Sequence[str]) -> None:
    """Entry point."""
    os.environ[VARIABLE] = "0"  # no trial from memsim's cache
    if not arguments:
        raise SystemExit("usage: python -m experiments.fresh_times.compare CHECKOUTS [ROW ...]")
    checkouts, names = Path(arguments[0]), arguments[1:]
    for row in rows():
        if not names or row["row"] in names:
            ours = microseconds(row, checkouts)
            print(row["row"], row["gpu"], row["microseconds"], f"{ours:.5g}", flush=True)
            write(read() | {(row["row"], row["gpu"]): ours})
    print(table(read()))


if __name__ == "__main__":
    main(sys.argv[1:])
