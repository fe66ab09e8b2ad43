"""What streams show about how much a GPU's L2 and memory carry, as values of the model."""

from __future__ import annotations

from memsim.calibration import rates
from memsim.calibration.known import Calibration
from memsim.calibration.rates import SAME
from memsim.calibration.simulated import SimulatedDevice
from memsim.calibration.walks import WalkedGPU
from memsim.trace.schema import OpKind


def take_rates(known: Calibration, device: WalkedGPU) -> None:
    """Take over the rates of L2's slices and of an SM, each if it can be separated from the other, and keep the curves.

    Args:
        device: with its L1 off.
    """
    _take_slices(known, device)
    known.rates["l2"] = rates.l2_curve(device, known.gpu)
    known.rates["dram"] = rates.dram_curve(device, known.gpu)
    _take_reply(known)


def _take_slices(known: Calibration, device: WalkedGPU) -> None:
    """What a slice takes for a sector, in cycles of L2's clock, and that clock where the base's cannot be right."""

    def measured(kind: OpKind) -> float | None:
        return known.tried(_name(kind), lambda: rates.slice_cycles(device, known.gpu, kind))

    def cycles(kind: OpKind, each: float | None) -> int | None:
        return None if each is None else known.tried(_name(kind), lambda: rates.integer_cycles(each, known.gpu))

    each = {kind: measured(kind) for kind in (OpKind.load, OpKind.atomic, OpKind.reduction)}
    _take_l2_clock(known, each[OpKind.load])
    mhz = known.gpu.l2.clock_mhz
    clock = f", L2's clock taken as {mhz:g} MHz" if mhz else ""
    of_load, of_atomic, of_reduction = (cycles(kind, took) for kind, took in each.items())
    if of_load:
        known.take({"l2.sector_cycles": of_load}, f"loads of one sector by all SMs{clock}")
    if of_atomic and of_atomic != known.gpu.l2.sector_cycles:
        known.left.append(f"atomics of one sector take {of_atomic} cycles each; the model has one number with loads")
    if of_reduction:
        known.take({"l2.partial_store_cycles": of_reduction}, f"atomics of one word by all SMs, results unused{clock}")


def _name(kind: OpKind) -> str:
    return f"{kind.name}s of one sector"


def _take_l2_clock(known: Calibration, each: float | None) -> None:
    """Take over the clock of L2 at which a load's sector takes the base's cycles, where it takes no whole number now.

    A rate shows only the ratio of cycles and clock.
    """
    if each is None:
        return
    try:
        rates.integer_cycles(each, known.gpu)
    except RuntimeError:
        own = known.gpu.l2.sector_cycles
        clock = round(known.gpu.sm.clock_mhz * own / each)
        how = f"so that a sector, one in {each:.2f} SM cycles by all SMs, takes {own} of L2's"
        known.take({"l2.clock_mhz": float(clock)}, how, "fitted")


def _take_reply(known: Calibration) -> None:
    """What one SM receives: known where two receive twice as much."""
    (_, one), (_, two), *_ = known.rates["l2"]
    if two >= 2 * one * (1 - SAME):
        how = f"one block streams {one:.1f} bytes per cycle from L2, two do twice that"
        known.take({"sm.reply_bytes_per_cycle": round(one)}, how)
    elif abs(rates.l2_rate(SimulatedDevice(known.gpu), known.gpu, 1) / one - 1) > SAME:
        known.left.append(
            f"sm.reply_bytes_per_cycle: one block streams {one:.1f} bytes per cycle from L2, two {two:.1f}"
        )


def take_clock(known: Calibration) -> bool:
    """Take over the memory's clock, where streams show another one than is known; what the driver says stays.

    Args:
        known: with the curves of :func:`take_rates`.

    Returns:
        Whether it was taken.
    """
    blocks, reached = known.rates["dram"][-1]
    if reached > known.rates["l2"][-1][1] * (1 - SAME):
        known.left.append(f"dram.clock_mhz: memory streams {reached:.1f} bytes per cycle, as fast as L2")
        return False
    clock = known.tried("dram.clock_mhz", lambda: rates.dram_clock(known.gpu, known.rates["dram"]))
    if clock is None or abs(clock / known.gpu.dram.clock_mhz - 1) <= SAME:
        return False
    if (clock_found := known.values.get("dram.clock_mhz")) and clock_found.status == "documented":
        known.left.append(
            f"dram.clock_mhz: {blocks} blocks stream {reached:.1f} bytes per cycle, as if it were {clock}"
        )
        return False
    how = f"so that {blocks} blocks stream {reached:.1f} bytes per cycle from memory"
    known.take({"dram.clock_mhz": clock}, how, "fitted")
    return True
