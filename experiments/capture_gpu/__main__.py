"""Capture the example programs on this host and on the GPU at hand, and compare: python -m experiments.capture_gpu."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from pathlib import Path

import memsim
from experiments.capture_gpu.compare import Compared, compare
from experiments.harness.readme import markdown
from memsim.analysis.tables import number
from memsim.support import library
from memsim.support.errors import InputError

RECORD = Path(__file__).parent / "record.md"
BLOCKS = "0:8"
# Program, its arguments: all branches of the five kernels, on snapshots that fit the GPU's buffer many times.
PROGRAMS = [
    ("spmv", ["4096", "17"]),
    ("matmul", ["128"]),
    ("matmul", ["128", "tiled"]),
    ("transpose", ["256"]),
    ("transpose", ["256", "padded"]),
    ("reduction", ["50000", "256"]),
    ("stencil", ["64", "6"]),
]
HEADERS = ["line", "expression", "kind", "lanes", "equal %", "accesses", "on the GPU", "instructions", "on the GPU"]


def main() -> int:
    """Compare all programs; 0 if every lane of every warp does the same on both."""
    parts, same = [], True
    for name, arguments in PROGRAMS:
        program = library.folder("traces") / "cuda" / f"{name}.cu"
        try:
            host, gpu = (
                memsim.capture(
                    program, arguments=arguments, blocks=BLOCKS, registers=32, by="source", target=target
                ).trace
                for target in ("cpu", "gpu")
            )
        except InputError as error:
            print(error, file=sys.stderr)
            return 2
        compared = compare(host, gpu)
        same &= all(op.lanes == op.equal for op in compared)
        parts.append(f"## {' '.join([f'{name}.cu', *arguments])}\n\n{_table(compared)}\n")
        print(parts[-1])
    head = [f"# {_where()}, {date.today().isoformat()}\n"]
    head.append(f"Every lane {'does' if same else 'does NOT do'} the same in both captures.\n")
    RECORD.write_text("\n".join([*head, *parts]))
    return 0 if same else 1


def _table(compared: list[Compared]) -> str:
    rows = [
        [
            f"{op.key[0]}:{op.key[1]}:{op.key[2]}",
            f"`{op.text}`",
            op.key[3].name,
            number(op.lanes),
            number(100 * op.equal / op.lanes, 2),
            *map(number, (*op.accesses, *op.instructions)),
        ]
        for op in compared
    ]
    return markdown(HEADERS, rows, left=3)


def _where() -> str:
    """The GPU and the compiler."""
    device = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    asked = [subprocess.run(command, capture_output=True, text=True) for command in (device, ["nvcc", "--version"])]
    told = [done.stdout.strip().splitlines() for done in asked]
    return "; ".join(lines[-1] if lines else "no answer" for lines in told)


if __name__ == "__main__":
    sys.exit(main())
