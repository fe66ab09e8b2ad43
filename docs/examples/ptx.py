"""A kernel that Triton compiled

Triton, Numba-CUDA and NVRTC produce PTX. memsim runs it on the CPU, with arguments of your choice. Complete programs
need no such file: `memsim capture script.py`.
"""

from pathlib import Path

import memsim

ROOT = Path(memsim.__file__).resolve().parents[1]
Path("launch.py").write_text("""
import numpy as np

x = np.arange(1 << 16, dtype=np.float32)
y, out = x.copy(), np.zeros_like(x)
grid, block = (64,), (128,)
scratch = np.zeros(1)  # Triton passes two pointers for memory of its own
arguments = [x, y, out, x.size, scratch, scratch]
""")
captured = memsim.capture_ptx(ROOT / "tests/data/ptx/add.sm_80.ptx", "launch.py", gpu="a100")
result = memsim.simulate(captured.trace, trials=4)
print(result.loads)
