"""A warp scheduler's issue ports and pipes.

An SM has several schedulers with equal shares of its issue ports and of its pipes, each of which serves some classes of
instructions (Volta's and Ampere's four processing blocks: NVIDIA V100 whitepaper, WP-08608-001). A compute run is the
instructions between two memory instructions of a warp. It occupies ports and pipes, first come, first served, in exact
fractions of a cycle; nothing later can delay it, so the state of a port is the time at which it is free again.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import Any

from memsim.gpu.config import GPU
from memsim.gpu.pipes import PIPES, PIPES_OF, tensor_rate
from memsim.trace.schema import LINKS, TENSOR_TYPES

RESOLUTION = Fraction(1, 64)  # of a cycle, to which a compute run's time in a pipe is rounded up
# Classes whose latency is that of another one, where the GPU states none.
LIKE = dict.fromkeys(("guard", "operand", "multiply", "uniform"), "integer") | {"branch": "control"}


class IssueUnit:
    """The ports and pipes of one scheduler."""

    def __init__(self, gpu: GPU) -> None:
        self.sm, self.pipes, self.schedulers = gpu.sm, gpu.sm.pipes, gpu.sm.schedulers or 1
        self.port_free = Fraction(0)
        self.address_unit_free = 0
        self.pipe_free = dict.fromkeys(PIPES, Fraction(0))

    def issue(self, count: int, begun: int, critical_path: int, mix: Any, known: bool, last: str, time: int) -> int:
        """Issue a compute run from `time` on; return the cycle in which its warp continues.

        The warp continues when the last `begun` instructions have begun and all others have ended.

        Args:
            count: instructions, the last `begun` of them memory instructions or of variable latency.
            critical_path: instructions on the longest chain of dependences.
            mix: instructions of each class, and those on the critical path, if it is `known`.
            last: class of a last instruction that only has to begin; "" if there is none.
        """
        one = Fraction(self.sm.issue_cycles * self.schedulers, self.sm.issue_per_cycle)
        self.port_free = max(self.port_free, Fraction(time)) + count * one
        ends = [ceil(self.port_free - begun * one), time + (count - begun) * self.sm.issue_cycles]
        if not known:
            return max(*ends, time + critical_path * self.sm.instruction_cycles)
        for name, busy in self._pipe_cycles(mix).items():
            if busy:
                self.pipe_free[name] = max(self.pipe_free[name], Fraction(time)) + busy
                product = busy if name == "tensor" and last in ("product", "group") else Fraction(0)
                ends.append(ceil(self.pipe_free[name] - self._occupancy(last, 1).get(name, product)))
        return max(*ends, time + self._critical_path(mix))

    def generate_addresses(self, time: int) -> int:
        """Return the cycle in which the address unit takes a memory instruction that comes at `time`."""
        taken = max(time, self.address_unit_free)
        self.address_unit_free = taken + (self.sm.address_cycles or 0)
        return taken

    def _pipe_cycles(self, mix: Any) -> dict[str, Fraction]:
        """Cycles for which the instructions of a mix occupy each pipe."""
        times = dict.fromkeys(PIPES, Fraction(0))
        for each in PIPES_OF:
            for pipe, busy in self._occupancy(each, int(mix[f"count_{each}"])).items():
                times[pipe] += busy
        macs = [(int(mix[f"count_{each}"]), tensor_rate(self.pipes, each)) for each in TENSOR_TYPES]
        times["tensor"] = sum((self._rounded(work, rate) for work, rate in macs), Fraction(0))
        return times

    def _occupancy(self, each: str, count: int) -> dict[str, Fraction]:
        """Cycles for which `count` instructions of a class occupy pipes; nothing for an unknown class."""
        results = count * self.sm.warp_size
        return {pipe: self._rounded(results, getattr(self.pipes, field)) for pipe, field in PIPES_OF.get(each, ())}

    def _rounded(self, work: int, per_cycle: int | None) -> Fraction:
        return ceil(Fraction(work * self.schedulers, per_cycle) / RESOLUTION) * RESOLUTION if per_cycle else Fraction(0)

    def _critical_path(self, mix: Any) -> int:
        cycles = sum(int(mix[f"critical_{each}"]) * self.latency(each) for each in LINKS)
        if mix["stall_cycles"]:  # machine code says how long its instructions of fixed latency take
            return cycles + int(mix["stall_cycles"])
        return cycles + ((self.pipes.tensor_cycles or 0) if mix["count_tensor"] else 0)

    def latency(self, of: str) -> int:
        """Cycles from an instruction of a class (LINKS, RESULT_CLASSES of memsim.trace.schema) to one that uses it."""
        if of == "resolve":
            return self.pipes.resolve_cycles or 0
        if of == "constant":
            return self.sm.shared_latency_cycles
        names = [f"{each}_cycles" for each in (of, LIKE.get(of, of))]
        stated = [cycles for name in names if (cycles := getattr(self.pipes, name)) is not None]
        return int([*stated, self.sm.instruction_cycles][0])
