"""What the closed-form models say of a kernel: what ``memsim estimate`` prints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from memsim.analysis.percent import percent
from memsim.models.cumapz.accesses import SUMS
from memsim.models.cumapz.factors import FACTORS
from memsim.models.estimate import Estimate
from memsim.models.machine import derived_parameters
from memsim.models.mwp_cwp import LimitingCase
from memsim.report.output import Block, CommandOutput, PrintedTable, joined
from memsim.report.result_json import without_nan
from memsim.trace.schema import StaticInstruction

_KEYS = {"bytes_requested": "bytes_asked"}  # of JSON, where they differ from the fields' names
_MEANING = {
    LimitingCase.few_warps: "MWP = CWP = N: too few warps to hide latency (equation 22)",
    LimitingCase.memory: "CWP >= MWP: memory decides, computation hides behind it (equation 23)",
    LimitingCase.computation: "MWP > CWP, or a warp computes longer than it waits: computation decides (equation 24)",
}


def output(done: Estimate) -> CommandOutput:
    """Occupancy, what MWP/CWP was given and says, and CuMAPz's factors; as rows, every number of the JSON object."""
    return CommandOutput(lambda: _blocks(done), lambda: _flat(document(done)), lambda: document(done))


def text(done: Estimate) -> str:
    """The same as text."""
    return joined(_blocks(done))


def _flat(value: dict[str, Any], prefix: str = "") -> Iterator[dict[str, Any]]:
    for name, of in value.items():
        if isinstance(of, dict):
            yield from _flat(of, f"{prefix}{name}.")
        elif not isinstance(of, list | tuple):
            yield {"name": f"{prefix}{name}", "value": of}


def _blocks(done: Estimate) -> list[Block]:
    grid, block = ("x".join(map(str, extents)) for extents in (done.trace.launch.grid, done.trace.launch.block))
    head = f"{done.trace.kernel} on {done.gpu.name}: grid {grid}, block {block}, by closed-form models (docs/models)"
    return [head, _occupancy(done), _parameters(done), _prediction(done), _cumapz(done)]


def _occupancy(done: Estimate) -> str:
    held = done.occupancy
    limits = ", ".join(f"{name} {blocks}" for name, blocks in held.limits.items())
    return (
        f"occupancy {percent(held.fraction)}: {held.blocks} blocks, {held.warps} of {held.max_warps} warps per SM; "
        f"limited by {' and '.join(held.limiters)}\nblocks per SM by limit: {limits}"
    )


def _parameters(done: Estimate) -> PrintedTable:
    kernel, machine = done.kernel, done.machine
    derived = ", ".join(derived_parameters(done.gpu))
    rows = [
        ["computation instructions", f"{kernel.comp_insts:,.2f}", "per warp; with shared memory and barriers"],
        ["coalesced", f"{kernel.coal_mem_insts:,.2f}", "memory instructions per warp"],
        ["uncoalesced", f"{kernel.uncoal_mem_insts:,.2f}", f"of {kernel.uncoal_per_mw:.2f} transactions each"],
        ["barriers", f"{kernel.synch_insts:,.2f}", "per warp"],
        ["Mem_LD", f"{machine.mem_ld_cycles:,.4g}", "cycles"],
        ["Departure_del_coal", f"{machine.departure_del_coal_cycles:,.4g}", "cycles"],
        ["Departure_del_uncoal", f"{machine.departure_del_uncoal_cycles:,.4g}", "cycles"],
        ["Issue_cycles", f"{machine.issue_cycles:,.4g}", "cycles"],
        ["bandwidth", f"{machine.bandwidth_gb_per_s:,.1f}", "GB/s"],
    ]
    note = f"not stated for {done.gpu.name}, derived from the machine: {derived}" if derived else ""
    return PrintedTable(["parameter", "value", "unit"], rows, [False, True, False], note=note)


def _prediction(done: Estimate) -> PrintedTable:
    said = done.prediction
    rows = [
        ["Mem_L", f"{said.mem_l:,.1f}", "cycles, latency of a memory warp"],
        ["Departure_delay", f"{said.departure_delay:,.1f}", "cycles between memory warps"],
        ["N", f"{said.n}", "warps per SM"],
        ["MWP", f"{said.mwp:,.2f}", f"{said.mwp_without_bw_full:,.2f} by latency, {said.mwp_peak_bw:,.2f} by traffic"],
        ["CWP", f"{said.cwp:,.2f}", f"{said.cwp_full:,.2f} with enough warps"],
        ["execution", f"{said.exec_cycles:,.0f}", f"cycles, {said.rep:,.2f} fillings of an SM"],
        ["synchronisation", f"{said.synch_cycles:,.0f}", "cycles"],
        ["total", f"{said.cycles:,.0f}", f"cycles, {done.milliseconds:.4g} ms"],
        ["CPI", f"{said.cpi:,.2f}", "cycles per warp instruction of an SM"],
    ]
    return PrintedTable(["MWP/CWP", "value", ""], rows, [False, True, False], _MEANING[said.case])


