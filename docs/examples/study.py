"""A study

Every point of a design, with common random numbers: SpMV on a Tesla C2050 with two sizes of L1 and two lengths of
rows.
"""

from subprocess import run

import memsim

study = memsim.Study(
    gpus=["tesla-c2050"],
    trials=4,
    kernels={"spmv": {"workload": "spmv", "parameters": {"rows": 4096}}},
    vary={"l1.size_bytes": [16384, 49152], "workload.nnz_per_row": [8, 32]},
    follow={"l1.ways": "l1.size_bytes // (l1.line_bytes * 32)"},
)
study.run("study.h5")
print(run(["memsim", "show", "study.h5"], capture_output=True, text=True).stdout)
