"""What goes into a simulation: a trace, a GPU, a workload."""

from __future__ import annotations

import inspect
import json
import textwrap
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import PurePath
from typing import Any

from memsim.analysis.tables import ABSENT, number
from memsim.gpu.config import GPU, fields
from memsim.gpu.presets import Provenance
from memsim.report.output import Block, CommandOutput, PrintedTable
from memsim.sources.describe.workload import Workload
from memsim.support.terminal import prose_columns
from memsim.support.text import printable
from memsim.trace.coalescing_rules import sampled
from memsim.trace.info import TraceInfo, count
from memsim.trace.reader import Trace
from memsim.trace.schema import Space, StaticInstruction


def trace_output(trace: Trace) -> CommandOutput:
    """Launch, sizes, static instructions with their source text, arrays (``memsim info``), one row per instruction."""
    sizes = cache(lambda: count(trace.chunks(), len(trace.ops)))  # reads the whole trace, so only what is printed does
    return CommandOutput(
        lambda: _trace(trace, sizes()), lambda: _op_records(trace, sizes()), lambda: _trace_document(trace, sizes())
    )


def traces_output(traces: Sequence[Trace]) -> CommandOutput:
    """Several traces, each as :func:`trace_output` has it; a record says of which file it is."""
    outputs = {str(trace.path): trace_output(trace) for trace in traces}
    return CommandOutput(
        lambda: (block for one in outputs.values() for block in one.blocks()),
        lambda: ({"trace": path, **op} for path, one in outputs.items() for op in one.rows()),
        lambda: [one.values() for one in outputs.values() if one.values is not None],
    )


def _op_records(trace: Trace, sizes: TraceInfo) -> list[dict[str, Any]]:
    return [
        {
            "op": number, "kind": op.kind.name, "space": _space(op, trace), "bytes": op.width,
            "array": trace.arrays[op.array].name if op.array >= 0 else None, "file": op.file, "line": op.line,
            "column": op.column, "text": op.text, "executed": int(executed), "lane_accesses": int(lanes),
        }
        for number, (op, executed, lanes) in enumerate(
            zip(trace.ops, sizes.memory_instructions, sizes.lane_accesses, strict=True)
        )
    ]  # fmt: skip


def _trace_document(trace: Trace, sizes: TraceInfo) -> dict[str, Any]:
    launch = trace.launch
    return {
        "file": str(trace.path), "digest": trace.digest, "kernel": trace.kernel, "source": trace.source,
        "parameters": dict(trace.parameters), "gpu": trace.gpu, "grid": launch.grid, "block": launch.block,
        "registers": launch.registers, "shared_bytes": launch.shared_bytes, "blocks": trace.n_blocks,
        "launched_blocks": launch.n_blocks, "warps": trace.n_warps, "ops": _op_records(trace, sizes),
        "arrays": [
            {"name": array.name, "space": array.space.name.rstrip("_"), "base": array.base, "bytes": array.bytes,
             "element_bytes": array.element_bytes}
            for array in trace.arrays
        ],
    }  # fmt: skip


def _trace(trace: Trace, sizes: TraceInfo) -> list[Block]:
    launch = trace.launch
    grid, block = ("x".join(map(str, extents)) for extents in (launch.grid, launch.block))
    parameters = " ".join(f"{name}={value}" for name, value in trace.parameters.items())
    head = [
        f"{trace.kernel} from {trace.source}",
        f"parameters  {parameters or ABSENT}",
        f"launch      grid {grid}, block {block}, {launch.registers} registers, {launch.shared_bytes:,} shared bytes",
        f"traced      {trace.n_blocks:,} of {launch.n_blocks:,} blocks, {trace.n_warps:,} warps, "
        f"{sizes.memory_instructions.sum():,} memory instructions, {sizes.lane_accesses.sum():,} lane accesses",
        f"made for    {trace.gpu or ABSENT}",
        f"file        {printable(str(trace.path))} ({trace.path.stat().st_size / 1e6:,.1f} MB), "
        f"digest {trace.digest[:12]}",
    ]
    return ["\n".join(head), _ops(trace, sizes), _arrays(trace)]


def _ops(trace: Trace, sizes: TraceInfo) -> PrintedTable:
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
    return PrintedTable(
        headers, rows, right, "memory instructions (executed: by warps; lanes: mean number of active lanes)"
    )


