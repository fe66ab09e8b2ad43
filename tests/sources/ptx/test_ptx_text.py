"""PTX that is cut, wrong or hostile ends in one line that names where; nothing hangs."""

from __future__ import annotations

import signal

import numpy as np
import pytest
from places import ROOT

from memsim.gpu.presets import load_gpu
from memsim.sources.ptx import DeviceMemory, PtxLaunch, execute, trace_launch
from memsim.sources.ptx.text import parse
from memsim.support.errors import InputError

PTX = ROOT / "tests" / "data" / "ptx"
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def kernel(body: str, parameters: str = ".param .u64 out") -> str:
    registers = ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .f32 %f<8>;"
    return f"{HEAD}.visible .entry k({parameters})\n{{\n{registers}\n{body}\n}}\n"


def run(body: str, *, grid: int = 1, block: int = 32, **more) -> np.ndarray:
    out, memory = np.zeros(1024, np.uint32), DeviceMemory()
    launch = PtxLaunch(kernel(body), "k", (grid, 1, 1), (block, 1, 1), [memory.add(out, "out")], **more)
    execute(launch, memory)
    return out


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("frobnicate.b32 %r1, %r2;", r"ptx:\d+: frobnicate.b32 is an instruction that memsim does not support"),
        ("add.s32 %r1, %r99, 1;", "%r99, which memsim does not support"),
        ("add.s32 %r1, %r2;", "has 2 operands; it takes 3"),
        ("bra nowhere;", "nowhere is a branch target but is not defined"),
        ("mov.u64 %rd1, missing;", "missing, which is not declared"),
        ("ld.global.b32 %r1, [%rd1];", r"kernel k: read of 4 bytes at 0x0 by thread \(0,0,0\) of block"),
        ("mov.u64 %rd1, 268435458; ld.global.b32 %r1, [%rd1];", "at 0x10000002 by thread .* is misaligned"),
        ("ld.global.b128 %r1, [%rd1];", "elements of 128 bits"),
        ("trap;", "the kernel ends itself here"),
        ("setp.frob.s32 %p1, %r1, 0;", "compares in a way"),
        ("mov.u32 %r1, %tid.x; setp.lt.s32 %p1, %r1, 4; @%p1 bar.sync 0; @!%p1 bra E; E: ret;", None),
        ("mov.u32 %r1, %tid.x; setp.lt.s32 %p1, %r1, 4; @%p1 bra A; bar.sync 0; ret; A: bar.sync 0;", None),
        (
            "mov.u32 %r1, %tid.x; setp.lt.s32 %p1, %r1, 4; @%p1 bra A; bar.sync 0; ret; A: bar.sync 1;",
            "all must reach the same one",
        ),
        ("call f, ();", "needs f, which no file defines"),
        ("call __cudaCDP2GetParameterBufferV2, ();", "launches kernels from the device"),
        ("{ .reg .b32 %r77; ", "ends too early"),
        (".reg .b32 %x<99999999>;", "declares 99999999 registers"),
        (".shared .b8 s[99999999999];", "bytes; at most"),
        (".local .b8 s[9999999];", "bytes of local memory; at most"),
    ],
)
def test_one_line_says_what_is_wrong(body, message):
    if message is None:
        run(body)
        return
    with pytest.raises(InputError, match=message) as caught:
        run(body)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("access", ["ld.global.b32 %r2, [%rd3];", "st.global.b32 [%rd3], %r2;"])
@pytest.mark.parametrize("missing", [0, 2])
def test_an_access_ends_within_its_array(access, missing):
    """Each lane's word; of the last one's, two bytes may be missing."""
    memory = DeviceMemory()
    address = memory.add(np.zeros(128 - missing, np.uint8), "out")
    body = (
        f"ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; {access}"
    )
    launch = PtxLaunch(kernel(body), "k", (1, 1, 1), (32, 1, 1), [address])
    if not missing:
        execute(launch, memory)
        return
    kind = "read" if access.startswith("ld") else "write"
    with pytest.raises(InputError, match=rf"{kind} of 4 bytes at {hex(address + 124)} by thread \(31,0,0\)"):
        execute(launch, memory)


def test_an_endless_loop_ends(monkeypatch):
    monkeypatch.setattr("memsim.sources.ptx.device.MOST_STEPS", 1 << 12)
    with pytest.raises(InputError, match="does not end"):
        run("A: add.s32 %r1, %r1, 1; bra A;")


