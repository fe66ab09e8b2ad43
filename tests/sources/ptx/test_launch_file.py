"""A PTX file and the Python file that describes its launch: the trace, and one line for each mistake."""

from __future__ import annotations

import pytest
from sass_launches import needs_machine_code

import memsim
from memsim.sources.sass.assemble import assemble
from memsim.support.errors import InputError

PTX = """
.version 8.0
.target sm_70
.address_size 64
.visible .entry one(.param .u64 p) { .reg .b64 %rd<2>; .reg .b32 %r<2>;
 ld.param.u64 %rd1, [p]; mov.u32 %r1, 7; st.global.u32 [%rd1], %r1; ret; }
.visible .entry two(.param .u64 p) { ret; }
"""

ALL_KINDS = """
.version 7.8
.target sm_80
.address_size 64
.visible .global .align 4 .b8 table[16] = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16};
.visible .const .align 4 .b8 scale[8] = {1,0,0,0,9,0,0,0};
.visible .entry k(.param .u64 p, .param .u8 c, .param .align 16 .b8 s[32], .param .f32 f)
{ .shared .align 4 .b8 sh[1024];
 .reg .b64 %rd<6>; .reg .b32 %r<9>; .reg .f32 %f<3>;
 ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
 ld.param.f32 %f1, [f]; cvt.rzi.s32.f32 %r2, %f1; mov.u32 %r3, sh; shl.b32 %r4, %r1, 2; add.u32 %r3, %r3, %r4;
 ld.param.u8 %r5, [c]; ld.param.u32 %r6, [s+8]; add.u32 %r5, %r5, %r6; st.shared.u32 [%r3], %r5;
 bar.sync 0; ld.shared.u32 %r5, [sh+4]; ld.global.u32 %r6, [table+4]; add.u32 %r5, %r5, %r6;
 and.b32 %r7, %r1, 4; cvt.u64.u32 %rd4, %r7; mov.u64 %rd5, scale; add.s64 %rd5, %rd5, %rd4;
 ld.const.u32 %r7, [%rd5]; add.u32 %r5, %r5, %r7; and.b32 %r5, %r5, 127; mul.wide.u32 %rd2, %r5, 4;
 add.s64 %rd2, %rd1, %rd2; st.global.u32 [%rd2], %r2; st.global.u32 [%rd3], %r5; ret; }
"""


def _capture(folder, launch, **how):
    (folder / "k.ptx").write_text(PTX)
    (folder / "launch.py").write_text(launch)
    return memsim.capture_ptx(folder / "k.ptx", folder / "launch.py", out=folder / "t.h5", **how)


@pytest.mark.parametrize(
    ("launch", "message"),
    [
        ("block, arguments = 1, []", "grid is not set"),
        ("grid, block, arguments, kernel = 0, 1, [], 'one'", "grid is 0; give one to three whole numbers"),
        ("grid, block, arguments, kernel = 1, 1, [], 'three'", "three is not in it; give one of one, two"),
        ("grid, block, arguments = 1, 1, []", "choose with --kernel"),
        ("grid = 1 / 0", r"launch.py:1: code fails: ZeroDivisionError"),
        (
            "grid, block, kernel, arguments = 1, 1, 'one', {'x': [1, 2]}",
            "x is a list; give a number or a NumPy array",
        ),
    ],
)
def test_senseless_launch_file_is_one_line(tmp_path, launch, message):
    with pytest.raises(InputError, match=message):
        _capture(tmp_path, launch)
    assert not (tmp_path / "t.h5").exists()


def test_ptx_file_is_launched_as_python_file_says(tmp_path):
    launch = "import numpy as np\ngrid, block, kernel = 2, (32, 1), 'one'\narguments = {'x': np.zeros(4, np.int32)}"
    captured = _capture(tmp_path, launch, registers=8)
    trace = captured.trace
    assert captured.launches == {"one": 1} and captured.notes == []
    assert trace.kernel == "one" and trace.launch.grid == (2, 1, 1) and trace.arrays[0].name == "x"


def test_views_share_their_array(tmp_path):
    launch = "import numpy as np\ngrid = block = 1\nkernel, x = 'one', np.zeros(8, np.int32)\narguments = [x[6:]]"
    (array,) = _capture(tmp_path, launch, registers=8).trace.arrays
    assert array.bytes == 32


@needs_machine_code
def test_cubin_runs_as_its_ptx_does(tmp_path):
    """Parameters of three sizes, constants, a variable with contents and shared memory, without any PTX."""
    (tmp_path / "k.ptx").write_text(ALL_KINDS)
    (tmp_path / "k.cubin").write_bytes(assemble(ALL_KINDS, 80).cubin)
    (tmp_path / "launch.py").write_text(
        "import numpy as np\ngrid, block = 2, 64\nx = np.zeros(128, np.int32)\n"
        "arguments = {'p': x, 'c': 3, 's': bytes(range(32)), 'f': np.float32(1.5)}\n"
    )
    found = []
    for name in ("k.ptx", "k.cubin"):
        captured = memsim.capture_ptx(tmp_path / name, tmp_path / "launch.py", out=tmp_path / "t.h5", gpu="a100")
        ops = [(one.kind, one.space, one.width) for one in captured.trace.ops]
        lanes = [
            (chunk.op.tolist(), chunk.base.tolist(), chunk.stride.tolist(), chunk.addresses.tolist())
            for chunk in captured.trace.chunks()
        ]
        found.append((ops, captured.trace.launch.registers, lanes))
    assert found[0] == found[1]


def test_damaged_cubin_is_one_line(tmp_path):
    (tmp_path / "k.cubin").write_bytes(b"\x7fELF\x02" + bytes(100))
    (tmp_path / "launch.py").write_text("grid, block, arguments = 1, 1, []")
    with pytest.raises(InputError, match="k.cubin: ELF is damaged"):
        memsim.capture_ptx(tmp_path / "k.cubin", tmp_path / "launch.py", out=tmp_path / "t.h5")
