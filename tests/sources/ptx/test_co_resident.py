"""Blocks that wait for later blocks without a cooperative launch, as they may where all are resident."""

from __future__ import annotations

import numpy as np
import pytest

from memsim.gpu.presets import load_gpu
from memsim.sources.ptx import DeviceMemory, PtxLaunch, execute
from memsim.sources.ptx.trace import trace_launch
from memsim.support.errors import InputError

BLOCKS, THREADS = 5, 64
# Each block keeps its number in a register, in shared and in local memory, then waits until the next block has set its
# flag, and stores the sum; the last block waits for nobody.
WAITS = {
    "atomic": "atom.global.add.u32 %r5, [%rd4+4], 0;",
    "volatile": "ld.volatile.global.u32 %r5, [%rd4+4];",
}
KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 flags, .param .u64 out)
{{
.local .align 4 .b8 kept[4];
.shared .align 4 .b8 word[256];
.reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<16>;
ld.param.u64 %rd1, [flags]; ld.param.u64 %rd2, [out];
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mov.u32 %r3, %ntid.x;
mad.lo.s32 %r4, %r1, %r3, %r2;
mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3;
mul.wide.u32 %rd5, %r4, 4; add.s64 %rd6, %rd2, %rd5;
mov.u32 %r8, word; shl.b32 %r9, %r2, 2; add.u32 %r8, %r8, %r9;
st.shared.u32 [%r8], %r4; st.local.u32 [kept], %r4;
bar.sync 0;
setp.eq.u32 %p1, %r1, {last};
@%p1 bra SET;
WAIT:
{wait}
setp.eq.u32 %p2, %r5, 0;
@%p2 bra WAIT;
SET:
bar.sync 0;
mov.b32 %r6, 1; st.global.u32 [%rd4], %r6;
ld.shared.u32 %r10, [%r8]; ld.local.u32 %r11, [kept];
add.u32 %r7, %r10, %r11; add.u32 %r7, %r7, %r4;
st.global.u32 [%rd6], %r7;
ret;
}}
"""


def _launch(wait: str, last: int = BLOCKS - 1) -> tuple[PtxLaunch, DeviceMemory, np.ndarray]:
    flags, out, memory = np.zeros(BLOCKS + 1, np.uint32), np.zeros(BLOCKS * THREADS, np.uint32), DeviceMemory()
    arguments = [memory.add(flags, "flags"), memory.add(out, "out")]
    text = KERNEL.format(wait=WAITS[wait], last=last)
    return PtxLaunch(text, "k", (BLOCKS, 1, 1), (THREADS, 1, 1), arguments), memory, out


@pytest.mark.parametrize("wait", WAITS)
def test_block_waits_for_a_later_block(wait):
    launch, memory, out = _launch(wait)
    execute(launch, memory)
    assert out.tolist() == [3 * k for k in range(BLOCKS * THREADS)]


@pytest.mark.parametrize("wait", WAITS)
def test_trace_has_all_blocks_that_waited(wait, tmp_path):
    launch, memory, out = _launch(wait)
    trace = trace_launch(launch, memory, tmp_path / "t.h5", load_gpu("tesla-v100"), blocks="0:1", check=True)
    assert trace.n_blocks == BLOCKS
    assert out.tolist() == [3 * k for k in range(BLOCKS * THREADS)]


def test_change_that_no_block_makes_is_an_error():
    launch, memory, _ = _launch("atomic", last=BLOCKS + 1)
    with pytest.raises(InputError, match="waits for a change that no other block makes"):
        execute(launch, memory)
