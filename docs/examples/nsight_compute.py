"""A comparison with Nsight Compute

`memsim compare --ncu` takes a report of the profiler. Here the report holds counters of Parboil's mri-q
(`ComputeQ_GPU`) on a Quadro GV100, which the Accel-Sim project published; a smaller launch of the same kernel is
simulated, so counts differ and ratios do not.
"""

from pathlib import Path

import memsim
from memsim.measured import compare_with_report

Path("ncu.csv").write_text(
    '"ID","Kernel Name","Block Size","Grid Size","Metric Name","Metric Unit","Metric Value"\n'
    '"0","add_samples","(256, 1, 1)","(1024, 1, 1)","l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct","%","0"\n'
    '"0","add_samples","(256, 1, 1)","(1024, 1, 1)","lts__t_sector_op_write_hit_rate.pct","%","100"\n'
)
result = memsim.simulate(memsim.trace("mri_q", gpu="quadro-gv100", voxels=1 << 14, samples=16), trials=2)
for line in compare_with_report(result, "ncu.csv").lines:
    print(f"{line.metric.name}: measured {line.measured:.1f}, simulated {line.metric.values.mean:.1f}")
