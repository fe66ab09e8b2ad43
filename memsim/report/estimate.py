"""What the closed-form models say of a kernel, as text and as JSON: ``memsim estimate``."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from memsim.analysis.table import aligned
from memsim.models.estimate import Estimate
from memsim.models.machine import derived_parameters
from memsim.models.mwp_cwp import Case
from memsim.report.document import without_nan

_MEANING = {
    Case.few_warps: "MWP = CWP = N: too few warps to hide latency (equation 22)",
    Case.memory: "CWP >= MWP: memory decides, computation hides behind it (equation 23)",
    Case.computation: "MWP > CWP, or a warp computes longer than it waits: computation decides (equation 24)",
}


def text(done: Estimate) -> str:
    """Occupancy, what the model was given, what it says."""
    grid, block = ("x".join(map(str, extents)) for extents in (done.trace.launch.grid, done.trace.launch.block))
    head = f"{done.trace.kernel} on {done.gpu.name}: grid {grid}, block {block}, by closed-form models (docs/models.md)"
    return "\n\n".join([head, _occupancy(done), _parameters(done), _prediction(done)])


def _occupancy(done: Estimate) -> str:
    held = done.occupancy
    limits = ", ".join(f"{name} {blocks}" for name, blocks in held.limits.items())
    return (
        f"occupancy {held.fraction:.0%}: {held.blocks} blocks, {held.warps} of {held.max_warps} warps an SM; "
        f"limited by {' and '.join(held.limiters)}\nblocks an SM by limit: {limits}"
    )


def _parameters(done: Estimate) -> str:
    kernel, machine = done.kernel, done.machine
    derived = ", ".join(derived_parameters(done.gpu))
    rows = [
        ["computation instructions", f"{kernel.comp_insts:,.2f}", "a warp; with shared memory and barriers"],
        ["coalesced", f"{kernel.coal_mem_insts:,.2f}", "memory instructions a warp"],
        ["uncoalesced", f"{kernel.uncoal_mem_insts:,.2f}", f"of {kernel.uncoal_per_mw:.2f} transactions each"],
        ["barriers", f"{kernel.synch_insts:,.2f}", "a warp"],
        ["Mem_LD", f"{machine.mem_ld_cycles:,.4g}", "cycles"],
        ["Departure_del_coal", f"{machine.departure_del_coal_cycles:,.4g}", "cycles"],
        ["Departure_del_uncoal", f"{machine.departure_del_uncoal_cycles:,.4g}", "cycles"],
        ["Issue_cycles", f"{machine.issue_cycles:,.4g}", "cycles"],
        ["bandwidth", f"{machine.bandwidth_gb_per_s:,.1f}", "GB/s"],
    ]
    note = f"\nnot stated for {done.gpu.name}, derived from the machine: {derived}" if derived else ""
    return aligned(["parameter", "value", "unit"], rows, [False, True, False]) + note


def _prediction(done: Estimate) -> str:
    said = done.prediction
    rows = [
        ["Mem_L", f"{said.mem_l:,.1f}", "cycles, latency of a memory warp"],
        ["Departure_delay", f"{said.departure_delay:,.1f}", "cycles between memory warps"],
        ["N", f"{said.n}", "warps an SM"],
        ["MWP", f"{said.mwp:,.2f}", f"{said.mwp_without_bw_full:,.2f} by latency, {said.mwp_peak_bw:,.2f} by traffic"],
        ["CWP", f"{said.cwp:,.2f}", f"{said.cwp_full:,.2f} with enough warps"],
        ["execution", f"{said.exec_cycles:,.0f}", f"cycles, {said.rep:,.2f} fillings of an SM"],
        ["synchronisation", f"{said.synch_cycles:,.0f}", "cycles"],
        ["total", f"{said.cycles:,.0f}", f"cycles, {done.milliseconds:.4g} ms"],
        ["CPI", f"{said.cpi:,.2f}", "cycles a warp instruction of an SM"],
    ]
    return f"{_MEANING[said.case]}\n{aligned(['MWP/CWP', 'value', ''], rows, [False, True, False])}"


def document(done: Estimate) -> dict[str, Any]:
    """The object of ``--json``, of JSON values; docs/models.md lists the fields."""
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
        }
    )


def dumps(done: Estimate) -> str:
    """The same as indented text."""
    return json.dumps(document(done), indent=2, allow_nan=False, ensure_ascii=False)
