"""A kernel described in Python and captured from CUDA C++ is one trace, with one set of counters when replayed."""

import numpy as np
import pytest
from compilers import needs_gxx

import memsim
from memsim.sources.capture.merge import load_loops
from memsim.sources.capture.merge_loop import merge_warps
from memsim.support import library
from memsim.trace.reader import Trace
from memsim.trace.schema import EXPLICIT, INSTRUCTION_COLUMNS, INSTRUCTION_DEFAULTS, NO_OP, ArrayInfo, Chunk, StaticOp
from memsim.trace.writer import TraceWriter

pytestmark = needs_gxx

# Workload, its parameters, the program's arguments, and the kernel.
KERNELS = [
    ("spmv", dict(rows=1500, nnz_per_row=9, distribution="spread", structure="hashed"), ["1500", "9"]),
    ("matmul", dict(n=64), ["64"]),
    ("matmul", dict(n=64, variant="tiled"), ["64", "tiled"]),
    ("transpose", dict(n=128), ["128"]),
    ("transpose", dict(n=128, variant="padded"), ["128", "padded"]),
    ("reduction", dict(n=5000, block=128), ["5000", "128"]),
    ("stencil", dict(n=64, planes=6), ["64", "6"]),
]
IDS = ["-".join([name, *arguments]) for name, _, arguments in KERNELS]


def comparable(trace, bases, out):
    """A copy of a trace without what the two sources cannot share.

    Arrays lie at ``bases``, by name; all ops of one kind, width and array are one; gaps, which count a description's
    numpy operations, are 0; addresses are listed, as a stride that two lanes have may be one by chance.
    """
    names = sorted(bases)
    arrays = [next(array for array in trace.arrays if array.name == name) for name in names]
    kinds = sorted({(trace.arrays[op.array].name, op.kind, op.width) for op in trace.ops})
    table = [
        StaticOp(kind, arrays[names.index(name)].space, width, names.index(name), 1, 1, "", "")
        for name, kind, width in kinds
    ]
    (chunk,) = trace.chunks()
    rows, addresses, first_instruction, first_address = [], [], [0], [0]
    for warp in range(trace.n_warps):
        for op, flags, mask, at in _accesses(chunk, warp):
            if op == NO_OP:
                rows.append((NO_OP, flags, mask, 0, 0))
                continue
            array = trace.arrays[trace.ops[op].array]
            number = kinds.index((array.name, trace.ops[op].kind, trace.ops[op].width))
            rows.append((number, flags, mask, min(at) - array.base + bases[array.name], EXPLICIT))
            addresses += [one - min(at) for one in at]
        first_instruction.append(len(rows))
        first_address.append(len(addresses))
    columns = {
        name: np.array(column, INSTRUCTION_COLUMNS[name])
        for name, column in zip(("op", "flags", "mask", "base", "stride"), zip(*rows, strict=True), strict=True)
    }
    none = {
        name: np.full(len(rows), INSTRUCTION_DEFAULTS.get(name, 0), dtype)
        for name, dtype in INSTRUCTION_COLUMNS.items()
        if name not in columns
    }
    index = np.array(first_instruction), np.array(first_address)
    listed = np.array(addresses, np.uint32)
    whole = Chunk(range(trace.n_warps), *index, addresses=listed, **none, **columns)
    with TraceWriter(out, kernel="k", source="both", parameters={}) as writer:
        writer.append(trace.block_ids, whole)
        infos = [ArrayInfo(a.name, a.space, bases[a.name], a.bytes, a.element_bytes) for a in arrays]
        writer.finish(trace.launch, table, infos)
    return Trace.open(out)


def _accesses(chunk, warp):
    """A warp's instructions but gaps: op, flags, mask, addresses."""
    explicit = int(chunk.first_address[warp])
    for i in range(chunk.first_instruction[warp], chunk.first_instruction[warp + 1]):
        op, flags, mask, stride = (int(column[i]) for column in (chunk.op, chunk.flags, chunk.mask, chunk.stride))
        lanes = [lane for lane in range(32) if mask >> lane & 1]
        offsets = [stride * (lane - lanes[0]) for lane in lanes]
        if stride == EXPLICIT:
            offsets = chunk.addresses[explicit : explicit + len(lanes)].tolist()
            explicit += len(lanes)
        if op != NO_OP or flags:
            yield op, flags, mask, [int(chunk.base[i]) + offset for offset in offsets]


@pytest.fixture(scope="module", params=KERNELS, ids=IDS)
def both(request, tmp_path_factory):
    """A kernel described and captured, as they are."""
    (name, parameters, arguments), folder = request.param, tmp_path_factory.mktemp("both")
    described = memsim.trace(name, blocks="all", out=folder / "described.h5", **parameters)
    program = library.folder("traces") / "cuda" / f"{name}.cu"
    options = dict(blocks="all", registers=described.launch.registers, out=folder / "captured.h5")
    return described, memsim.capture(program, arguments=arguments, by="source", **options).trace


def test_described_and_captured_are_one_trace(both, tmp_path):
    bases = {array.name: array.base for array in both[0].arrays}
    described, captured = (comparable(trace, bases, tmp_path / f"{k}.h5") for k, trace in enumerate(both))
    assert described.launch == captured.launch
    assert described.arrays == captured.arrays
    assert described.ops == captured.ops
    assert described.digest == captured.digest
    counters = [memsim.simulate(trace, gpu="tesla-v100", trials=2, seed=1).counters for trace in (described, captured)]
    assert counters[0] == counters[1]


def test_described_and_captured_make_the_same_transactions(both):
    """As they are: gaps and places change when a transaction happens and whether it hits, not how many there are."""
    made = [memsim.simulate(trace, gpu="tesla-v100", trials=1).counters["l1"]["transactions"] for trace in both]
    assert made[0]["reads"] == made[1]["reads"] > 0
    assert made[0]["writes"] == made[1]["writes"] > 0


def test_the_loops_that_are_loaded_are_those_that_merge(both):
    compiled = set(merge_warps.signatures)
    load_loops()
    assert set(merge_warps.signatures) == compiled, "loaded for other types of arguments"
