"""Which launch is captured by default: of those whose accesses are known by arithmetic, the one that has most."""

from __future__ import annotations

import pytest
from compilers import needs_gxx

import memsim
from memsim.support.errors import InputError

pytestmark = needs_gxx

# The launches of `work` load n + 1 elements a thread or so; what each leaves in x is what the next one starts from.
PROGRAM = """
#include <cstdio>
#include <cstdlib>
__device__ int total;
__global__ void init(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void work(int *x, int *y, int n) {
    __shared__ int tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int k = 0; k < 100; k++) tile[threadIdx.x] += k;  // is counted for nothing
    for (int k = 0; k < n; k++) sum += x[(i + k) % 256];
    y[i] = sum;
}
__global__ void again(int *x) { printf("told %d\\n", x[threadIdx.x]); x[threadIdx.x] = 7; }
int main(int argc, char **argv) {
    int *x, *y, *later, back[256];
    cudaMalloc(&x, sizeof back);
    cudaMalloc(&y, sizeof back);
    init<<<4, 64>>>(x);
    for (int k = 1; k < argc; k++) work<<<4, 64>>>(x, y, atoi(argv[k]));
    again<<<1, 1>>>(x);
    cudaMemcpy(back, y, sizeof back, cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(y);
    cudaMalloc(&later, 16);
    FILE *file = fopen("out.txt", "a");
    fprintf(file, "%d\\n", back[5]);
    puts("done");
    return argv[argc - 1][0] == '0';
}
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.cu").write_text(PROGRAM)
    return tmp_path


def capture(out, *arguments, **options):
    return memsim.capture("app.cu", arguments=arguments, out=out, registers=20, by="source", **options)


def test_the_launch_with_the_most_accesses_is_captured_and_the_program_runs_once(program, capfd):
    captured = capture("t.h5", "2", "9", "3", "9", "1")
    trace = captured.trace
    assert (trace.kernel, trace.parameters["launch"]) == ("work", 1), "the first of two that are equal"
    loads = [op for op in trace.ops if op.text.startswith("x[")]
    assert [trace.arrays[op.array].name for op in loads] == ["x"], "arrays of that moment, not of the program's end"
    assert capfd.readouterr().out == "told 1\ndone\n"
    assert (program / "out.txt").read_text() == "1\n"
    assert captured.notes == [
        "init: grid 4, block 64, 256 accesses in launch 0 of 1 launches",
        f"work: grid 4, block 64, {4 * 64 * 10:,} accesses in launch 1 of 5 launches (captured)",
        "again: grid 1, block 1, 2 accesses in launch 0 of 1 launches",
    ]


def test_a_folder_has_the_largest_launch_of_each_kernel(program):
    captured = capture("traces", "2", "9", "3")
    assert [(one.kernel, one.parameters["launch"]) for one in captured.traces] == [
        ("init", 0),
        ("work", 1),
        ("again", 0),
    ]
    alone = capture("one.h5", "2", "9", "3", kernel="work", launch=1).trace
    assert alone.digest == captured.traces[1].digest, "the same as when it is asked for by its number"


def test_launches_that_never_differ_are_not_kept_for_later(program):
    captured = capture("t.h5", "20", *["4"] * 5, "30", "4")
    assert captured.trace.parameters["launch"] == 0
    assert captured.notes[-1] == (
        "work: launch 6 has more accesses than those before it; choose it with --kernel and --launch"
    )


def test_several_launches_are_captured_by_one_run(program, capfd):
    captured = capture("traces", "2", "9", "3", kernel="work, again", launch="0,2")
    assert [path.name for path in sorted((program / "traces").iterdir())] == ["again-0.h5", "work-0.h5", "work-2.h5"]
    assert [one.parameters["order"] for one in captured.traces] == [1, 3, 4]
    capture("all", "2", "9", "3", launch="all")
    assert len(list((program / "all").iterdir())) == 5
    with pytest.raises(InputError, match="is one file for several launches; give a folder"):
        capture("t.h5", launch="0,2")
    with pytest.raises(InputError, match="--launch: 1-3 is no number of a launch"):
        capture("t.h5", launch="1-3")


def test_a_program_that_fails_leaves_nothing_whatever_was_kept(program):
    with pytest.raises(InputError, match="ended with exit code 1"):
        capture("traces", "2", "9", "09")
    assert not (program / "traces").exists()
