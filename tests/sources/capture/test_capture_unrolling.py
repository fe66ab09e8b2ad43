"""Which loops have no back-edge: trip counts against arithmetic, the choice against nvcc's own code."""

from __future__ import annotations

import re
import subprocess

from compilers import needs_gxx, needs_nvcc

from memsim.sources.capture.frontend import instrument
from memsim.sources.capture.runtime import FOLDER
from memsim.sources.capture.sites import Role

pytestmark = needs_gxx

ARGUMENTS = ["-std=c++17", "-D__CUDA_ARCH__=800", "-isystem", str(FOLDER), "-include", "cuda_runtime.h"]
SIGNATURE = "const float *a, float *b, int i, int n"
HEAD = "#define N 16\nenum { E = 8 };\nconstexpr int C = 12;\n__device__ float f(float x) { return x + 1; }\n"


def unrolled(folder, kernels: list[str]) -> list[list[int | None]]:
    """For every kernel, a line each, how its loops are taken to be unrolled, inner ones first."""
    path = folder / "loops.cu"
    path.write_text(HEAD + "\n".join(kernels))
    sites = [site for site in instrument(path, ARGUMENTS).sites if site.role is Role.latch]
    first = HEAD.count("\n") + 1
    return [[site.unroll for site in sites if site.line == first + k] for k in range(len(kernels))]


# A loop, and how many iterations come before a back-edge: 0 is all, None the compiler's choice.
LOOPS = {
    "for (int k = 0; k < N; k++) b[k] = 0;": 0,
    "for (int k = N; k >= 0; k -= 2) b[k] = 0;": 0,
    "for (int k = C; k > 0; k >>= 1) b[k] = 0;": 0,
    "for (int k = 1; k != E; k = k + 1) b[k] = 0;": 0,
    "int k; for (k = 0; k < sizeof(double); ++k) b[k] = 0;": 0,
    "for (int k = 0; k < 64; k++) b[k] = 0;": 0,
    "for (int k = 0; k < 65; k++) b[k] = 0;": None,
    "for (int k = 0; k < n; k++) b[k] = 0;": None,
    "for (int k = i; k < n; k += 3) b[k] = 0;": None,
    "for (int k = i; k < n; k += blockDim.x) b[k] = 0;": 1,
    "for (int k = 0; k < n; k++) { if (a[k]) break; }": 1,
    "for (int k = 0; k < n; k++) if (a[k]) n--;": 1,
    "for (int k = 0; k < T; k++) b[k] = 0;": None,  # of the template: known to the compiler alone
    "for (int k = 0; k < 4; k++) { b[k] = 0; k++; }": 1,
    "for (int k = 0; k < 4;) b[k++] = 0;": 1,
    "for (int k = 1; k < 4; k *= 1) b[k] = 0;": None,
    "for (int k = 0; k < 4; k++) b[k] = f(b[k]);": None,
    "int k = 0; while (k < 4) b[k++] = 0;": 1,
}


def test_constant_trip_counts_are_found(tmp_path):
    kernels = [f"template <int T> __global__ void k{n}({SIGNATURE}) {{ {loop} }}" for n, loop in enumerate(LOOPS)]
    assert [found for (found,) in unrolled(tmp_path, kernels)] == list(LOOPS.values())


BODIES = {
    "one": "s += a[i * n + k];",
    "six": "s += a[k] * b[k] + a[k + n] * b[k + n] + a[k + 2 * n] / b[k + 2 * n];",
    "branch": "if (a[k] > 3) s += a[k + n]; else b[k] = 3;",
    "exit": "if (a[k] > 3) break; s += a[k];",
    "exponential": "s += expf(a[k]);",
    "nest": "for (int j = 0; j < 4; j++) s += a[k * n + j * 7];",
}


