"""What arithmetic of descriptions becomes, by class."""

import numpy as np
import pytest

from memsim.sources.describe import Launch, Recorder, Workload
from memsim.trace.schema import INSTRUCTION_CLASSES


def counts(kernel, fast_math=False, **arguments):
    """Non-memory instructions of one warp, by class."""
    launch = Launch(kernel, 1, 32, arguments, fast_math=fast_math)
    recorder = Recorder(Workload(kernel, "kernel.py"), launch)
    chunk = recorder.run(np.arange(1))
    mixes = [recorder.issue.mixes[number] for number in chunk.instruction_mix[chunk.instruction_mix != 0]]
    return {each: count for each in INSTRUCTION_CLASSES if (count := sum(int(mix[f"count_{each}"]) for mix in mixes))}


def of(function, *dtypes, fast_math=False):
    def kernel(t, out, **arrays):
        out[t.lane_id] = function(*[array[t.lane_id] for array in arrays.values()])

    arrays = {f"a{k}": np.ones(32, dtype) for k, dtype in enumerate(dtypes)}
    return counts(kernel, fast_math, out=np.zeros(32, np.result_type(*dtypes)), **arrays)


@pytest.mark.parametrize(
    ("function", "dtypes", "expected"),
    [
        (lambda a: a * 0.5, ["i4"], {"fp32": 1, "conversion": 1}),
        (lambda a, b: a + b, ["f4", "i4"], {"fp32": 1, "conversion": 1}),
        (lambda a, b: a + b, ["f4", "f8"], {"fp64": 1, "conversion": 1}),
        (lambda a, b: a + b, ["i4", "i8"], {"integer": 1}),
        (lambda a, b: a * a + b, ["f4", "f4"], {"fp32": 1}),
        (lambda a, b: a * a + b, ["f4", "f8"], {"fp32": 1, "fp64": 1, "conversion": 1}),
        (lambda a, b: a * a + b, ["f4", "i4"], {"fp32": 1, "conversion": 1}),
        (lambda a: a**2, ["f4"], {"fp32": 1}),
        (lambda a: a * a, ["c8"], {"fp32": 4}),
    ],
)
def test_operands_are_converted_before_they_are_counted(function, dtypes, expected):
    assert of(function, *dtypes) == expected


def test_a_root_of_integers_is_one_of_floats():
    root = of(np.sqrt, "f4")
    assert of(np.sqrt, "i4") == root | {"conversion": 1}
    assert of(np.sqrt, "f2") == root | {"conversion": 2}


@pytest.mark.parametrize("function", [lambda a: a**2.5, np.arctan, np.sin, lambda a: a // a, lambda a: np.hypot(a, a)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_no_function_is_one_instruction_silently(function, dtype):
    assert sum(of(function, dtype).values()) >= 10


@pytest.mark.parametrize(
    ("function", "dtype", "expected"),
    [
        (lambda a: a < a, "f4", {"integer": 1}),
        (lambda a: np.maximum(a, a), "f4", {"integer": 1}),
        (lambda a: a < a, "f8", {"fp64": 1}),
        (lambda a: a * 3, "i4", {"multiply": 1}),
        (lambda a: a * a, "u4", {"multiply": 1}),
        (lambda a: a * 8, "i4", {"integer": 1}),
        (lambda a: a * 3, "i8", {"multiply": 4}),
        (lambda a: a // 3, "i4", {"integer": 2, "multiply": 1}),
        (lambda a: a // 8, "u4", {"integer": 1}),
    ],
)
def test_instructions_are_of_the_pipe_that_executes_them(function, dtype, expected):
    def kernel(t, a, out):
        out[t.lane_id] = function(a[t.lane_id])

    out = np.zeros(32, np.bool_ if function(np.ones(1, dtype)).dtype == np.bool_ else dtype)
    assert counts(kernel, a=np.ones(32, dtype), out=out) == expected


def test_quotients_of_long_integers_are_their_own():
    assert of(lambda a: a // a, "i4") == {"integer": 14, "multiply": 6, "conversion": 2, "special": 1}
    assert of(lambda a: a // a, "i8") == {"integer": 9, "multiply": 8, "conversion": 2, "special": 1, "control": 3}


def test_fast_math_has_intrinsics_of_singles_only():
    assert of(np.sin, "f4", fast_math=True) == {"fp32": 1, "special": 1}
    assert of(np.sin, "f8", fast_math=True) == of(np.sin, "f8")
    assert of(np.arctan, "f4", fast_math=True) == of(np.arctan, "f4")
