"""An autotuning run

`memsim explore` tries the choices of a kernel: all by a closed-form model, the best few by simulation. The kernel is
a matrix product of the library.
"""

import memsim

found = memsim.explore(
    "matmul", gpu="tesla-v100", vary={"rows": [4, 8, 16], "columns": [16, 32]}, n=128, keep=3, trials=2
)
for version in found.versions[:3]:
    print(version.chosen, f"{1000 * version.result.kernel_time.mean:.1f} us")
for decision in found.decisions[:1]:
    print(f"{decision.choice} decides {100 * decision.share:.0f} % of the variance; best: {decision.best}")
