"""What closed-form models say of a kernel, from its trace: occupancy, MWP/CWP and CuMAPz."""

from __future__ import annotations

from dataclasses import dataclass

from memsim.gpu.config import GPU
from memsim.gpu.occupancy import Occupancy, occupancy
from memsim.models.counts import count_instructions
from memsim.models.cumapz.traced import Traced, estimate_trace
from memsim.models.kernel_counts import TraceCounts, kernel_of
from memsim.models.machine import machine_of
from memsim.models.mwp_cwp import AnalyticKernel, AnalyticMachine, Prediction, predict
from memsim.support.errors import InputError
from memsim.trace.reader import Trace


@dataclass(frozen=True)
class Estimate:
    """What the models say of one kernel on one GPU.

    Attributes:
        occupancy: what one SM holds, and what limits it.
        counts: instructions of the traced warps.
        machine, kernel: what the MWP/CWP model was given.
        prediction: what it says.
        cumapz: the factors of its use of shared and global memory.
    """

    trace: Trace
    gpu: GPU
    occupancy: Occupancy
    counts: TraceCounts
    machine: AnalyticMachine
    kernel: AnalyticKernel
    prediction: Prediction
    cumapz: Traced

    @property
    def milliseconds(self) -> float:
        """Time of the whole launch."""
        return self.prediction.cycles / self.machine.clock_mhz / 1000


def estimate(trace: Trace, gpu: GPU) -> Estimate:
    """Estimate the time of a traced kernel on a GPU: of the whole launch, whose warps are taken to be like the traced.

    Raises:
        InputError: a block that fits no SM, a trace without instructions or for another warp size.
    """
    launch = trace.launch
    held = occupancy(gpu, launch.threads_per_block, launch.registers, launch.shared_bytes)
    counts = count_instructions(trace, gpu)
    if not counts.comp_insts + counts.mem_insts:
        raise InputError(trace.path, "instructions", "are missing; give a trace of a kernel that executes some")
    machine = machine_of(gpu)
    active = min(held.blocks, -(-launch.n_blocks // machine.sms))
    kernel = kernel_of(counts, held.warps_per_block, launch.n_blocks, active)
    factors = estimate_trace(trace, gpu, held)
    return Estimate(trace, gpu, held, counts, machine, kernel, predict(machine, kernel), factors)
