"""What goes into a simulation, as text: a trace, a GPU."""

from __future__ import annotations

import inspect
import json
import textwrap
from collections.abc import Mapping
from pathlib import PurePath

from memsim.analysis.table import aligned
from memsim.analysis.tables import ABSENT, number
from memsim.gpu.config import GPU, fields
from memsim.gpu.presets import Provenance
from memsim.sources.describe.workload import Workload
from memsim.support.terminal import prose_columns
from memsim.support.text import printable
from memsim.trace.coalescing_rules import sampled
from memsim.trace.info import TraceInfo, count
from memsim.trace.reader import Trace
from memsim.trace.schema import Space, StaticOp


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
        f"made for    {trace.gpu or ABSENT}",
        f"file        {printable(str(trace.path))} ({trace.path.stat().st_size / 1e6:,.1f} MB), "
        f"digest {trace.digest[:12]}",
    ]
    return "\n\n".join(["\n".join(head), _ops(trace, sizes), _arrays(trace)])


def _ops(trace: Trace, sizes: TraceInfo) -> str:
    rows = [
        [
            str(number_),
            op.kind.name,
            _space(op, trace),
            str(op.width),
            trace.arrays[op.array].name if op.array >= 0 else ABSENT,
            ":".join([PurePath(op.file).name, *(str(number) for number in (op.line, op.column) if number)]),
            op.text,
            number(executed),
            number(sizes.lane_accesses[number_] / executed if executed else float("nan"), 1),
        ]
        for number_, (op, executed) in enumerate(zip(trace.ops, sizes.memory_instructions.tolist(), strict=True))
    ]
    headers = ["op", "kind", "space", "bytes", "array", "source", "text", "executed", "lanes"]
    right = [True, False, False, True, False, False, False, True, True]
    return f"static ops (executed: by a warp; lanes: active, mean)\n{aligned(headers, rows, right)}"


def _space(op: StaticOp, trace: Trace) -> str:
    """Where an op's data are: a load of read-only data (ld.global.nc) reads global memory and involves no texture."""
    if op.space is Space.texture and not sampled(op, trace.arrays):
        return "global, read-only"
    return op.space.name.rstrip("_")


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
    """Every value of a GPU with what it is, unit, status and source: what ``memsim gpus NAME`` prints."""
    width, described = prose_columns(), fields()
    longest = max(map(len, provenance))
    parts = []
    for field, entry in provenance.items():
        value = ABSENT if entry.value is None else f"{entry.value} {entry.unit}".strip()
        parts += textwrap.wrap(f"{field:<{longest}}  {value}  [{entry.status}]", width, subsequent_indent=" " * 6)
        for text in (described[field].description, entry.source):
            parts += textwrap.wrap(printable(text or ""), width, initial_indent=" " * 4, subsequent_indent=" " * 6)
    return "\n".join([gpu.name, "", *parts])


def gpu_document(provenance: dict[str, Provenance]) -> str:
    """The same as JSON: field -> value, unit, status, source, uncertainty, description."""
    described = fields()
    document = {
        field: vars(entry) | {"description": described[field].description} for field, entry in provenance.items()
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def gpu_toml(gpu: GPU, provenance: Mapping[str, Provenance]) -> str:
    """The same as a file that `--gpu` takes, whole, with nothing inherited: a start for a GPU of one's own."""
    return "\n".join(
        [f"# {gpu.name}, every value; what is left out follows from the others.", *_toml_values(provenance)]
    )


def own_gpu_toml(about: str, name: str, base: str, provenance: Mapping[str, Provenance]) -> str:
    """A file that `--gpu` takes: some values of a GPU's own, the others inherited.

    Args:
        about: the comment that it begins with, one line.
        base: the preset or path to inherit from.
    """
    order = {field: number for number, field in enumerate(fields())}
    own = {field: provenance[field] for field in sorted(provenance, key=order.__getitem__)}
    head = [f"# {about}", f"inherit = {json.dumps(base)}", f"name = {json.dumps(name)}"]
    return "\n".join([*head, *_toml_values(own), ""])


def _toml_values(provenance: Mapping[str, Provenance]) -> list[str]:
    """A line a value, in the sections of the model."""
    lines: list[str] = []
    section = ""
    for field, entry in provenance.items():
        table, _, name = field.rpartition(".")
        if table != section:
            section = table
            lines += ["", f"[{table}]"]
        if entry.value is None:
            continue
        if entry.unit == "ns":
            name = f"{name.removesuffix('_cycles')}_ns"
        more = {
            "source": entry.source,
            "status": entry.status,
            "uncertainty": entry.uncertainty,
            "clock_mhz": entry.clock_mhz,
        }
        given = ", ".join(f"{key} = {json.dumps(of, ensure_ascii=False)}" for key, of in more.items() if of is not None)
        lines.append(f"{name} = {{ value = {json.dumps(entry.value)}, {given} }}")
    return lines


def workloads_text(workloads: dict[str, Workload]) -> str:
    """One line a workload: what ``memsim workloads`` prints."""
    rows = [[name, one.about.split("\n")[0]] for name, one in workloads.items()]
    return aligned(["name", "kernel"], rows, [False, False])


def workload_text(workload: Workload) -> str:
    """A workload's description, its parameters with types and defaults, and its choices."""
    rows = [
        [name, str(default), kind, ", ".join(map(str, workload.choices.get(name, ())))]
        for name, default, kind in workload.described()
    ]
    headers = ["parameter", "default", "is", "memsim explore tries"]
    table = aligned(headers, rows, [False] * 4)
    named = PurePath(workload.shown).stem if PurePath(workload.shown).parts[:1] == ("traces",) else workload.shown
    try_it = f"memsim trace {named} " + " ".join(f"-p {name}={default}" for name, default, *_ in rows[:2])
    return f"{inspect.getdoc(workload.builder) or workload.name}\n\n{table}\n\n{try_it.strip()}"


def _cache(size: int, line: int, ways: int) -> str:
    return f"{size / 1024:g}, {line}, {ways}"
