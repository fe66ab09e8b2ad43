"""A PTX file and the Python file that describes its launch: the trace, and one line for each mistake."""

from __future__ import annotations

import pytest

import memsim
from memsim.support.errors import InputError

PTX = """
.version 8.0
.target sm_70
.address_size 64
.visible .entry one(.param .u64 p) { .reg .b64 %rd<2>; .reg .b32 %r<2>;
 ld.param.u64 %rd1, [p]; mov.u32 %r1, 7; st.global.u32 [%rd1], %r1; ret; }
.visible .entry two(.param .u64 p) { ret; }
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


def test_what_took_the_place_of_capturing_is_named():
    with pytest.raises(AttributeError, match=r'use memsim.capture\("script.py"\)'):
        memsim.capturing  # noqa: B018
