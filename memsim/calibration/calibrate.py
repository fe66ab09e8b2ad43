"""Measures a GPU's preset: its driver's properties, what pointer chases find, and the nearest preset for the rest."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from memsim.calibration.known import Calibration
from memsim.calibration.measure import measure
from memsim.calibration.probed_gpu import ProbedGPU, Properties
from memsim.gpu import board as boards

_FIELDS = {
    "sm.count": "sms", "sm.max_threads": "threads", "sm.max_blocks": "blocks", "sm.registers": "registers",
    "sm.shared_bytes": "shared_bytes",
}  # fmt: skip


def calibrate_gpu(
    probed: ProbedGPU, base: str | None, curve_file: str, progress: Callable[[str], None]
) -> tuple[str, Calibration]:
    """Measure a GPU; an interrupt ends the measurement and keeps what has been found.

    Args:
        base: preset or path that states the rest; None: the newest preset that is no newer than the GPU.
        curve_file: where the curve goes, as sources name it.
        progress: called with what is measured next.

    Returns:
        The GPU's name, and what was found.

    Raises:
        InputError: no GPU responds, or its driver reports impossible properties.
    """
    device = probed.properties()
    source = f"memsim calibrate, {device.name}, {date.today().isoformat()}, {curve_file}"
    known = Calibration(base or boards.nearest(device.capability), source)
    _take_properties(known, device)
    try:
        _take_launch(known, probed)
        measure(probed, known, progress)
    except KeyboardInterrupt:
        known.interrupted = True
        known.left.append("interrupted: the rest was not measured")
    return device.name, known


def _take_launch(known: Calibration, probed: ProbedGPU) -> None:
    cycles = round(probed.launch_ns() * known.gpu.sm.clock_mhz / 1000)
    how = "from one empty kernel to the next, of a thousand launched one after the other"
    known.take({"launch.idle_cycles": cycles}, how)
    known.take({"launch.active_cycles": 0}, "counted within idle_cycles", "assumed")


def _take_properties(known: Calibration, device: Properties) -> None:
    numbers = device.numbers
    stated = {field: numbers[name] for field, name in _FIELDS.items()}
    stated["sm.max_warps"] = numbers["threads"] // numbers["warp"]
    how = "what the driver says"
    known.take(
        {"compute_capability": device.capability, "sm.clock_mhz": numbers["clock_khz"] / 1000}, how, "documented"
    )
    known.take(stated, how, "documented")
    known.take({"l2.size_bytes": numbers["l2_bytes"]}, how, "documented")
    memory = boards.memory_bus(known.gpu, numbers["bus_bits"], numbers["memory_khz"])
    if memory is None:
        known.left.append(f"dram: a bus of {numbers['bus_bits']} bits is no {known.gpu.dram.kind}; give another --base")
    else:
        known.take(memory, f"{how}: {numbers['bus_bits']} bits, two a clock of the memory", "documented")
