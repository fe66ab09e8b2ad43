"""A Triton kernel's trace compared with Triton's own interpreter and layouts: by line, the same lanes' elements."""

import importlib.util
import json
import pickle
import shutil
from collections import Counter

import numpy as np
import pytest
from places import ROOT

import memsim
from memsim.trace.reader import Trace
from memsim.trace.schema import EXPLICIT, NO_OP, Space
from tests.oracles.triton_lanes import accesses

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (importlib.util.find_spec("triton") and importlib.util.find_spec("torch")),
        reason="Triton or torch is not installed",
    ),
]
KERNELS = ROOT / "tests" / "data" / "ptx" / "triton_kernels.py"
RANDOM = np.random.default_rng(3)


def floats(*shape):
    return RANDOM.random(shape, np.float32)


def halves(*shape):
    return RANDOM.random(shape, np.float32).astype(np.float16)


TILE = {"BM": 64, "BN": 64, "BK": 32}
LAUNCHES = {  # grid, arguments, constants: odd extents, so that masks and misaligned rows are met
    "add": ((3, 1, 1), lambda: [floats(1300), floats(1300), floats(1300), 1300], {"BLOCK": 512}),
    "softmax": ((2, 1, 1), lambda: [floats(2, 781), floats(2, 781), 781, 781], {"BLOCK": 1024}),
    "layer_norm": (
        (2, 1, 1), lambda: [halves(2, 700), halves(2, 700), floats(700), floats(700), 700, 1e-5], {"BLOCK": 512},
    ),
    "dropout": ((2, 1, 1), lambda: [floats(900), floats(900), 900, 0.25, 7], {"BLOCK": 512}),
    "matmul": (
        (4, 1, 1), lambda: [halves(128, 96), halves(96, 128), halves(128, 128), 128, 128, 96], {**TILE, "GROUP": 2},
    ),
    "attention": (
        (2, 1, 1), lambda: [*(halves(1, 128, 64) for _ in range(4)), 128, 0.125], {"HEAD": 64, "BM": 64, "BN": 32},
    ),
}  # fmt: skip


SCRIPT = """
import json, pickle, sys
from pathlib import Path
import numpy as np, torch

import triton_kernels

folder = Path(sys.argv[1])
for name, (grid, arguments, constants) in pickle.loads((folder / "launches").read_bytes()).items():
    given = [torch.from_numpy(one).cuda() if isinstance(one, np.ndarray) else one for one in arguments]
    kernel = getattr(triton_kernels, name)
    compiled = kernel[grid](*given, **constants)
    (folder / f"{name}.ttgir").write_text(compiled.asm["ttgir"])
    named = zip(kernel.arg_names, arguments)
    sizes = {one: value.itemsize for one, value in named if isinstance(value, np.ndarray)}
    (folder / f"{name}.sizes").write_text(json.dumps(sizes))
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The launches, and the folder with each kernel's trace and TTGIR: all kernels run in one program."""
    folder = tmp_path_factory.mktemp("lanes")
    launches = {name: (grid, make(), constants) for name, (grid, make, constants) in LAUNCHES.items()}
    (folder / "launches").write_bytes(pickle.dumps(launches))
    (folder / "program.py").write_text(SCRIPT)
    shutil.copy(KERNELS, folder)  # parameters have names where the source lies next to the program
    memsim.capture(
        folder / "program.py",
        arguments=[str(folder)],
        out=folder / "traces",
        gpu="a100",
        blocks="all",
        launch=0,
    )
    return launches, folder


def traced(trace, sizes):
    """The same of a trace of global accesses: by line and array, what each block's, warp's and lane's elements are.

    Args:
        sizes: bytes of an element, by array.
    """
    found, per_block = {}, trace.launch.warps_per_block
    for chunk in trace.chunks():
        for k, warp in enumerate(chunk.warps):
            at = int(chunk.first_address[k])
            for row in range(int(chunk.first_instruction[k]), int(chunk.first_instruction[k + 1])):
                lanes = [lane for lane in range(32) if int(chunk.mask[row]) >> lane & 1]
                base, stride = int(chunk.base[row]), int(chunk.stride[row])
                places = [base + stride * (lane - lanes[0]) for lane in lanes]
                if stride == EXPLICIT:
                    places = (base + chunk.addresses[at : at + len(lanes)].astype(np.int64)).tolist()
                    at += len(lanes)
                if chunk.op[row] == NO_OP or trace.ops[chunk.op[row]].space not in (Space.global_, Space.texture):
                    continue
                op = trace.ops[chunk.op[row]]
                array = trace.arrays[op.array]
                of = found.setdefault((op.line, array.name), {})
                block, number = int(trace.block_ids[warp // per_block]), warp % per_block
                size = sizes[array.name]
                for lane, place in zip(lanes, places, strict=True):
                    first = (place - array.base) // size
                    counts = of.setdefault((block, number, lane), Counter())
                    counts.update(range(first, first + op.width // size))
    return found


@pytest.mark.parametrize("name", LAUNCHES)
def test_every_lane_accesses_what_triton_says(run, name):
    launches, folder = run
    expected = accesses(KERNELS, name, *launches[name], (folder / f"{name}.ttgir").read_text())
    found = traced(Trace.open(folder / "traces" / f"{name}.h5"), json.loads((folder / f"{name}.sizes").read_text()))
    assert len(expected) >= 2
    assert found.keys() == expected.keys()
    for place, lanes in expected.items():
        assert found[place] == lanes, place