def _cumapz(done: Estimate) -> PrintedTable:
    found, said, sums = done.cumapz, done.cumapz.factors, done.cumapz.factors.counted
    buffer = "bytes from buffers / transferred to fill them" if found.fetches else "no buffer"
    if not found.fetches_seen:
        buffer = "not counted, compiled code does not show what fills shared memory; a trace of the source does"
    skew = f"in the first {found.first_blocks} blocks"
    rows = [
        ["data_reuse", f"{said.data_reuse:.4g}", f"1: {buffer}"],
        ["lat_hiding", f"{said.lat_hiding:.4g}", f"2: {percent(done.occupancy.fraction)} occupied, "
         f"independent fetches: {found.fetches_together:.3g}"],
        ["bw_util", f"{said.bw_util:.4g}", f"3: {sums.bytes_requested:,} bytes requested, {sums.bytes_moved:,} moved"],
        ["ch_skew", f"{said.ch_skew:.4g}", f"5: most over least blocks on a channel, {skew}" if found.skew_seen else
         f"5: not counted, the trace has not {found.first_blocks} blocks"],
        ["shm_eff", f"{said.shm_eff:.4g}", f"6: {sums.shared:,} accesses in {sums.passes:,} passes"],
        ["branch_eff", f"{said.branch_eff:.4g}", f"7: warps over paths; a buffer serves {sums.diverged:,} in part"],
        ["MPE", f"{said.mpe:.4g}", "8: compares versions of one kernel, larger is better"],
    ]  # fmt: skip
    return PrintedTable(["CuMAPz", "value", "equation"], rows, [False, True, False], note=_references(done))


def _references(done: Estimate) -> str:
    """What was taken for fetches and accesses of buffers, a line each."""
    groups = (("fills a buffer", done.cumapz.fetches), ("served by it", done.cumapz.accesses),
             ("past it", done.cumapz.beyond))  # fmt: skip
    return "\n".join(f"{what}: {_where(done.trace.ops[op])}" for what, ops in groups for op in ops)


def _where(op: StaticInstruction) -> str:
    location = f"{op.file}:{op.line}" if op.line else op.file
    return f"{op.text} ({location})" if op.text else location


def document(done: Estimate) -> dict[str, Any]:
    """The object of ``--json``, of JSON values; docs/models lists the fields."""
    held, said = done.occupancy, done.prediction
    return without_nan(
        {
            "gpu": done.gpu.name,
            "kernel": done.trace.kernel,
            "trace": done.trace.digest,
            "occupancy": {
                "blocks": held.blocks,
                "warps": held.warps,
                "fraction": held.fraction,
                "limiters": held.limiters,
                "limits": held.limits,
            },
            "counts": asdict(done.counts),
            "parameters": {**asdict(done.machine), **asdict(done.kernel)},
            "derived": derived_parameters(done.gpu),
            "mwp_cwp": asdict(said),
            "case": str(said.case),
            "cycles": said.cycles,
            "milliseconds": done.milliseconds,
            "cpi": said.cpi,
            "cumapz": _factors(done),
        }
    )


def _factors(done: Estimate) -> dict[str, Any]:
    found, said = done.cumapz, done.cumapz.factors
    counted = {_KEYS.get(name, name): getattr(said.counted, name) for name in SUMS}
    values = {name: getattr(said, name) for name in FACTORS}
    return {
        **values,
        "ch_skew": said.ch_skew if found.skew_seen else None,
        "data_reuse": said.data_reuse if found.fetches_seen else None,
        "counted": counted,
        "fetches_together": found.fetches_together,
        "first_blocks": found.first_blocks,
        **{
            name: [{"file": op.file, "line": op.line, "text": op.text} for op in (done.trace.ops[k] for k in ops)]
            for name, ops in (("fetches", found.fetches), ("accesses", found.accesses), ("beyond", found.beyond))
        },
    }