def test_signals_are_heard_in_a_long_kernel():
    """A warp executes 2 ** 28 instructions until it is said not to end; a signal comes long before."""

    def hear(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, hear)
    run("ret;")  # loads the machine's loop
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.3)
    try:
        with pytest.raises(TimeoutError):
            run("A: add.s32 %r1, %r1, 1; bra A;")
    finally:
        signal.signal(signal.SIGVTALRM, before)


def test_a_lock_that_no_block_releases_is_refused():
    """Each block waits until three have counted; the grid has two."""
    body = """
    ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; setp.ne.s32 %p1, %r1, 0; @%p1 bra E;
    atom.global.add.u32 %r2, [%rd1], 1;
    A: atom.global.or.b32 %r3, [%rd1], 0; setp.lt.u32 %p2, %r3, 3; @%p2 bra A;
    E: ret;"""
    with pytest.raises(InputError, match="waits for a change that no other block makes"):
        run(body, grid=2)


def test_a_lock_inside_a_block_is_passed_on():
    """Two warps take turns by a ticket that the other one hands on."""
    body = """
    .shared .align 4 .b8 turn[4];
    ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; xor.b32 %r4, %r2, 1;
    A: atom.shared.or.b32 %r3, [turn], 0; setp.ne.u32 %p1, %r3, %r4; @%p1 bra A;
    st.global.b32 [%rd1], %r2; add.s32 %r5, %r3, 1; st.shared.b32 [turn], %r5; ret;"""
    assert run(body, block=64)[0] == 0


@pytest.mark.parametrize("extents", [{"grid": (0, 1, 1)}, {"block": (2000, 1, 1)}, {"cluster": (3, 1, 1)}])
def test_extents_are_checked(extents):
    memory = DeviceMemory()
    given = {"grid": (2, 1, 1), "block": (32, 1, 1)} | extents
    launch = PtxLaunch(kernel("ret;"), "k", arguments=[memory.add(np.zeros(4))], **given)
    with pytest.raises(InputError, match=next(iter(extents))):
        execute(launch, memory)


def test_arguments_are_checked():
    launch = PtxLaunch(kernel("ret;"), "k", (1, 1, 1), (32, 1, 1), [1, 2])
    with pytest.raises(InputError, match="arguments are 2; k takes 1"):
        execute(launch, DeviceMemory())
    with pytest.raises(InputError, match="other is not a kernel of it"):
        execute(PtxLaunch(kernel("ret;"), "other", (1, 1, 1), (1, 1, 1), [1]), DeviceMemory())


@pytest.mark.parametrize("name", ["add.sm_80.ptx", "cuda_kernels.sm_90.ptx", "persistent_tma.sm_90.ptx"])
def test_text_cut_anywhere_gives_one_line_or_parses(name):
    text = (PTX / name).read_text()
    for cut in range(0, len(text), len(text) // 60):
        try:
            parse(text[:cut], name)
        except InputError as error:
            assert "\n" not in str(error)


def test_directives_may_share_a_line():
    text = kernel(".loc 1 7 3, function_name $name+4, inlined_at 1 9 5 mov.u32 %r1, %r2; .loc 1 8 1 ret;")
    text = text.replace(".visible", '.file 1 "k.cu", 1700000000, 99 .visible')
    apart, joined = parse(text, "ptx"), parse(text.replace("\n", " "), "ptx")
    assert joined.target == apart.target == "sm_80" and joined.files == {1: "k.cu"}
    first, last = joined.functions["k"].body
    assert [one.opcode for one in (first, last)] == [("mov", "u32"), ("ret",)]
    assert (first.position.line, first.position.caller.line, last.position.line) == (7, 9, 8)


def test_nothing_is_left_of_a_trace_that_fails(tmp_path):
    out, memory = tmp_path / "t.h5", DeviceMemory()
    launch = PtxLaunch(kernel("ld.global.b32 %r1, [%rd1];"), "k", (1, 1, 1), (32, 1, 1), [memory.add(np.zeros(4))])
    with pytest.raises(InputError, match="out of bounds"):
        trace_launch(launch, memory, out, load_gpu("a100"))
    assert not list(tmp_path.iterdir())
