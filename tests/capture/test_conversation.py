"""What a process is answered: memory after launches, traces, printed text and errors."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest
from gpu_process import GpuProcess

from memsim.capture import launches, modules
from memsim.capture.faults import status_of
from memsim.capture.outcome import check_outcome
from memsim.capture.protocol import MessageKind, Payload, ProtocolError
from memsim.capture.timer import Timer
from memsim.capture.tuning import SilentTuner
from memsim.sources.ptx.failures import Fault, KernelFailure
from memsim.sources.ptx.machine.codes import Stop
from memsim.sources.ptx.module import SourcePosition
from memsim.sources.selection import CaptureSelection
from memsim.support.errors import InputError
from memsim.trace.reader import Trace

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
# y[i] = x[i] + counter, and counter grows by one for every thread.
COPY = (
    HEAD
    + """
.visible .global .align 4 .u32 counter = 7;
.visible .global .align 8 .u64 pointer = counter;
.visible .entry copy(.param .u32 n, .param .u64 .ptr .global .align 1 x, .param .u64 y)
{
 .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p;
 mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
 mad.lo.s32 %r4, %r1, %r2, %r3;
 ld.param.u32 %r5, [n];
 setp.ge.u32 %p, %r4, %r5;
 @%p bra END;
 ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y];
 mul.wide.u32 %d3, %r4, 4;
 add.s64 %d4, %d1, %d3;
 add.s64 %d5, %d2, %d3;
 ld.global.u32 %r6, [%d4];
 ld.global.u32 %r7, [counter];
 add.s32 %r6, %r6, 1;
 st.global.u32 [%d5], %r6;
 atom.global.add.u32 %r8, [counter], 1;
END:
 ret;
}
"""
)
PRINT = (
    HEAD
    + """
.extern .func (.param .b32 result) vprintf (.param .b64 form, .param .b64 arguments);
.extern .func (.param .b64 result) malloc (.param .b64 bytes);
.extern .func free (.param .b64 place);
.extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.global .align 1 .b8 form[8] = {116, 32, 37, 100, 10, 0};
.global .align 1 .b8 text[8] = {120, 32, 62, 32, 48, 0};
.visible .entry print()
{
 .local .align 8 .b8 room[8];
 .reg .b32 %r<4>; .reg .b64 %d<5>;
 mov.u32 %r1, %tid.x;
 mov.u64 %d1, room; cvta.local.u64 %d2, %d1;
 st.local.u32 [%d1], %r1;
 mov.u64 %d3, form; cvta.global.u64 %d4, %d3;
 { .param .b64 p0; .param .b64 p1; .param .b32 r;
 st.param.b64 [p0], %d4; st.param.b64 [p1], %d2;
 call.uni (r), vprintf, (p0, p1);
 ld.param.b32 %r2, [r]; }
 ret;
}
.visible .entry heap(.param .u64 out)
{
 .reg .b32 %r<4>; .reg .b64 %d<9>;
 mov.u32 %r1, %tid.x;
 { .param .b64 p0; .param .b64 r;
 st.param.b64 [p0], 64;
 call.uni (r), malloc, (p0);
 ld.param.b64 %d1, [r]; }
 st.u32 [%d1], %r1; ld.u32 %r2, [%d1];
 ld.param.u64 %d2, [out]; mul.wide.u32 %d3, %r1, 4; add.s64 %d4, %d2, %d3;
 st.global.u32 [%d4], %r2;
 { .param .b64 p0;
 st.param.b64 [p0], %d1;
 call.uni free, (p0); }
 ret;
}
.visible .entry check()
{
 .reg .b64 %d<3>;
 mov.u64 %d1, text; cvta.global.u64 %d2, %d1;
 { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
 st.param.b64 [a], %d2; st.param.b64 [b], %d2; st.param.b32 [c], 12; st.param.b64 [d], %d2; st.param.b64 [e], 1;
 call.uni __assertfail, (a, b, c, d, e); }
 ret;
}
"""
)


def copying(n: int, x: int, y: int) -> bytes:
    return struct.pack("<i4xQQ", n, x, y)


def test_traced_launch_leaves_memory_as_gpu_would(tmp_path):
    process = GpuProcess(tmp_path)
    x, y = process.allocate(np.arange(100, dtype=np.int32), "x"), process.allocate(np.zeros(100, np.int32), "y")
    process.load(COPY)
    assert process.launch("copy", copying(100, x, y), grid=4).status == 0
    assert (process.read(y, 100) == np.arange(1, 101)).all()
    assert process.read(process.variables["counter"], 1)[0] == 107
    assert process.read(process.variables["pointer"], 1, np.uint64)[0] == process.variables["counter"]


def traced(folder, **options) -> Trace:
    folder.mkdir()
    process = GpuProcess(folder, **options)
    x, y = process.allocate(np.arange(100, dtype=np.int32)), process.allocate(np.zeros(100, np.int32))
    process.load(COPY)
    process.launch("copy", copying(100, x, y), grid=4)
    return Trace.open(process.launches.traces[0].path)


def test_traces_do_not_depend_on_where_memory_lies(tmp_path):
    first = traced(tmp_path / "a")
    second = traced(tmp_path / "b", base=3 << 41, offset=4096)
    assert first.digest == second.digest
    assert [one.name for one in first.arrays] == ["argument1", "argument2", "counter"]
    assert [one.base for one in first.arrays][:2] == [1 << 28, (1 << 28) + 512]


def test_launch_with_most_accesses_is_traced(tmp_path):
    process = GpuProcess(tmp_path)
    x, y = process.allocate(np.zeros(256, np.int32)), process.allocate(np.zeros(256, np.int32))
    process.load(COPY)
    for n in (32, 256, 64, 64, 64):
        assert process.launch("copy", copying(n, x, y), grid=8).status == 0
    assert [one.counted.index for one in process.launches.traces] == [1]
    assert process.read(process.variables["counter"], 1)[0] == 7 + 32 + 256 + 3 * 64
    assert len(list(tmp_path.iterdir())) == 1


PRODUCT = """
 mov.u32 %r1, 0;
 mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r1, %r1}, {%r1}, {%r1, %r1};
