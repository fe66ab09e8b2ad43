"""What goes into a simulation, as text: a trace, a GPU."""

from __future__ import annotations

from pathlib import PurePath

from memsim.analysis.table import aligned
from memsim.analysis.tables import ABSENT, number, shortened
from memsim.gpu.config import GPU
from memsim.gpu.presets import Provenance
from memsim.support.text import printable
from memsim.trace.info import TraceInfo, count
from memsim.trace.reader import Trace


def trace_text(trace: Trace) -> str:
    """Launch, sizes, static ops with their source text, arrays: what ``memsim info`` prints."""
    launch, sizes = trace.launch, count(trace.chunks(), len(trace.ops))
    grid, block = ("x".join(map(str, extents)) for extents in (launch.grid, launch.block))
    parameters = " ".join(f"{name}={value}" for name, value in trace.parameters.items())
    head = [
        f"{trace.kernel} from {trace.source}",
        f"parameters  {parameters or ABSENT}",
        f"launch      grid {grid}, block {block}, {launch.registers} registers, {launch.shared_bytes:,} shared bytes",
        f"snapshot    {trace.n_blocks:,} of {launch.n_blocks:,} blocks, {trace.n_warps:,} warps, "
        f"{sizes.memory_instructions.sum():,} memory instructions, {sizes.lane_accesses.sum():,} lane accesses",
        f"file        {printable(str(trace.path))} ({trace.path.stat().st_size / 1e6:,.1f} MB), "
        f"digest {trace.digest[:12]}",
    ]
    return "\n\n".join(["\n".join(head), _ops(trace, sizes), _arrays(trace)])


def _ops(trace: Trace, sizes: TraceInfo) -> str:
    rows = [
        [
            str(number_),
            op.kind.name,
            op.space.name.rstrip("_"),
            str(op.width),
            trace.arrays[op.array].name if op.array >= 0 else ABSENT,
            ":".join([PurePath(op.file).name, *(str(number) for number in (op.line, op.column) if number)]),
            shortened(op.text, 24),
            number(executed),
            number(sizes.lane_accesses[number_] / executed if executed else float("nan"), 1),
        ]
        for number_, (op, executed) in enumerate(zip(trace.ops, sizes.memory_instructions.tolist(), strict=True))
    ]
    headers = ["op", "kind", "space", "bytes", "array", "source", "text", "executed", "lanes"]
    right = [True, False, False, True, False, False, False, True, True]
    return f"static ops (executed: by a warp; lanes: active, mean)\n{aligned(headers, rows, right)}"


def _arrays(trace: Trace) -> str:
    rows = [
        [array.name, array.space.name.rstrip("_"), f"{array.base:#x}", number(array.bytes), str(array.element_bytes)]
        for array in trace.arrays
    ]
    return f"arrays\n{aligned(['array', 'space', 'base', 'bytes', 'of one'], rows, [False, False, True, True, True])}"


def presets_text(gpus: dict[str, GPU]) -> str:
    """One line a preset: what ``memsim gpus`` prints."""
    rows = [
        [
            preset,
            gpu.compute_capability,
            str(gpu.sm.count),
            f"{gpu.sm.clock_mhz:g}",
            _cache(gpu.l1.size_bytes, gpu.l1.line_bytes, gpu.l1.ways) if gpu.l1.enabled else "off",
            _cache(gpu.l2.size_bytes, gpu.l2.line_bytes, gpu.l2.ways) if gpu.l2.enabled else "off",
            f"{gpu.dram.kind}, {gpu.dram.channels} channels",
        ]
        for preset, gpu in gpus.items()
    ]
    headers = ["name", "cc", "SMs", "MHz", "L1: KiB, line, ways", "L2: KiB, line, ways", "memory"]
    return aligned(headers, rows, [False, True, True, True, False, False, False])


def gpu_text(gpu: GPU, provenance: dict[str, Provenance]) -> str:
    """Every value of a GPU with its unit, status and source: what ``memsim gpus NAME`` prints."""
    rows = [
        [field, ABSENT if entry.value is None else str(entry.value), entry.unit, entry.status, entry.source]
        for field, entry in provenance.items()
    ]
    return f"{gpu.name}\n\n{aligned(['field', 'value', 'unit', 'status', 'source'], rows, [False, True] + [False] * 3)}"


def _cache(size: int, line: int, ways: int) -> str:
    return f"{size / 1024:g}, {line}, {ways}"
