"""Blocks run in batches; another thread writes the rows of a batch while the next one runs."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from memsim.gpu.presets import load_gpu
from memsim.sources.ptx import DeviceMemory, PtxLaunch, trace, trace_launch
from memsim.support.errors import InputError
from memsim.trace.writer import TraceWriter

GATHER = """.version 8.0
.target sm_80
.address_size 64
.visible .entry gather(.param .u64 x)
{
.reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<2>;
ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, 0;
more:
xor.b32 %r4, %r1, %r2; mad.lo.s32 %r4, %r3, 32, %r4; and.b32 %r4, %r4, 1023;
mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r5, [%rd3];
add.s32 %r3, %r3, 1; setp.le.u32 %p1, %r3, %r2; @%p1 bra more;
st.global.u32 [%rd3], %r5;
ret;
}
"""  # block b loads b + 1 times


def traced(folder, name):
    memory = DeviceMemory()
    launch = PtxLaunch(GATHER, "gather", (40, 1, 1), (64, 1, 1), [memory.add(np.zeros(1024, np.int32), "x")])
    return trace_launch(launch, memory, folder / name, load_gpu("a100"), "all")


def test_batches_change_no_trace(tmp_path, monkeypatch):
    few = traced(tmp_path, "few.h5")
    monkeypatch.setattr(trace, "BATCH_BYTES", 1)
    many = traced(tmp_path, "many.h5")
    assert many.digest == few.digest
    assert int(many.first_instruction[-1]) == 2 * sum(b + 3 for b in range(40))  # loads, a store, and what follows


def test_error_of_writing_thread_is_raised(tmp_path, monkeypatch):
    threads, append = [], TraceWriter.append

    def fail_at_third(self, *batch):
        threads.append(threading.current_thread())
        if len(threads) == 3:
            raise InputError("disk", "full", "make room")
        append(self, *batch)

    monkeypatch.setattr(TraceWriter, "append", fail_at_third)
    monkeypatch.setattr(trace, "BATCH_BYTES", 1)
    with pytest.raises(InputError, match="make room"):
        traced(tmp_path, "t.h5")
    assert len(threads) == 3 and threads[0] is threading.main_thread() is not threads[1]
    assert not list(tmp_path.iterdir()) and not threads[1].is_alive()
