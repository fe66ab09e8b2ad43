"""The timeline of a profiled program: its launches with their predicted times, its copies, and where its host waits."""

from __future__ import annotations

from memsim.analysis.program import ProgramResult
from memsim.gpu.config import GPU, gpu_from_dict
from memsim.gpu.presets import override
from memsim.host.program import Direction, HostProgram, KernelWork, Stream
from memsim.host.system import simulate
from memsim.host.timeline import Timeline

MOST_ACTIVITIES = 600  # of a timeline, the first ones: more cannot be distinguished in a picture
_LEGACY = 1  # number of the default stream
# Where a preset does not state them; memsim's CUDA runtime assumes the same (memsim/capture/properties.py).
_ASSUMED: dict[str, float] = {
    "call_us": 2.5, "launch_us": 2.5, "copy_us": 1.5, "to_gpu_gb_per_s": 24.0, "to_host_gb_per_s": 24.0,
    "copy_engines": 2, "concurrent_kernels": 128,
}  # fmt: skip


def profiled_timeline(result: ProgramResult) -> tuple[Timeline, str]:
    """What happens when: a row for the host's thread and one for each stream.

    Copies are taken to be of pinned memory. What the host computes between its calls is not known and left out.

    Returns:
        The timeline, empty where the file has no activities, and what it rests on, in words.
    """
    gpu, assumed = _with_host(gpu_from_dict(result.groups[0].first.trials.about["gpu"], "profile"))
    activities = result.about["activities"]
    program, streams = HostProgram(), dict[int, Stream]()
    streams[_LEGACY] = program.streams[0]
    labels, seen = result.labels(), set[int]()
    for kind, number, value in activities[:MOST_ACTIVITIES]:
        if number not in streams:
            streams[number] = program.stream(f"stream {number}")
        stream = streams[number]
        if kind == "launch":
            group = result.groups[value]
            work = KernelWork.of(group.first if value not in seen else group.typical)
            seen.add(value)
            program.kernel(labels[value], work, stream)
        elif kind in ("to_gpu", "to_host"):
            program.copy(value, Direction(kind), stream)
        elif kind in ("fill", "on_gpu"):
            program.kernel("fill" if kind == "fill" else "copy on GPU", _on_device(value, gpu, kind), stream)
        else:
            program.synchronize(None if kind == "wait_device" else stream)
    notes = [f"the first {MOST_ACTIVITIES:,} of {len(activities):,} activities"] * (len(activities) > MOST_ACTIVITIES)
    notes += [f"copies take typical times, as {gpu.name} states no {', '.join(assumed)}"] * bool(assumed)
    return simulate(program, gpu), "; ".join(notes)


def _with_host(gpu: GPU) -> tuple[GPU, list[str]]:
    """The GPU with assumed figures where it states none, and which these are."""
    missing = [name for name in _ASSUMED if getattr(gpu.host, name) is None]
    return override(gpu, {f"host.{name}": _ASSUMED[name] for name in missing}), [f"host.{name}" for name in missing]


def _on_device(nbytes: int, gpu: GPU, kind: str) -> KernelWork:
    """A fill or a copy within the GPU, at the rate of DRAM's data bus; a copy reads and writes."""
    bytes_per_us = gpu.dram.channels * 32 * gpu.dram.clock_mhz / gpu.dram.timing.burst
    return KernelWork(1, 1, nbytes * (2 if kind == "on_gpu" else 1) / bytes_per_us)
