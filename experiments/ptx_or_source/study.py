"""What an optimizing compiler leaves of a CUDA C++ kernel's accesses: captures of source and of PTX, side by side."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import memsim
from experiments.harness.parallel import mapped
from experiments.harness.readme import markdown
from experiments.harness.study import Claim, Outcome, Points, Setting, Within
from memsim.gpu.presets import load_gpu
from memsim.report.style import BLUE, VERMILION, panels, styled, write
from memsim.trace.bits import popcounts
from memsim.trace.coalesce import coalesce
from memsim.trace.info import count
from memsim.trace.reader import Trace
from memsim.trace.schema import Kind, Space

GPU = "tesla-v100"
PROGRAMS = Path(__file__).parents[2] / "traces" / "cuda"
BLOCKS = "0:32"
CASES = (  # program, arguments, kernel
    ("matmul.cu", "256 naive", "naive_product"),
    ("matmul.cu", "256 tiled", "tiled_product"),
    ("transpose.cu", "", None),
    ("stencil.cu", "", None),
    ("reduction.cu", "", None),
    ("spmv.cu", "8192 16", None),
)
QUICK = CASES[:2]
_MEMORY = (Space.global_, Space.constant, Space.texture)


@dataclass(frozen=True)
class Counts:
    """What the warps of a trace ask for.

    Attributes:
        loads, stores: warp instructions to global memory, atomics among the stores.
        shared: warp instructions to shared memory.
        transactions, sectors: of global memory.
        gaps: instructions between accesses.
        sequences: times that a warp waits for what it loaded.
        sites: static ops.
    """

    loads: int
    stores: int
    shared: int
    transactions: int
    sectors: int
    gaps: int
    sequences: int
    sites: int


@dataclass(frozen=True)
class Pair:
    """One kernel by its source and by its PTX."""

    kernel: str
    source: Counts
    ptx: Counts
    registers: int


def run(setting: Setting) -> Outcome:
    """Both captures of each program of the library."""
    pairs = mapped(pair, QUICK if setting.quick else CASES, setting.jobs, "kernels")
    _draw(pairs, setting.figures / "instructions.png")
    claims = [claim for one in pairs for claim in _claims(one)]
    return Outcome(claims, {"counts": _table(pairs)})


def pair(case: tuple[str, str, str | None]) -> Pair:
    """Capture a program both ways, the same blocks."""
    program, arguments, kernel = case
    with TemporaryDirectory() as folder:
        traces = [
            _captured(PROGRAMS / program, arguments, kernel, by, Path(folder, f"{by}.h5")) for by in ("source", "ptx")
        ]
        source, ptx = (counts(one) for one in traces)
        return Pair(traces[0].kernel, source, ptx, traces[1].launch.registers)


def _captured(program: Path, arguments: str, kernel: str | None, by: str, out: Path) -> Trace:
    """The program prints its own check, which is no part of the study."""
    quiet, kept = os.open(os.devnull, os.O_WRONLY), os.dup(1)
    os.dup2(quiet, 1)
    try:
        return memsim.capture(
            program, arguments=arguments.split(), kernel=kernel, by=by, out=out, blocks=BLOCKS, gpu=GPU,
            gaps=by == "source",
        ).trace  # fmt: skip
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(quiet)


def counts(trace: Trace) -> Counts:
    """What a trace asks for, of the study's GPU."""
    sizes, made = count(trace.chunks(), len(trace.ops)), coalesce(trace, load_gpu(GPU))
    by_op = sizes.memory_instructions

    def sum_of(*kinds: Kind, shared: bool = False) -> int:
        return sum(
            int(number)
            for op, number in zip(trace.ops, by_op, strict=True)
            if op.kind in kinds and (op.space is Space.shared if shared else op.space in _MEMORY)
        )

    return Counts(
        loads=sum_of(Kind.load),
        stores=sum_of(Kind.store, Kind.atomic, Kind.reduction),
        shared=sum_of(*Kind, shared=True),
        transactions=len(made.lines),
        sectors=int(popcounts(np.asarray(made.masks)).sum()),
        gaps=sizes.gap_instructions,
        sequences=sizes.sequences,
        sites=len(trace.ops),
    )


def _claims(pair: Pair) -> list[Claim]:
    """A compiler may drop loads of what a thread knows already; it may not drop or move stores to memory."""
    kernel = pair.kernel
    return [
        Claim(
            f"{kernel}: stores and atomics",
            pair.source.stores,
            pair.ptx.stores,
            source="capture of source",
            aim=Points(0),
        ),
        Claim(f"{kernel}: loads", pair.source.loads, pair.ptx.loads, source="capture of source", aim=Within(0.05)),
        Claim(
            f"{kernel}: sectors", pair.source.sectors, pair.ptx.sectors, source="capture of source", aim=Within(0.05)
        ),
        Claim(
            f"{kernel}: instructions between accesses", pair.source.gaps, pair.ptx.gaps, source="estimated of source"
        ),
    ]


def _table(pairs: list[Pair]) -> str:
    names = ("loads", "stores", "shared", "transactions", "sectors", "gaps", "sequences", "sites")
    rows = [
        [one.kernel, by, *(f"{getattr(found, name):,}" for name in names)]
        for one in pairs
        for by, found in (("source", one.source), ("PTX", one.ptx))
    ]
    return markdown(["kernel", "of", *names], rows, left=2)


def _draw(pairs: list[Pair], path: Path) -> None:
    """Warp instructions by source and by PTX."""
    with styled():
        figure, (axes,) = panels(1, 1, 7.0, 3.5)
        place = np.arange(len(pairs))
        for shift, by, colour in ((-0.2, "source", BLUE), (0.2, "ptx", VERMILION)):
            found = [getattr(one, by) for one in pairs]
            memory = np.array([one.loads + one.stores + one.shared for one in found])
            axes.barh(place + shift, memory + [one.gaps for one in found], 0.35, color=colour, alpha=0.4)
            axes.barh(place + shift, memory, 0.35, color=colour, label=f"{by}: accesses, and all instructions (pale)")
        axes.set_yticks(place, [one.kernel for one in pairs])
        axes.set_xlabel("warp instructions")
        axes.legend()
        write(figure, path)
