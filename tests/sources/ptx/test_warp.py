"""Warp: programs run as they are, on a device that is not there; results are numpy's, lines the author's."""

from __future__ import annotations

import gc
import importlib.util

import pytest

import memsim
from memsim.support.errors import InputError
from memsim.trace.schema import Kind

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("warp") is None, reason="warp-lang is not installed (memsim[warp])"
)

PROGRAM = """
import numpy as np, warp as wp
wp.config.log_level = wp.LOG_ERROR

@wp.struct
class Body:
    mass: float
    speed: wp.vec3

@wp.func
def twice(v: wp.vec3):
    return 2.0 * v

@wp.kernel
def saxpy(a: float, x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = a * x[i] + y[i]

@wp.kernel
def move(bodies: wp.array(dtype=Body), z: wp.array2d(dtype=wp.vec3), dt: float, mass: wp.array(dtype=float)):
    i, j = wp.tid()
    b = bodies[i]
    z[i, j] = z[i, j] + twice(b.speed) * dt
    wp.atomic_add(mass, 0, b.mass)
"""

RUN = """
n = 5000
x, y = wp.array(np.arange(n), dtype=float, device="cuda"), wp.ones(n, dtype=float)
wp.launch(saxpy, n, inputs=[2.0, x, y])
assert (y.numpy() == 2 * np.arange(n) + 1).all() and y.device.is_cuda and y.device.alias == "cuda:0"
assert (y[1::2].numpy() == y.numpy()[1::2]).all()
wp.launch(saxpy, n, inputs=[1.0, x, y], max_blocks=3)

values = np.zeros(20, Body.numpy_dtype())
values["mass"], values["speed"] = 3, np.arange(60).reshape(20, 3)
bodies, z, mass = wp.array(values, dtype=Body), wp.zeros((20, 40), dtype=wp.vec3), wp.zeros(1, dtype=float)
with wp.ScopedCapture() as capture:
    wp.launch(move, (20, 40), inputs=[bodies, z, 0.5, mass])
assert mass.numpy()[0] == 0, "a graph that is recorded does not run"
for _ in range(2):
    wp.capture_launch(capture.graph)
assert (z.numpy() == 2 * values["speed"][:, None]).all() and mass.numpy()[0] == 2 * 3 * 800

q, r = wp.zeros(10, dtype=float, requires_grad=True), wp.zeros(10, dtype=float, requires_grad=True)
with wp.Tape() as tape:
    wp.launch(saxpy, 10, inputs=[3.0, q], outputs=[r])
tape.backward(grads={r: wp.ones(10, dtype=float)})
assert (q.grad.numpy() == 3).all()

wp.utils.array_scan(y, y, inclusive=True)
assert np.allclose(y.numpy(), np.cumsum(3 * np.arange(n) + 1), rtol=1e-4)
z[:, 3].fill_(wp.vec3(1.0, 2.0, 3.0))
copy = wp.clone(z[:, 3])
assert (copy.numpy() == [1, 2, 3]).all() and (z.numpy()[:, 2] == 2 * values["speed"]).all()
host = wp.zeros(3, dtype=float, device="cpu")
wp.copy(host, mass, count=1)
assert host.numpy().tolist() == [4800, 0, 0]
wp.synchronize()
"""


def _program(tmp_path, text):
    path = tmp_path / "program.py"
    path.write_text(text)
    return path


def _module(tmp_path):
    spec = importlib.util.spec_from_file_location("program", _program(tmp_path, PROGRAM))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_program_runs_as_it_is_and_has_its_own_lines_and_names(tmp_path):
    script = _program(tmp_path, PROGRAM + RUN)
    captured = memsim.capture(script, out=tmp_path / "t", gpu="a100", launch="all")
    assert captured.launches == {"saxpy": 3, "move": 2, "saxpy_backward": 1}
    traces = {trace.path.stem: trace for trace in captured.traces}
    assert traces["saxpy-0"].launch.grid == (20, 1, 1) and traces["saxpy-1"].launch.grid == (3, 1, 1)
    move = traces["move-0"]
    lines = {(move.arrays[op.array].name, op.kind, op.line) for op in move.ops if op.kind is not Kind.store}
    assert lines == {("bodies", Kind.load, 22), ("z", Kind.load, 23), ("mass", Kind.reduction, 24)}
    assert {op.file.rpartition("/")[2] for op in move.ops} == {"program.py"}
    assert {one.name for one in move.arrays} >= {"bodies", "z", "mass"}
    assert not any("pnanovdb" in one.name for one in move.arrays), "a kernel's arrays, not its headers'"


def test_capturing_after_warp_has_begun_and_again(tmp_path, capfd):
    import numpy as np
    import warp as wp

    module = _module(tmp_path)
    host = wp.zeros(64, dtype=float, device="cpu")
    for gpu in ("a100", "h100"):
        with memsim.capturing(gpu=gpu) as captured:
            x, y = wp.ones(300, dtype=float), wp.zeros(300, dtype=float)
            wp.launch(module.saxpy, 300, inputs=[2.0, x, y], block_dim=128)
            assert (y.numpy() == 2).all() and wp.get_device().name == gpu
        (launch,) = captured.launches
        assert launch.grid == (3, 1, 1) and launch.block == (128, 1, 1) and launch.kernel == "saxpy"
        assert captured.trace.parameters["compiled_for"].startswith({"a100": "sm_80", "h100": "sm_90"}[gpu])
    x = y = launch = None  # dropped behind the block, they ask nobody for anything
    wp.launch(module.saxpy, 64, inputs=[1.0, wp.array(np.ones(64), dtype=float, device="cpu"), host], device="cpu")
    assert (host.numpy() == 1).all() and not wp.is_cuda_available()
    gc.collect()
    assert "CUDA error" not in capfd.readouterr().err


def test_what_needs_a_driver_is_refused_by_name(tmp_path):
    mesh = "wp.Mesh(points=wp.zeros(3, dtype=wp.vec3), indices=wp.zeros(3, dtype=int))"
    with pytest.raises(InputError, match="warp: wp_mesh_create_device is not done here"):
        memsim.capture(_program(tmp_path, PROGRAM + mesh), out=tmp_path / "t.h5", gpu="a100")
    assert not (tmp_path / "t.h5").exists()


def test_an_access_outside_is_one_line_with_the_authors_place(tmp_path):
    outside = "\nwp.launch(saxpy, 8, inputs=[1.0, wp.zeros(8, dtype=float), wp.zeros(4, dtype=float)])"
    with pytest.raises(InputError, match=r"accesses 0x.*, outside all arrays \(from .*program\.py:17\)"):
        memsim.capture(_program(tmp_path, PROGRAM + outside), out=tmp_path / "t.h5", gpu="a100")