def _space(op: StaticInstruction, trace: Trace) -> str:
    """Where an op's data are: a load of read-only data (ld.global.nc) reads global memory and involves no texture."""
    if op.space is Space.texture and not sampled(op, trace.arrays):
        return "global, read-only"
    return op.space.name.rstrip("_")


def _arrays(trace: Trace) -> PrintedTable:
    rows = [
        [array.name, array.space.name.rstrip("_"), f"{array.base:#x}", number(array.bytes), str(array.element_bytes)]
        for array in trace.arrays
    ]
    headers = ["array", "space", "base", "bytes", "element bytes"]
    return PrintedTable(headers, rows, [False, False, True, True, True], "arrays")


def presets_output(gpus: dict[str, GPU]) -> CommandOutput:
    """One line per preset: what ``memsim gpus`` prints."""
    return CommandOutput(lambda: [_presets(gpus)], lambda: (_preset(name, gpu) for name, gpu in gpus.items()))


def _preset(name: str, gpu: GPU) -> dict[str, Any]:
    caches = {
        f"{level}_{what}_bytes": getattr(of, f"{what}_bytes") if of.enabled else 0
        for level, of in (("l1", gpu.l1), ("l2", gpu.l2))
        for what in ("size", "line")
    }
    return {
        "name": name, "compute_capability": gpu.compute_capability, "sms": gpu.sm.count, "clock_mhz": gpu.sm.clock_mhz,
        **caches, "memory": gpu.dram.kind, "channels": gpu.dram.channels,
    }  # fmt: skip


def _presets(gpus: dict[str, GPU]) -> PrintedTable:
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
    return PrintedTable(headers, rows, [False, True, True, True, False, False, False])


def gpu_output(gpu: GPU, provenance: dict[str, Provenance]) -> CommandOutput:
    """Every value of a GPU with what it is, unit, status and source: what ``memsim gpus NAME`` prints."""
    described = fields()
    document = {
        field: vars(entry) | {"description": described[field].description} for field, entry in provenance.items()
    }
    return CommandOutput(
        lambda: [_gpu(gpu, provenance)], lambda: ({"field": field} | of for field, of in document.items()),
        lambda: document,
    )  # fmt: skip


def _gpu(gpu: GPU, provenance: dict[str, Provenance]) -> str:
    width, described = prose_columns(), fields()
    longest = max(map(len, provenance))
    lines = []
    for field, entry in provenance.items():
        value = ABSENT if entry.value is None else f"{entry.value} {entry.unit}".strip()
        lines += textwrap.wrap(f"{field:<{longest}}  {value}  [{entry.status}]", width, subsequent_indent=" " * 6)
        for text in (described[field].description, entry.source):
            lines += textwrap.wrap(printable(text or ""), width, initial_indent=" " * 4, subsequent_indent=" " * 6)
    return "\n".join([gpu.name, "", *lines])


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


def workloads_output(workloads: dict[str, Workload]) -> CommandOutput:
    """One line per workload: what ``memsim workloads`` prints."""
    rows = [[name, one.about.split("\n")[0]] for name, one in workloads.items()]
    table = PrintedTable(["name", "kernel"], rows, [False, False])
    return CommandOutput(lambda: [table], lambda: ({"name": name, "kernel": about} for name, about in rows))


def workload_output(workload: Workload) -> CommandOutput:
    """A workload's description, its parameters with types and defaults, and its choices."""
    return CommandOutput(
        lambda: _workload(workload),
        lambda: (
            {"parameter": name, "default": default, "type": kind, "choices": workload.choices.get(name)}
            for name, default, kind in workload.described()
        ),
    )


def _workload(workload: Workload) -> list[Block]:
    rows = [
        [name, str(default), kind, ", ".join(map(str, workload.choices.get(name, ())))]
        for name, default, kind in workload.described()
    ]
    headers = ["parameter", "default", "type", "choices of memsim explore"]
    table = PrintedTable(headers, rows, [False] * 4)
    named = PurePath(workload.shown).stem if PurePath(workload.shown).parts[:1] == ("traces",) else workload.shown
    try_it = f"memsim trace {named} " + " ".join(f"-p {name}={default}" for name, default, *_ in rows[:2])
    return [inspect.getdoc(workload.builder) or workload.name, table, try_it.strip()]


def _cache(size: int, line: int, ways: int) -> str:
    return f"{size / 1024:g}, {line}, {ways}"