@needs_nvcc
def test_what_is_taken_for_unrolled_has_no_back_edge_in_ptx(tmp_path):
    cases = [(name, trips) for name in BODIES for trips in (2, 3, 4, 8, 12, 16, 24, 32, 48, 64)]
    kernels = [
        f"__global__ void {name}_{trips}({SIGNATURE})"
        f" {{ float s = 0; for (int k = 0; k < {trips}; k++) {{ {BODIES[name]} }} b[i] = s; }}"
        for name, trips in cases
    ]
    ours = [found[-1] for found in unrolled(tmp_path, kernels)]
    subprocess.run(["nvcc", "-w", "-ptx", "loops.cu", "-o", "loops.ptx"], cwd=tmp_path, check=True)
    ptx = (tmp_path / "loops.ptx").read_text()
    bodies = dict(re.findall(r"\.entry _Z\d+([a-z]+_\d+)\w+\(.*?\n\{(.*?)\n\}\n", ptx, re.DOTALL))
    theirs = [not has_back_edge(bodies[f"{name}_{trips}"]) for name, trips in cases]
    wrong = [case for case, we, they in zip(cases, ours, theirs, strict=True) if we == 0 and not they]
    assert not wrong
    assert ours.count(0) > 0.7 * sum(theirs)


PARTIAL = {
    "for (int k = 0; k < n; k++) s += a[k * 32];": 4,
    "for (int k = i; k < n; k += 3) s += a[k * 32];": 4,
    "for (int k = n; k > i; k -= 2) s += a[k * 32];": 4,
    "for (int k = i; k < n; k++) { s += a[k * 32]; __syncthreads(); }": 4,
    "\n#pragma unroll\nfor (int k = 0; k < n; k++) s += a[k * 32];": 4,
    "\n#pragma unroll 8\nfor (int k = 0; k < n; k++) s += a[k * 32];": 8,
    "\n#pragma unroll 5\nfor (int k = 0; k < 1000; k++) s += a[k * 32];": 5,
    "\n#pragma unroll 1\nfor (int k = 0; k < n; k++) s += a[k * 32];": 1,
    "for (int k = i; k < n; k += blockDim.x) s += a[k * 32];": 1,
    "for (int k = 0; k < n; k++) { if (a[k * 32] > 3) break; s += k; }": 1,
}


@needs_nvcc
def test_what_is_taken_for_partly_unrolled_is_in_ptx(tmp_path):
    """None is the compiler's choice: nvcc 13 chooses four. What does not divide by it, it executes one by one."""
    kernels = [
        f"__global__ void k{n}({SIGNATURE}) {{ float s = 0; {loop} b[i] = s; }}" for n, loop in enumerate(PARTIAL)
    ]
    path = tmp_path / "loops.cu"
    path.write_text("\n".join(kernels))
    latches = [site for site in instrument(path, ARGUMENTS).sites if site.role is Role.latch]
    ours = [site.unroll for site in sorted(latches, key=lambda site: site.line)]
    assert [4 if found is None else found for found in ours] == list(PARTIAL.values())
    subprocess.run(["nvcc", "-w", "-ptx", "loops.cu", "-o", "loops.ptx"], cwd=tmp_path, check=True)
    bodies = re.findall(r"\.entry _Z2k\d\w+\(.*?\n\{(.*?)\n\}\n", (tmp_path / "loops.ptx").read_text(), re.DOTALL)
    rest = [theirs.count("ld.global") - wanted for theirs, wanted in zip(bodies, PARTIAL.values(), strict=True)]
    assert all(0 <= more <= 1 for more in rest), rest


def has_back_edge(code: str) -> bool:
    lines = code.splitlines()
    labels = {line.split(":")[0]: at for at, line in enumerate(lines) if re.match(r"\$\w+:", line)}
    jumps = ((at, re.search(r"\bbra\S*\s+(\$\w+)", line)) for at, line in enumerate(lines))
    return any(jump and labels[jump[1]] <= at for at, jump in jumps)
