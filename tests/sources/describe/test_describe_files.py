"""Kernel files and parameters: what loads, and the one line about what does not."""

import numpy as np
import pytest

from memsim.gpu.presets import load_gpu
from memsim.sources import load_workload
from memsim.sources.record import record
from memsim.support.errors import InputError

GOOD = """
from typing import Literal
import numpy as np
from memsim.sources import Launch, workload


def fill(t, out, value):
    out[t.global_id] = value


@workload
def example(n: int = 64, value: float = 1.5, double: bool = False, kind: Literal["a", "b"] = "a") -> Launch:
    return Launch(fill, n // 32, 32, dict(out=np.zeros(n, np.float32), value=value * (1 + double)))
"""


@pytest.fixture
def kernel_file(tmp_path):
    def write(text):
        path = tmp_path / "kernel.py"
        path.write_text(text)
        return path

    return write


def recorded(path, tmp_path, **parameters):
    return record(path, parameters, load_gpu("tesla-c2050"), "all", tmp_path / "trace.h5")


def test_a_kernel_file_is_recorded(kernel_file, tmp_path):
    path = kernel_file(GOOD)
    trace = recorded(path, tmp_path, n="96", double="true")
    assert trace.parameters == {"n": 96, "value": 1.5, "double": True, "kind": "a"}
    assert trace.kernel == "fill" and trace.source == str(path)
    assert [(op.text, op.file, op.line, op.column) for op in trace.ops] == [("out[t.global_id]", str(path), 8, 5)]
    assert (trace.n_blocks, trace.n_warps, trace.n_instructions) == (3, 3, 3)


def test_the_same_description_has_the_same_digest(kernel_file, tmp_path):
    path = kernel_file(GOOD)
    digests = [recorded(path, tmp_path, value=value).digest for value in (1, 1, 2)]
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"m": 1}, "m is not a parameter of example; it has n=64, value=1.5, double=False, kind=a"),
        ({"n": "many"}, "n is 'many'; give a whole number"),
        ({"n": 1.5}, "n is 1.5; give a whole number"),
        ({"value": "x"}, "value is 'x'; give a number"),
        ({"double": "perhaps"}, "double is 'perhaps'; give true or false"),
        ({"kind": "c"}, "kind is 'c'; give one of a, b"),
    ],
)
def test_wrong_parameters_are_named_with_right_ones(kernel_file, parameters, message):
    with pytest.raises(InputError, match="kernel.py: ") as error:
        load_workload(kernel_file(GOOD)).parameters(parameters)
    assert message in str(error.value)


BROKEN = {
    "syntax": ("def f(:\n", "line 1 raised SyntaxError"),
    "raises on loading": ("import numpy\n1 / 0\n", "line 2 raised ZeroDivisionError"),
    "exits": ("raise SystemExit(3)\n", "line 1 raised SystemExit"),
    "no workload": ("x = 1\n", "has no workload; mark a function with @memsim.workload"),
    "two workloads": (GOOD + GOOD.replace("example", "another"), "has 2 workloads; give one: "),
    "no default": (GOOD.replace("n: int = 64", "n: int"), "needs a default and a type"),
    "builder raises": (GOOD.replace("    return L", "    {}[1]\n    return L"), "line 13 raised KeyError: 1"),
    "no launch": (GOOD.replace("return Launch", "return dict or Launch"), "return a memsim.sources.Launch"),
    "impossible grid": (GOOD.replace("n // 32", "0"), "grid is 0"),
    "wrong arguments": (GOOD.replace("dict(out", "dict(oops"), "missing a required argument: 'out'"),
    "no numbers": (GOOD.replace("np.zeros(n, np.float32)", "np.array(['x'] * n)"), "array out has dtype <U1"),
    "kernel raises": (GOOD.replace("= value\n", "= undefined\n"), "line 8 raised NameError"),
    "out of range": (GOOD.replace("[t.global_id]", "[t.global_id + 1]"), "line 8 raised IndexError: index 64 of out"),
    "endless while": (
        GOOD.replace("    out[", "    while True:\n        pass\n    out["),
        "line 8 raised RuntimeError",
    ),
    "endless loop": (
        GOOD.replace("    out[", "    for _ in t.while_(lambda: True):\n        pass\n    out["),
        "line 8",
    ),
}


@pytest.mark.parametrize(
    "text, message",
    [pytest.param(*BROKEN[name], marks=[pytest.mark.slow] if name == "endless loop" else []) for name in BROKEN],
    ids=BROKEN,
)
def test_broken_files_give_one_line_and_leave_nothing(kernel_file, tmp_path, text, message):
    path = kernel_file(text)
    with pytest.raises(InputError) as error:
        recorded(path, tmp_path)
    assert str(error.value).startswith(f"{path}: ") and "\n" not in str(error.value)
    assert message in str(error.value)
    assert list(tmp_path.iterdir()) == [path]


def test_one_of_several_workloads_is_named(kernel_file):
    path = kernel_file(GOOD + GOOD.replace("example", "another"))
    assert load_workload(f"{path}:another").name == "another"
    with pytest.raises(InputError, match="kernel.py: workload has no third; give .*:example, .*:another"):
        load_workload(f"{path}:third")


SHARED = """    ks = t.shared(256, np.float16)
    k = t.shared(256, np.float16)
    out["""


def test_eight_halves_are_one_access_of_16_bytes(kernel_file, tmp_path):
    body = SHARED.replace("out[", "ks.store(8 * t.lane_id, k.load(8 * t.lane_id, 8))\n    out[")
    trace = recorded(kernel_file(GOOD.replace("    out[", body)), tmp_path)
    assert [op.width for op in trace.ops if op.space.name == "shared"] == [16, 16]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ks[8 * t.lane_id] = k.load(8 * t.lane_id, 8)", r"write ks\.store\(index, values\)"),
        ("k.load(16 * t.lane_id, 16)", "16 elements of 2 bytes; give 2, 4, 8"),
        ("max(t.lane_id, 3)", r"np\.maximum, np\.minimum instead of max, min"),
    ],
)
def test_what_to_write_instead_is_said(kernel_file, tmp_path, line, message):
    with pytest.raises(InputError, match=message):
        recorded(kernel_file(GOOD.replace("    out[", SHARED.replace("out[", f"{line}\n    out["))), tmp_path)


def test_python_while_loops_that_end_are_left_alone(kernel_file, tmp_path):
    body = "    n = 5\n    while n and t:\n        n -= 1\n    else:\n        n = 7\n    out[n] = 1\n    out["
    trace = recorded(kernel_file(GOOD.replace("    out[", body)), tmp_path)
    assert trace.ops[0].line == 13
    (chunk,) = trace.chunks()
    assert int(chunk.base[0]) - trace.arrays[0].base == 7 * np.dtype(np.float32).itemsize


def test_source_text_may_span_lines_with_any_character(kernel_file, tmp_path):
    text = GOOD.replace("[t.global_id] = value", "[\n        t.global_id  # ∑\n        + 0\n    ] = value")
    trace = recorded(kernel_file(text.replace("def fill", "π = 3.14\n\ndef fill")), tmp_path)
    assert trace.ops[0].text == "out[ t.global_id # ∑ + 0 ]"


def test_repeated_device_function_is_one_op_per_position(kernel_file, tmp_path):
    text = GOOD.replace("    out[", "    put(out, t.global_id)\n    put(out, t.global_id)\n    out[")
    trace = recorded(kernel_file(text + "\n\ndef put(a, i):\n    a[i] = 3\n"), tmp_path)
    assert [op.text for op in trace.ops] == ["a[i]", "out[t.global_id]"]
    assert trace.n_instructions == 6
