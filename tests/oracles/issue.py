"""One scheduler of an SM: issue ports and pipes that serve one gap after the other, in exact fractions of a cycle."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from memsim.gpu.config import GPU
from memsim.trace.schema import INSTRUCTION_CLASSES, LINKS, TENSOR_TYPES

TICK = Fraction(1, 64)  # of a cycle, to which a gap's time in a pipe is rounded up


class Scheduler:
    def __init__(self, gpu: GPU) -> None:
        self.gpu, self.share = gpu, gpu.sm.schedulers or 1
        self.port = Fraction(0)
        self.address_unit = 0  # when it can take the next access
        self.pipes = dict.fromkeys([*INSTRUCTION_CLASSES, "tensor"], Fraction(0))

    def issue(self, count: int, begun: int, chain: int, mix, known: int, own: str, time: int) -> int:
        """When `count` instructions, `chain` of them dependent, that begin at `time` let their warp go on.

        It does when the last `begun` have begun and all others ended. One of class `own` is the last, if there is one.
        """
        sm = self.gpu.sm
        one = Fraction(sm.issue_cycles * self.share, sm.issue_per_cycle)
        self.port = max(self.port, Fraction(time)) + count * one
        ends = [ceil(self.port - begun * one), time + (count - begun) * sm.issue_cycles]
        if not known:
            return max(*ends, time + chain * sm.instruction_cycles)
        for name, busy in self.busy(mix).items():
            if busy:
                self.pipes[name] = max(self.pipes[name], Fraction(time)) + busy
                one = self.ticks(sm.warp_size, getattr(sm.pipes, f"{name}_lanes")) if name == own else 0
                ends.append(ceil(self.pipes[name] - one))
        return max(*ends, time + self.chain(mix))

    def address(self, time: int) -> int:
        """When the address unit has a turn for an access of a gap that begins at `time`."""
        taken = max(time, self.address_unit)
        self.address_unit = taken + self.gpu.sm.address_cycles
        return taken

    def busy(self, mix) -> dict[str, Fraction]:
        """Cycles that the instructions of a mix take in each pipe."""
        times = {}
        for each in INSTRUCTION_CLASSES:
            lanes = getattr(self.gpu.sm.pipes, f"{each}_lanes")
            times[each] = self.ticks(int(mix[f"count_{each}"]) * self.gpu.sm.warp_size, lanes)
        rates = {each: getattr(self.gpu.sm.pipes, f"{each}_macs") for each in TENSOR_TYPES}
        times["tensor"] = sum(self.ticks(int(mix[f"count_{each}"]), rate) for each, rate in rates.items())
        return times

    def ticks(self, work: int, per_cycle: int | None) -> Fraction:
        return ceil(Fraction(work * self.share, per_cycle) / TICK) * TICK if per_cycle else Fraction(0)

    def chain(self, mix) -> int:
        pipes, cycles = self.gpu.sm.pipes, 0
        for each in LINKS:
            link = getattr(pipes, f"{each}_cycles")
            if link is None and each in ("guard", "operand"):
                link = pipes.integer_cycles
            if link is None and each == "branch":
                link = pipes.control_cycles
            cycles += int(mix[f"chain_{each}"]) * (self.gpu.sm.instruction_cycles if link is None else link)
        if mix["stall_cycles"]:  # of machine code
            return cycles + int(mix["stall_cycles"])
        return cycles + ((pipes.tensor_cycles or 0) if mix["count_tensor"] else 0)

    def latency(self, result: str) -> int:
        """Cycles from an instruction of variable latency to one that uses its result."""
        sm = self.gpu.sm
        cycles = sm.shared_latency_cycles if result == "constant" else getattr(sm.pipes, f"{result}_cycles")
        return sm.instruction_cycles if cycles is None else cycles
