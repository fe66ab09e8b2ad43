"""What `memsim nvcc` makes of a build's options."""

from __future__ import annotations

from pathlib import Path

import pytest

from memsim.capture.nvcc_options import highest, rewrite

OURS = ["-cudart", "shared", "-lineinfo", "-gencode", "arch=compute_80,code=compute_80"]


def rewritten(*given: str, limit: int = 80) -> list[str]:
    return rewrite(given, highest(limit), None).options


@pytest.mark.parametrize(
    "given",
    [
        ["-arch=sm_80"],
        ["-arch", "sm_80"],
        ["--gpu-architecture=compute_80", "--gpu-code=sm_80"],
        ["-gencode", "arch=compute_80,code=sm_80"],
        ["--generate-code=arch=compute_80,code=[compute_80,sm_80]"],
        ["-gencode=arch=compute_70,code=sm_70", "-gencode=arch=compute_80,code=sm_80", "-arch=native"],
        ["-cudart", "static"],
        ["--cudart=none"],
        ["-lineinfo", "-dlto"],
    ],
)
def test_architecture_and_runtime_are_replaced(given):
    assert rewritten(*given, "-c", "a.cu") == [*OURS, "-c", "a.cu"]


def test_values_of_other_options_stay():
    given = ["-Xcompiler", "-arch=armv8", "-o", "-cudart", "-I", "inc", "-Xptxas", "-v", "-DARCH=-arch=sm_70", "a.cu"]
    assert rewritten(*given) == [*OURS, *given]


def test_static_runtime_library_becomes_shared():
    given = ["a.o", "-lcudart_static", "-l", "cudart_static", "/cuda/lib64/libcudart_static.a", "-lrt"]
    assert rewritten(*given) == [*OURS, "a.o", "-lcudart", "-l", "cudart", "-lcudart", "-lrt"]


@pytest.mark.parametrize("question", ["--version", "-V", "--help", "--list-gpu-arch", "-cubin"])
def test_questions_pass_through(question):
    assert rewritten("-arch=sm_90", question) == ["-arch=sm_90", question]


def test_device_debugging_excludes_line_numbers():
    assert "-lineinfo" not in rewritten("-G", "a.cu")


def test_library_folder_is_given_only_to_links():
    linking = rewrite(["a.o", "-o", "a"], highest(80), "/libraries")
    assert linking.links and linking.options[-5:] == ["-L", "/libraries", "a.o", "-o", "a"]
    for option in ("-c", "-dc", "-dlink", "-E", "-M", "-ptx", "-fatbin", "-lib"):
        compiling = rewrite([option, "a.cu"], highest(80), "/libraries")
        assert not compiling.links and "/libraries" not in compiling.options


def test_option_files_are_read(tmp_path: Path):
    inner = tmp_path / "inner.rsp"
    inner.write_text("-arch=sm_80 'b c.o'")
    outer = tmp_path / "outer.rsp"
    outer.write_text(f'a.o --options-file "{inner}"\n-lcudart_static')
    assert rewritten("-optf", str(outer)) == [*OURS, "a.o", "b c.o", "-lcudart"]
    assert rewritten("-optf", "missing.rsp") == [*OURS, "-optf", "missing.rsp"]


def test_newest_architecture_that_the_gpu_runs():
    assert highest(89)(["70", "80", "90"]) == "80"
    assert highest(89)(["90", "100"]) == "90"
    assert highest(90)(["90", "90a"]) == "90a"
    assert highest(100)(["90a", "80"]) == "80"