"""


@pytest.mark.parametrize(("most", "product"), [(64, ""), (1024, PRODUCT)])
def test_preparation_of_a_measurement_is_cut(tmp_path, monkeypatch, most, product):
    """Launches of a function that makes measurements, outside of its benchmarks; matrix products take longer."""
    monkeypatch.setattr(launches, "MOST_PREPARED", most)
    process = GpuProcess(tmp_path)
    x, y = process.allocate(np.zeros(256, np.int32)), process.allocate(np.zeros(256, np.int32))
    process.load(COPY.replace("END:", f"{product}END:"))
    process.ask(MessageKind.benchmark, Payload().u32(0, 2))
    process.launch("copy", copying(256, x, y), grid=8)
    done = int(process.read(y, 256).sum())
    process.ask(MessageKind.benchmark, Payload().u32(1, 2))
    assert 32 <= done < 256 and done % 32 == 0
    assert "copy: launches outside do_bench" in process.launches.notes[0]
    process.launch("copy", copying(256, x, y), grid=8)
    assert process.read(y, 256).sum() == 256


def test_a_chosen_launch_is_traced(tmp_path):
    process = GpuProcess(tmp_path, CaptureSelection(launches=(2,), registers=32, to_end=True))
    x, y = process.allocate(np.zeros(64, np.int32)), process.allocate(np.zeros(64, np.int32))
    process.load(COPY)
    for _ in range(4):
        process.launch("copy", copying(64, x, y), grid=2)
    assert [one.counted.index for one in process.launches.traces] == [2]


def test_access_out_of_bounds_names_its_thread(tmp_path):
    process = GpuProcess(tmp_path, offset=1 << 19)  # memory of the host: nothing is mapped behind it
    x, y = process.allocate(np.zeros(40, np.int32), "x"), process.allocate(np.zeros(64, np.int32), "y")
    process.load(COPY)
    assert process.launch("copy", copying(64, x, y), grid=2).status == 700
    with pytest.raises(InputError) as stopped:
        check_outcome(process.launches, False, 1, True)
    assert "kernel copy: read of 4 bytes" in str(stopped.value)
    assert "thread (8,0,0) of block (1,0,0)" in str(stopped.value)
    assert "0 bytes after the allocation x of 160 bytes" in str(stopped.value)


WRONG = """
.visible .entry wrong(.param .u64 x)
{
 .reg .b32 %r<9>; .reg .b64 %d<9>; .shared .align 8 .b8 s[64];
 ld.param.u64 %d1, [x]; mov.u32 %r1, %tid.x; cvt.u64.u32 %d2, %r1; mov.u32 %r2, s; add.u32 %r2, %r2, %r1;
 ACCESS
 ret;
}
"""


@pytest.mark.parametrize("assembled", [True, False])
@pytest.mark.parametrize(
    ("access", "status", "problem"),
    [
        ("st.global.u32 [%d1+2097152], %r1;", 700, "write of 4 bytes at {x+2097152} by"),
        ("st.global.v4.u32 [%d1+2097152], {%r1, %r1, %r1, %r1};", 700, "write of 16 bytes at {x+2097152} by"),
        ("ld.global.u16 %r3, [%d1+2097152]; st.global.u32 [%d1], %r3;", 700, "read of 2 bytes at {x+2097152} by"),
        ("red.global.add.u32 [%d1+2097152], %r1;", 700, "atomic of 4 bytes at {x+2097152} by"),
        ("atom.global.add.u64 %d3, [%d1+2097152], %d2; st.global.u64 [%d1], %d3;", 700, "atomic of 8 bytes at"),
        ("st.global.u32 [%d1+2], %r1;", 716, "write of 4 bytes at {x+2} by"),
        ("st.shared.u8 [%r2+1048576], %r1;", 700, "write of 1 bytes at 0x100000 of shared memory by"),
    ],
)
def test_faults_have_kind_and_width(tmp_path, monkeypatch, assembled, access, status, problem):
    """As the PTX states them, whether its machine code runs or the PTX itself."""
    if not assembled:
        monkeypatch.setattr(modules, "kernel_for", lambda *_: "not assembled")
    process = GpuProcess(tmp_path)
    x = process.allocate(np.zeros(16, np.int32), "x")
    process.load(HEAD + WRONG.replace("ACCESS", access))
    assert process.launch("wrong", struct.pack("<Q", x)).status == status
    for offset in (2, 2097152):
        problem = problem.replace(f"{{x+{offset}}}", hex(x + offset))
    assert f"program: kernel wrong: {problem}" in str(process.launches.failures[0])


def test_use_after_free_names_the_freed_allocation(tmp_path):
    process = GpuProcess(tmp_path)
    x, y = process.allocate(np.zeros(64, np.int32), "x"), process.allocate(np.zeros(64, np.int32), "y")
    process.load(COPY)
    process.free(x)
    assert process.launch("copy", copying(64, x, y), grid=2).status == 700
    assert str(process.launches.failures[0]).endswith("0 bytes inside the allocation x of 256 bytes, which was freed")


def test_null_pointers_are_near_to_no_allocation(tmp_path):
    process = GpuProcess(tmp_path)
    y = process.allocate(np.zeros(64, np.int32), "y")
    process.load(COPY)
    assert process.launch("copy", copying(64, 0, y), grid=2).status == 700
    assert str(process.launches.failures[0]).endswith("is out of bounds")


@pytest.mark.parametrize("stop", [Stop.endless, Stop.spinning, Stop.deadlock])
def test_kernels_without_end_are_launch_timeouts(stop):
    fault = Fault(stop, "BRA", SourcePosition(), (0, 0, 0), (0, 0, 0), "", 0)
    assert status_of(KernelFailure("program", "kernel wait:", fault.problem, fault)) == 702


UNDEFINED = """
.extern .func _Z1fi (.param .b32 n);
.visible .entry k()
{
 .reg .b32 %r<3>;
 mov.u32 %r1, %tid.x;
 { .param .b32 given; st.param.b32 [given], %r1; call.uni _Z1fi, (given); }
 ret;
}
"""


def test_an_undefined_device_function_is_named(tmp_path):
    process = GpuProcess(tmp_path)
    process.load(HEAD + UNDEFINED)
    assert process.launch("k", b"").status == 719
    assert str(process.launches.failures[0]) == (
        "program: kernel k cannot run: PTX line 10: call.uni needs f(int), which no file defines; give all source files"
    )


def test_kernels_print_in_the_order_of_threads(tmp_path):
    process = GpuProcess(tmp_path)
    process.load(PRINT)
    reply = process.launch("print", b"", grid=1, block=3)
    assert process.printed(reply) == b"t 0\nt 1\nt 2\n"


def test_kernels_allocate_from_a_heap(tmp_path):
    process = GpuProcess(tmp_path)
    process.load(PRINT)
    out = process.allocate(np.zeros(8, np.int32))
    assert process.launch("heap", struct.pack("<Q", out), block=8).status == 0
    assert (process.read(out, 8) == np.arange(8)).all()


def test_failed_assertion_is_error_710_with_cudas_message(tmp_path):
    process = GpuProcess(tmp_path)
    process.load(PRINT)
    assert process.launch("check", b"", block=1).status == 710
    stopped = str(process.launches.failures[0])
    assert "x > 0:12: x > 0: block: [0,0,0], thread: [0,0,0] Assertion `x > 0` failed" in stopped


def test_ptx_that_is_damaged_is_refused_with_reason(tmp_path):
    reply = GpuProcess(tmp_path).load(HEAD + ".visible .entry k( { ret; }")
    assert reply.status == 218 and b"PTX" in reply.payload


def tuned(process: GpuProcess, report: object) -> None:
    process.ask(MessageKind.tuned, Payload().text(json.dumps(report)))


def timed_copy(process: GpuProcess, n: int) -> None:
    """A benchmark of one launch, which copies n numbers."""
    x, y = process.allocate(np.zeros(n, np.int32)), process.allocate(np.zeros(n, np.int32))
    process.ask(MessageKind.benchmark, Payload().u32(0, 1))
    process.launch("copy", copying(n, x, y), grid=n // 32)
    process.ask(MessageKind.benchmark, Payload().u32(1, 0))


def test_a_tuned_kernel_has_its_benchmarks_traces(tmp_path):
    timer = Timer(lambda trace, flushed: float(trace.n_blocks), ("1x", "all"), tmp_path, until="copy".__eq__)
    process = GpuProcess(tmp_path, CaptureSelection(launches=(), registers=32), timer=timer)
    process.load(COPY)
    timed_copy(process, 64)
    timed_copy(process, 128)
    assert not process.server.is_done
    failed = {"chosen": {"N": 8}, "reason": "too small"}
    configurations = [{"chosen": {"N": 128}, "benchmark": 1}, {"chosen": {"N": 64}, "benchmark": 0}, failed]
    tuned(process, {"kernel": "copy", "configurations": configurations})
    assert process.server.is_done and process.launches.traces == []
    best = "copy tuned for rtx4090, 2 configurations simulated: N: 64 takes 2 ms; N: 128 takes 2.00 times as long"
    assert process.launches.notes == [best]
    first, second, third = timer.tuned[0].configurations
    assert [Trace.open(one).n_blocks for one in first.launches[0].traces] == [4, 4]
    assert second.milliseconds == 2 and (third.launches, third.reason) == ((), "too small")


def test_a_tuner_that_reports_nothing_ends_the_program(tmp_path):
    timer = Timer(lambda trace, flushed: 1.0, until="copy".__eq__)
    process = GpuProcess(tmp_path, timer=timer)
    tuned(process, {"unreported": "Triton 3.7.0"})
    assert process.server.is_done and timer.tuned == [SilentTuner("Triton 3.7.0")]


@pytest.mark.parametrize(
    "report",
    [
        7,
        {"kernel": "copy"},
        {"kernel": "copy", "configurations": [{"chosen": {}, "benchmark": 3}]},
        {"kernel": "copy", "configurations": [{"chosen": 7, "reason": ""}]},
    ],
)
def test_a_report_that_makes_no_sense_is_refused(tmp_path, report):
    with pytest.raises(ProtocolError, match="a tuner's report is invalid"):
        tuned(GpuProcess(tmp_path), report)
