"""The paper's worked example, from its kernel's trace through everything that ``memsim estimate`` does."""

from __future__ import annotations

import math
from pathlib import Path
from tempfile import TemporaryDirectory

import memsim
from experiments.hong_kim2009.kernels import table_2
from memsim.models.estimate import Estimate
from memsim.models.mwp_cwp import bandwidth_per_warp, execution_cycles, mwp_peak_bandwidth, synchronisation_cycles

# Section 3.6: the FX5600's SMs at 1 GHz, with 80 GB/s.
SYSTEM = {"sm.clock_mhz": 1000.0, "dram.channels": 5, "dram.clock_mhz": 1000.0}
PRINTED = {
    "#Active_warps_per_SM": 20, "#Comp_insts": 27, "#Uncoal_Mem_insts": 6, "#Synch_insts": 6, "#Uncoal_per_mw": 32,
    "Departure_delay": 320, "Mem_L": 730, "MWP_without_BW_full": 2.28, "BW_per_warp": 0.175, "MWP_peak_BW": 28.57,
    "MWP": 2.28, "Comp_cycles": 132, "Mem_cycles": 4380, "CWP_full": 34.18, "CWP": 20, "#Rep": 1,
    "Exec_cycles_app": 38450, "Synch_cost": 12288, "Final time": 50738,
}  # fmt: skip


def estimated() -> Estimate:
    """The example's estimate."""
    with TemporaryDirectory() as folder:
        trace = memsim.trace(table_2, out=Path(folder, "example.h5"), blocks="all")
        return memsim.estimate(trace, gpu="quadro-fx5600", settings=SYSTEM)


def as_printed(done: Estimate) -> dict[str, float]:
    """Every row of table 2, rounded where the paper rounds: MWP and BW_per_warp before they are used."""
    said, kernel, machine = done.prediction, done.kernel, done.machine
    mwp = round(said.mwp, 2)
    per_warp = round(bandwidth_per_warp(machine.clock_mhz, kernel.load_bytes_per_warp, said.mem_l), 3)
    cycles = execution_cycles(
        said.case, mwp, said.n, said.mem_l, said.mem_cycles, said.comp_cycles, kernel.mem_insts
    )  # fmt: skip
    synch = synchronisation_cycles(said.departure_delay, mwp, kernel.synch_insts, kernel.active_blocks_per_sm)
    return {
        "#Active_warps_per_SM": said.n, "#Comp_insts": kernel.comp_insts, "#Uncoal_Mem_insts": kernel.uncoal_mem_insts,
        "#Synch_insts": kernel.synch_insts, "#Uncoal_per_mw": kernel.uncoal_per_mw,
        "Departure_delay": said.departure_delay, "Mem_L": said.mem_l,
        "MWP_without_BW_full": round(said.mwp_without_bw_full, 2), "BW_per_warp": per_warp,
        "MWP_peak_BW": round(mwp_peak_bandwidth(machine.bandwidth_gb_per_s, per_warp, machine.sms), 2), "MWP": mwp,
        "Comp_cycles": said.comp_cycles, "Mem_cycles": said.mem_cycles, "CWP_full": round(said.cwp_full, 2),
        "CWP": said.cwp, "#Rep": said.rep, "Exec_cycles_app": math.ceil(cycles), "Synch_cost": round(synch, 6),
        "Final time": math.ceil(cycles) + round(synch, 6),
    }  # fmt: skip
