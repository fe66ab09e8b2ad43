"""A warp that diverges at a branch, in PTX: its head, paths that take long, and its trace."""

import numpy as np

from memsim.gpu.presets import load_gpu
from memsim.sources.ptx import DeviceMemory, PtxLaunch, trace_launch

HEAD = """.version 8.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 x, .param .u32 limit)
{
.reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;
.shared .align 4 .b8 s[256];
ld.param.u64 %rd1, [x]; ld.param.u32 %r9, [limit]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd3, %rd1, %rd2; setp.ge.u32 %p1, %r1, %r9; mov.u32 %r2, 0; st.shared.u32 [%r2], %r2;
"""
STEPS = 200


def chase(name: str) -> str:
    """A loop of loads of shared memory, each of which brings the next one's address."""
    return f"""mov.u32 %r3, 0; $loop{name}: ld.shared.u32 %r2, [%r2]; add.u32 %r3, %r3, 1;
    setp.lt.u32 %p2, %r3, {STEPS}; @%p2 bra $loop{name}; st.global.u32 [%rd3], %r2;"""


LONG = f"@%p1 bra $other; {chase('a')} bra $end; $other: {chase('b')} $end: bar.sync 0;"


def traced(body: str, tmp_path, limit: int = 20, gpu: str = "tesla-v100"):
    """The trace of a warp whose first `limit` threads go one way."""
    memory = DeviceMemory()
    launch = PtxLaunch(
        f"{HEAD}{body}\nret;\n}}\n", "k", (1, 1, 1), (32, 1, 1), [memory.add(np.zeros(32, np.uint32), "x"), limit]
    )
    return trace_launch(launch, memory, tmp_path / f"{limit}.h5", load_gpu(gpu), "all")
