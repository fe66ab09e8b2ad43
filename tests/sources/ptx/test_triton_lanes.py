"""A Triton kernel's trace beside Triton's own interpreter and layouts: by line, the same lanes' elements."""

import importlib.util
import sys
from collections import Counter

import numpy as np
import pytest
from places import ROOT

import memsim
from memsim.trace.schema import EXPLICIT, NO_OP, Space
from tests.oracles.triton_lanes import accesses

pytestmark = pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="triton is not installed")
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


def kernels():
    """The kernels' module, as Triton functions."""
    spec = importlib.util.spec_from_file_location("triton_kernels", KERNELS)
    module = importlib.util.module_from_spec(spec)
    sys.modules["triton_kernels"] = module
    spec.loader.exec_module(module)
    return module


def traced(trace):
    """The same of a trace of global accesses: by line and array, what each block's, warp's and lane's elements are."""
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
                for lane, place in zip(lanes, places, strict=True):
                    first = (place - array.base) // array.element_bytes
                    counts = of.setdefault((block, number, lane), Counter())
                    counts.update(range(first, first + op.width // array.element_bytes))
    return found


@pytest.mark.parametrize("name", LAUNCHES)
def test_every_lane_accesses_what_triton_says(name):
    kernel, (grid, make, constants) = getattr(kernels(), name), LAUNCHES[name]
    arguments = make()
    with memsim.capturing(gpu="a100", blocks="all") as captured:
        compiled = kernel[grid](*arguments, **constants)
    expected = accesses(KERNELS, name, grid, arguments, constants, compiled.asm["ttgir"])
    found = traced(captured.trace)
    assert len(expected) >= 2
    assert found.keys() == expected.keys()
    for place, lanes in expected.items():
        assert found[place] == lanes, place
