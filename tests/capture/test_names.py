"""Names of arrays: those of the kernel's parameters in its source."""

from __future__ import annotations

import pytest

from memsim.capture.names import parameter_names

PYTHON = "@triton.jit\ndef add(x, y, n, BLOCK: tl.constexpr, *, STAGES: tl.constexpr = 2):\n    pass\n"
COMMENTED = "@triton.jit\ndef add(x,  # first, and\n        y,  # second (\n        n):\n    pass\n"
CUDA = "template <class T>\n__global__ void add(const T* x /* in, out */, T *y, int n = 4) {}\n"


@pytest.mark.parametrize(
    ("name", "text", "count", "names"),
    [
        ("k.py", COMMENTED, 3, ("x", "y", "n")),
        ("k.cu", CUDA, 3, ("x", "y", "n")),
        ("k.cu", CUDA, 4, ("argument0", "argument1", "argument2", "argument3")),
    ],
)
def test_parameters_have_their_names_of_the_source(tmp_path, name, text, count, names):
    (tmp_path / name).write_text(text)
    assert parameter_names("add", count, [tmp_path / name]) == names


@pytest.mark.parametrize(("hidden", "scratch"), [(0, ()), (2, ("scratch0", "scratch1"))])
def test_triton_kernels_may_have_hidden_parameters(tmp_path, hidden, scratch):
    (tmp_path / "k.py").write_text(PYTHON.replace("*, ", ""))
    assert parameter_names("add", 3 + hidden, [tmp_path / "k.py"]) == ("x", "y", "n", *scratch)
