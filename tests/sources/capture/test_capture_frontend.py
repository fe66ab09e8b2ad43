"""The front end: which expressions of CUDA C++ are accesses, in which order, and what depends on what.

All snippets are parsed as one file; what is expected is written down by hand, from the language's rules.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from compilers import needs_gxx, needs_nvcc

from memsim.sources.capture.frontend import Instrumented, instrument
from memsim.sources.capture.runtime import FOLDER
from memsim.sources.capture.sites import Role, Site
from memsim.support.errors import InputError
from memsim.trace.schema import Kind

pytestmark = needs_gxx

ARGUMENTS = ["-std=c++17", "-D__CUDA_ARCH__=800", "-isystem", str(FOLDER), "-include", "cuda_runtime.h"]
SIGNATURE = (
    "float *a, float *b, const int *c, int i, int j, int n, P *p, float4 *q, float **rows, volatile float *v,"
    " const float *__restrict__ fx"
)
HEAD = """
#define AT(m, x, y) m[(x) * n + (y)]
#define ADD(x, y) ((x) + (y))
#define BOTH(x, y) do { a[x] = b[y]; } while (0)
#define N 16
struct P { float x; int bits : 4; float values[8]; P *next; };
__constant__ float table[N];
__device__ float total;
__device__ void swap(float &x, float &y) { float t = x; x = y; y = t; }
__device__ float square(float x) { return x * x; }
__device__ float first(const float *from) { return from[0]; }
__device__ float &element(float *of, int k) { return of[k]; }
template <typename T> __device__ T sum(const T *of, int k) { return of[k] + of[k + 1]; }
struct Cell { float x; __device__ Cell(const float *p) : x(p[0]) {} };
struct View { float *data; __device__ float &operator[](int k) const { return data[k]; } };
"""

# Name: (body of a kernel, its accesses as `kind text`, in order; a call or a latch stands as itself).
BODIES: dict[str, tuple[str, list[str]]] = {
    "copy": ("a[i] = b[i];", ["load b[i]", "store a[i]"]),
    "sum": ("a[i] = b[i] + b[j];", ["load b[i]", "load b[j]", "store a[i]"]),
    "compound": ("a[i] += b[i];", ["load b[i]", "load a[i]", "store a[i]"]),
    "increment": ("a[i]++; --b[j];", ["load a[i]", "store a[i]", "load b[j]", "store b[j]"]),
    "pointer arithmetic": ("*(a + i) = *b++;", ["load *b++", "store *(a + i)"]),
    "address": ("float *x = &a[i]; *x = 1;", ["store *x"]),
    "unevaluated": ("int x = sizeof(a[i]) + alignof(decltype(b[i]));", []),
    "discarded": ("a[i]; (void)b[i];", []),
    "volatile": ("v[i]; v[i] = v[i] + v[i];", ["load v[i]", "load v[i]", "load v[i]", "store v[i]"]),
    "nested": ("a[c[c[i]]] = 1;", ["load c[i]", "load c[c[i]]", "store a[c[c[i]]]"]),
    "rows": ("rows[i][j] = 0;", ["load rows[i]", "store rows[i][j]"]),
    "ternary": ("a[i] = i < n ? b[i] : b[j];", ["load b[i]", "load b[j]", "store a[i]"]),
    "comma": ("int x = (a[i] = 1, c[i]);", ["store a[i]", "load c[i]"]),
    "short circuit": ("if (i < n && c[i] > 0 || c[j]) a[i] = 0;", ["load c[i]", "load c[j]", "store a[i]"]),
    "members": (
        "p->x = p[i].x; p->values[i] = p->next->x;",
        ["load p[i].x", "store p->x", "load p->next", "load p->next->x", "store p->values[i]"],
    ),
    "bit field": ("p->bits = 1; int x = p->bits;", ["store p->bits", "load p->bits"]),
    "structure": ("q[i] = q[j]; float4 x = q[n]; q[i].y = x.x;",
                  ["load q[j]", "store q[i]", "load q[n]", "store q[i].y"]),
    "shared": ("__shared__ float s[4][N]; s[i][j] = 0; a[0] = s[1][2];",
               ["store s[i][j]", "load s[1][2]", "store a[0]"]),
    "dynamic shared": ("extern __shared__ double d[]; d[i] = d[j];", ["load d[j]", "store d[i]"]),
    "constant": ("a[i] = table[3];", ["load table[3]", "store a[i]"]),
    "device variable": ("total += a[i];", ["load a[i]", "load total", "store total"]),
    "registers": ("float r[2]; r[0] = i; r[1] = r[0]; P x; x.x = 1; x.values[3] = x.x;", []),
    "unrolled registers": ("float r[4]; for (int k = 0; k < 4; k++) r[k] = k;", ["latch"]),
    "local": ("float r[N]; r[i] = 1; a[i] = r[j];", ["store r[i]", "load r[j]", "store a[i]"]),
    "local of a structure": ("P x; x.values[i] = 1;", ["store x.values[i]"]),
    "reference": ("float &x = a[i]; x = x + 1;", ["load x", "store x"]),
    "array reference": ("float (&x)[4] = *(float (*)[4])a; x[i] = 1;", ["store x[i]"]),
    "cast": ("((int *)a)[i] = reinterpret_cast<const int &>(b[i]);",
             ["load reinterpret_cast<const int &>(b[i])", "store ((int *)a)[i]"]),
    "atomic": ("float x = atomicAdd(&a[i], b[i]); atomicMax((int *)p, 3); atomicCAS((int *)p, 1, 2);",
               ["load b[i]", "atomic &a[i]", "reduction (int *)p", "atomic (int *)p"]),
    "read only": ("a[i] = __ldg(b + i) + __ldg(&c[j]);", ["load b + i", "load &c[j]", "store a[i]"]),
    "for": ("for (int k = c[i]; k < c[i + 1]; k++) a[k] = 0;", ["load c[i]", "load c[i + 1]", "store a[k]", "latch"]),
    "while": ("while (c[i]) { if (b[i] > 0) break; i++; }", ["load c[i]", "load b[i]", "latch"]),
    "do": ("do a[i] = 0; while (c[i++]);", ["store a[i]", "load c[i++]", "latch"]),
    "no increment": ("for (;;) { if (c[i]) return; i++; }", ["load c[i]", "latch"]),
    "switch": ("switch (c[i]) { case 1: a[i] = 1; break; default: b[i] = 1; }",
               ["load c[i]", "store a[i]", "store b[i]"]),
    "call": ("a[i] = square(b[i]);", ["load b[i]", "store a[i]"]),  # the function itself accesses nothing
    "accessing call": ("a[i] = first(b + i);", ["call first(b + i)", "store a[i]"]),
    "by reference": ("swap(a[i], a[j]);", ["call swap(a[i], a[j])"]),
    "returned reference": ("element(a, i) = element(b, j);",
                           ["load element(b, j)", "store element(a, i)"]),
    "template": ("a[i] = sum(b, c[i]);", ["load c[i]", "call sum(b, c[i])", "store a[i]"]),
    "method": ("View x{a}; x[i] = x[j] * 2;", ["call x[j]", "load x[j]", "call x[i]", "store x[i]"]),
    "lambda": ("auto f = [&](int k) { return b[k]; }; a[i] = f(c[i]);", ["load c[i]", "call f(c[i])", "store a[i]"]),
    "macro argument": ("a[i] = ADD(b[i], c[i]);", ["load b[i]", "load c[i]", "store a[i]"]),
    "macro body": ("AT(a, i, j) = AT(b, j, i);", ["load AT(b, j, i)", "store AT(a, i, j)"]),
    "macro statement": ("BOTH(i, j);", ["load BOTH(i, j)", "store BOTH(i, j)", "latch"]),
    "shift": ("j = c[i] << c[j] >> 3; j >>= i; a[j << (i - 1)] = 0;",
              ["load c[i]", "load c[j]", "store a[j << (i - 1)]"]),
    "shift in place": ("unsigned *x = (unsigned *)a; x[i] <<= c[j]; x[j] >>= (x[n] <<= 2, i); p->bits <<= j;",
                       ["load c[j]", "load x[i]", "store x[i]", "load x[n]", "store x[n]", "load x[j]", "store x[j]",
                        "load p->bits", "store p->bits"]),
    "static": ("static int s; static const float w[2] = {1, 2}; s = c[i]; a[i] = w[1] + w[j];",
               ["load c[i]", "store s", "load w[j]", "store a[i]"]),
    "constructors": ("Cell x(b); Cell y = Cell(b + i); Cell z = b; a[i] = x.x; for (Cell u(b); i < n; i++) ;",
                     ["call Cell x(b);", "call Cell(b + i)", "call Cell z = b;", "store a[i]", "latch"]),
    "redundant": ("a[i] = b[i] * b[i] + b[ i ]; j = b[i];", ["load b[i]", "store a[i]", "load b[i]"]),
    "redundant behind a barrier": ("float x = b[i]; __syncthreads(); x += b[i]; a[i] = x;",
                                   ["load b[i]", "load b[i]", "store a[i]"]),
    "redundant with another index": ("float x = b[i]; i++; x += b[i]; a[j] = x;",
                                     ["load b[i]", "load b[i]", "store a[j]"]),
    "redundant by name alone": ("float s = b[i]; { int i = j; s += b[i]; } a[j] = s;",
                                ["load b[i]", "load b[i]", "store a[j]"]),
    "redundant behind a store": ("a[i] = b[i]; a[j] = b[i];", ["load b[i]", "store a[i]", "load b[i]", "store a[j]"]),
    "nobody can store there": ("a[i] = fx[i] + table[j]; __syncthreads(); atomicAdd(a, *fx);"
                               " a[j] = fx[i] + table[j] + *fx;",
                               ["load fx[i]", "load table[j]", "store a[i]", "load *fx", "reduction a", "store a[j]"]),
    "its index may change": ("a[i] = fx[c[i]]; a[j] = fx[c[i]];",
                             ["load c[i]", "load fx[c[i]]", "store a[i]", "load c[i]", "load fx[c[i]]", "store a[j]"]),
}  # fmt: skip


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def kernels() -> str:
    bodies = [body for body, _ in BODIES.values()]
    defined = "\n".join(f"__global__ void k{number}({SIGNATURE}) {{ {body} }}" for number, body in enumerate(bodies))
    main = "int main() { float h[4]; h[1] = h[0]; k0<<<1, 2>>>(h, h, 0, 0, 0, 0, 0, 0, 0, 0, 0); }"
    return f"{HEAD}{defined}\n{main}\n"


@pytest.fixture(scope="module")
def all_kernels(tmp_path_factory) -> Instrumented:
    return instrument(write(tmp_path_factory.mktemp("frontend") / "all.cu", kernels()), ARGUMENTS)


def told(site: Site) -> str:
    if site.role is Role.latch:
        return "latch"
    return f"{site.kind.name if site.kind is not None else 'call'} {site.text}"


def of_kernel(done: Instrumented, number: int) -> list[Site]:
    """The sites of one snippet: each is a line of its own."""
    line = HEAD.count("\n") + 1 + number
    return sorted((site for site in done.sites if site.line == line), key=lambda site: site.id)


@pytest.mark.parametrize("name", BODIES)
def test_accesses_are_found_in_order(all_kernels, name):
    number = list(BODIES).index(name)
    sites = of_kernel(all_kernels, number)
    if name == "lambda":  # its body is a function of its own, numbered behind
        sites = [site for site in sites if site.text != "b[k]"]
    assert [told(site) for site in sites] == BODIES[name][1]


def test_a_lambda_is_a_function_of_its_own(all_kernels):
    sites = of_kernel(all_kernels, list(BODIES).index("lambda"))
    call = next(site for site in sites if site.role is Role.call)
    assert [told(site) for site in sites if site.id > call.id] == ["store a[i]", "load b[k]"]


def test_callers_are_numbered_before_what_they_call(all_kernels):
    """A call's arguments are evaluated inside its mark: a lane there must come before one in the function."""
    square = [site for site in all_kernels.sites if site.line <= HEAD.count("\n")]
    assert min(site.id for site in square) > max(site.id for site in of_kernel(all_kernels, 0))


def test_ids_count_from_one_without_holes(all_kernels):
    assert [site.id for site in all_kernels.sites] == list(range(1, len(all_kernels.sites) + 1))


def test_host_code_keeps_its_text_but_for_the_launch(all_kernels):
    main = all_kernels.texts[all_kernels.path].splitlines()[-1]
    assert main.startswith("int main() { float h[4]; h[1] = h[0]; memsim_probe::launch(")
    assert "<<<" not in main
    assert main.count("nullptr") == 6  # of the pointers given as 0


def test_lines_stay_where_they_were(all_kernels):
    for old, new in zip(kernels().splitlines(), all_kernels.texts[all_kernels.path].splitlines(), strict=True):
        assert old.split("(")[0].split("=")[0][:20] == new.split("(")[0].split("=")[0][:20]


def test_every_text_stands_at_its_line_and_column(all_kernels):
    lines = kernels().splitlines()
    for site in all_kernels.sites:
        if site.text:
            there = " ".join(lines[site.line - 1][site.column - 1 :].split())
            assert there.startswith(site.text), site


# PTX ISA, shl and shr: distances are clamped to the width.
SHIFTS = """
using namespace memsim_probe;
static_assert(shift_left(1u, 31) == 1u << 31 && shift_left(1u, 32) == 0u && shift_left(1u, -1) == 0u);
static_assert(shift_right(-8, 1) == -4 && shift_right(-8, 32) == -1 && shift_right(8u, 40) == 0u);
static_assert(shift_left(1ull, 40) == 1ull << 40 && sizeof(shift_left((char)1, 1)) == sizeof(int));
constexpr unsigned left(unsigned value, int distance) { return shift_left_assign(value, distance) |= 1; }
constexpr signed char right(signed char value, int distance) { return shift_right_assign(value, distance); }
static_assert(left(6, 1) == 13 && left(6, 32) == 1 && right(-128, 9) == -1 && right(-128, 32) == -1);
"""


@needs_nvcc
def test_the_instrumented_text_compiles_for_a_gpu(tmp_path):
    done = instrument(write(tmp_path / "all.cu", kernels()), ARGUMENTS, gpu=True)
    path, ptx = write(tmp_path / "gpu.cu", done.texts[done.path]), tmp_path / "gpu.ptx"
    command = ["nvcc", "-w", "-std=c++17", "-arch=sm_80", "-DMEMSIM_GPU", "-include", str(FOLDER / "memsim_probe.h")]
    told = subprocess.run([*command, "-ptx", "-x", "cu", str(path), "-o", str(ptx)], capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    code = ptx.read_text()
    assert code.count(".entry") == len(done.kernels)
    n_accesses = sum(site.role is Role.access for site in done.sites)
    assert code.count("match.any.sync") >= 0.9 * n_accesses, "of accesses that a GPU's compiler cannot leave out"


def test_the_instrumented_text_compiles(all_kernels, tmp_path):
    path = write(tmp_path / "all.cu", all_kernels.texts[all_kernels.path] + SHIFTS)
    command = ["g++", "-std=c++17", "-fsyntax-only", "-w", "-isystem", str(FOLDER), "-include", "memsim_probe.h"]
    done = subprocess.run([*command, "-x", "c++", str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]


# -- dependence


# Name: (body of a kernel, {access: (what it waits for, what it stores)}).
DEPENDENCES: dict[str, tuple[str, dict[str, tuple[set[str], set[str]]]]] = {
    "addresses wait for the loads in them": (
        "a[c[i]] = b[d[i]];",
        {"load b[d[i]]": ({"d[i]"}, set()), "store a[c[i]]": ({"c[i]"}, {"b[d[i]]"})},
    ),
    "values are followed through variables": (
        "int x = c[i]; int y = 2 * x; x = n; a[y] = b[x]; b[y + x] = 0;",  # x is given another value
        {"load b[x]": (set(), set()), "store a[y]": ({"c[i]"}, {"b[x]"}), "store b[y + x]": ({"c[i]"}, set())},
    ),
    "values are followed around a loop": (
        "int x = 0, y = 0; for (int k = 0; k < n; k++) { a[y] = 0; y = x; x = c[k]; }",
        {"store a[y]": ({"c[k]"}, set())},
    ),
    "a decision": (
        "if (c[i]) a[i] = 0; b[i] = 1;",
        {"store a[i]": ({"c[i]"}, set()), "store b[i]": (set(), set())},
    ),
    "what a decision has changed": ("int x = 0; if (c[i]) x = 1; a[x] = 0;", {"store a[x]": ({"c[i]"}, set())}),
    "an early return": ("if (c[i] < 0) return; a[i] = 0;", {"store a[i]": ({"c[i]"}, set())}),
    "an early return before a value": (
        "if (c[i] < 0) return; int k = 2 * i; k += n; a[k] = 0;",
        {"store a[k]": ({"c[i]"}, set())},
    ),
    "continue decides within its loop alone": (
        "for (int k = 0; k < n; k++) { if (c[k]) continue; a[k] = 0; } b[i] = 1;",
        {"store a[k]": ({"c[k]"}, set()), "store b[i]": (set(), set())},
    ),
    "loop bounds decide on the body": (
        "for (int k = c[i]; k < c[i + 1]; k++) a[k] = b[k];",
        {"load b[k]": ({"c[i]", "c[i + 1]"}, set())},
    ),
    "short circuit": ("if (c[i] && d[i]) a[i] = 0;", {"load d[i]": ({"c[i]"}, set())}),
    "values are followed through functions": (
        "int x; pick(d, &x); a[x] = at(b, twice(c[i]));",
        {"store a[x]": ({"from[3]"}, {"of[k]"})},
    ),
    "an atomic waits for its operand": (
        "atomicAdd(&a[c[i]], b[i]);",
        {"reduction &a[c[i]]": ({"c[i]", "b[i]"}, set())},
    ),
}
FOLLOWED = """
__device__ int twice(int x) { return 2 * x; }
__device__ float at(const float *of, int k) { return of[k]; }
__device__ void pick(const int *from, int *to) { *to = from[3]; }
"""


@pytest.fixture(scope="module")
def dependent(tmp_path_factory) -> Instrumented:
    parameters = "float *a, float *b, const int *c, const int *d, int i, int n"
    bodies = [body for body, _ in DEPENDENCES.values()]
    lines = (f"__global__ void k{number}({parameters}) {{ {body} }}" for number, body in enumerate(bodies))
    return instrument(write(tmp_path_factory.mktemp("frontend") / "k.cu", FOLLOWED + "\n".join(lines)), ARGUMENTS)


@pytest.mark.parametrize("name", DEPENDENCES)
def test_dependence(dependent, name):
    sites = {site.id: site for site in dependent.sites}
    line = FOLLOWED.count("\n") + 1 + list(DEPENDENCES).index(name)
    found = {
        told(site): ({sites[one].text for one in site.waits_for}, {sites[one].text for one in site.data_from})
        for site in dependent.sites
        if site.line == line
    }
    for access, expected in DEPENDENCES[name][1].items():
        assert found[access] == expected, access


@pytest.mark.parametrize(
    ("name", "access", "loaded"),
    [
        ("addresses wait for the loads in them", "store a[c[i]]", {"c[i]"}),
        ("a decision", "store a[i]", set()),
        ("an early return", "store a[i]", set()),
        ("an early return before a value", "store a[k]", set()),
        ("values are followed through functions", "store a[x]", {"from[3]"}),
        ("continue decides within its loop alone", "store a[k]", set()),
        ("loop bounds decide on the body", "load b[k]", {"c[i]"}),
        ("an atomic waits for its operand", "reduction &a[c[i]]", {"c[i]"}),
    ],
)
def test_addresses_come_from_less_than_what_is_waited_for(dependent, name, access, loaded):
    sites = {site.id: site for site in dependent.sites}
    line = FOLLOWED.count("\n") + 1 + list(DEPENDENCES).index(name)
    (found,) = (site for site in dependent.sites if site.line == line and told(site) == access)
    assert {sites[one].text for one in found.address_from} == loaded


def test_dependence_reaches_into_functions(dependent):
    texts = {site.id: site.text for site in dependent.sites}
    of = next(site for site in dependent.sites if site.text == "of[k]")
    assert {texts[one] for one in of.waits_for} == {"c[i]"}  # through twice() and the parameter k


def test_gaps_count_the_arithmetic_between(tmp_path):
    text = "__global__ void k(float *a, float *b, int i) { float x = b[i + 1] * 2; a[i] = x * x + 1; }"
    load, store = instrument(write(tmp_path / "k.cu", text), ARGUMENTS).sites
    assert (load.gap, store.gap) == (0, 3)  # the address's own arithmetic is free


def test_pragma_unroll_marks_the_latch(tmp_path):
    loop = "for (int k = 0; k < n; k++) a[k] = 0;\n"
    known = loop.replace("n;", "100;")
    loops = f"#pragma unroll\n{loop}#pragma unroll 1\n{loop}#pragma unroll (8)\n{loop}{loop}"
    loops += f"#pragma unroll\n{known}#pragma unroll N\n{known}#pragma unroll 8\n{known}{known.replace('100', '99')}"
    text = f"constexpr int N = 2;\n__global__ void k(float *a, int n) {{\n{loops}}}"
    sites = instrument(write(tmp_path / "k.cu", text), ARGUMENTS).sites
    assert [site.unroll for site in sites if site.role is Role.latch] == [4, 1, 8, None, 0, 0, 8, None]


# -- files


@pytest.mark.parametrize("said", ["once", "GCC system_header"])
def test_headers_with_device_code_are_instrumented_too(tmp_path, said):
    (tmp_path / "inc").mkdir()
    write(
        tmp_path / "inc" / "part.cuh", f"#pragma {said}\n__device__ float half(const float *x) {{ return x[0] / 2; }}\n"
    )
    write(tmp_path / "plain.h", "#define WIDTH 4\n")
    main = write(tmp_path / "main.cu", '#include "part.cuh"\n#include "plain.h"\n'
                 "__global__ void k(float *a) { a[WIDTH] = half(a); }\n")  # fmt: skip
    done = instrument(main, [*ARGUMENTS, f"-I{tmp_path}/inc"])
    assert {path.name for path in done.texts} == {"main.cu", "part.cuh", "plain.h"}
    assert {(site.file, site.text) for site in done.sites} >= {("inc/part.cuh", "x[0]"), ("main.cu", "a[WIDTH]")}
    assert "memsim_probe::" in done.texts[tmp_path / "inc" / "part.cuh"]
    assert done.texts[tmp_path / "plain.h"] == "#define WIDTH 4\n"


def test_what_the_preprocessor_leaves_out_stays_out(tmp_path):
    text = "__global__ void k(float *a) {\n#if __CUDA_ARCH__ >= 700\na[0] = 1;\n#else\na[1] = 1;\n#endif\n}"
    assert [site.text for site in instrument(write(tmp_path / "k.cu", text), ARGUMENTS).sites] == ["a[0]"]


def test_the_compilers_own_vector_intrinsics_are_let_pass(tmp_path):
    """Their headers are full of what only g++ knows: more errors than clang would count."""
    text = "#include <immintrin.h>\n__global__ void k(float *a) { a[0] = 1; }\nint main() { _mm_pause(); }"
    assert [site.text for site in instrument(write(tmp_path / "k.cu", text), ARGUMENTS).sites] == ["a[0]"]


def test_macros_that_make_kernels_and_launches(tmp_path):
    text = """#define KERNEL(name, op) __global__ void name(float *a, int n) { \\
        int i = threadIdx.x; if (i < n) a[i] op 2; }
KERNEL(doubled, *=)
KERNEL(more, +=)
#define RUN(k) k<<<1, 32>>>(a, 32)
int main() { float *a; cudaMalloc(&a, 128); RUN(doubled); RUN(more); }
"""
    done = instrument(write(tmp_path / "k.cu", text), ARGUMENTS)
    assert done.kernels == ["doubled", "more"]
    assert [(site.line, site.kind) for site in done.sites] == [
        (4, Kind.load), (4, Kind.store), (3, Kind.load), (3, Kind.store),
    ]  # fmt: skip
    assert done.texts[done.path].count("memsim_probe::launch(") == 2


def test_bytes_that_are_not_utf8_do_not_shift_anything(tmp_path):
    path = tmp_path / "k.cu"
    path.write_bytes("// größer\n__global__ void k(float *a) { /* ".encode() + b"\xe9\xff */ a[1] = a[0]; }")
    assert [site.text for site in instrument(path, ARGUMENTS).sites] == ["a[0]", "a[1]"]


def test_a_byte_order_mark_is_taken_away(tmp_path):
    path = tmp_path / "k.cu"
    path.write_bytes(b"\xef\xbb\xbf__global__ void k(float *a) { a[1] = 0; }")
    done = instrument(path, ARGUMENTS)
    assert done.texts[path].isascii() and done.texts[path].strip().startswith("__global__")
    assert [(site.line, site.column) for site in done.sites] == [(1, 34)]


def test_launch_brackets_may_be_apart(tmp_path):
    text = "__global__ void k(float *a) { a[0] = 1; }\nint main() { k << <1, 2>> > (nullptr); }"
    done = instrument(write(tmp_path / "k.cu", text), ARGUMENTS)
    assert re.search(r"launch\(.*MEMSIM_KERNEL\(k ?\), memsim_probe::shape\(", done.texts[done.path])


def test_launch_shapes_may_be_in_braces(tmp_path):
    kernel = "#define TWO 2\n__global__ void k(float *a) { a[threadIdx.x] = 1; }\n"
    text = kernel + "int main() { k<<<{TWO, 2}, { 32 }>>>(0); k<<<1, {8, (4, 2)}, 0>>>(0); int x[] = {1}; }"
    done = instrument(write(tmp_path / "app.cu", text), ARGUMENTS)
    main = done.texts[done.path].splitlines()[2]
    assert main.count("dim3{") == 3 and "shape(dim3{TWO, 2}, dim3{ 32 })" in main and "x[] = {1}" in main
    assert [(site.line, site.text) for site in done.sites] == [(2, "a[threadIdx.x]")]


def test_what_nvcc_passes_over_is_passed_over(tmp_path):
    text = """inline constexpr int warpSize = 32;
__device__ void step(float *a);
__global__ void k(float *a) { a[threadIdx.x / warpSize + \\  // a warp's own
  1] = 1; }
int main() { void *of = (void *)step; k<<<1, 32>>>(0); }"""
    done = instrument(write(tmp_path / "k.cu", text), ARGUMENTS)
    assert [(site.line, site.text) for site in done.sites] == [(3, "a[threadIdx.x / warpSize + \\ // a warp's own 1]")]


def test_device_functions_may_be_called_so_by_a_declaration_alone(tmp_path):
    text = """struct S { int v[2]; __host__ __device__ S(int x); __device__ int get(int i) const; };
template <class T> struct U { T v[2]; __device__ T get(int i) const; };
__host__ __device__ int first(const int *p);
#define AT(p, i) (p)[i]
S::S(int x) { v[0] = x; }
int S::get(int i) const { return AT(v, i); }
template <class T> T U<T>::get(int i) const { return v[i]; }
int first(const int *p) { return p[0]; }
int of_the_host(const int *p) { return p[0]; }
__global__ void k(S *s, U<int> *u, int *p) { p[1] = s->get(0) + u->get(1) + first(p); }
int main() { k<<<1, 1>>>(0, 0, 0); }"""
    done = instrument(write(tmp_path / "k.cu", text), ARGUMENTS)
    assert sorted(site.line for site in done.sites if site.kind is not None) == [5, 6, 7, 8, 10]


def test_a_function_called_so_by_a_declaration_alone_may_begin_with_a_macro(tmp_path):
    text = """#define REAL float
struct template_result { float v; };
__device__ float first(const float *p);
__device__ template_result second(const float *p);
REAL first(const float *p) { return p[1]; }
template_result second(const float *p) { return {p[2]}; }
__global__ void k(float *p) { p[0] = first(p) + second(p).v; }
int main() { k<<<1, 1>>>(0); }"""
    done = instrument(write(tmp_path / "k.cu", text), ARGUMENTS)
    found = sorted((site.line, site.column, site.text) for site in done.sites if site.kind is not None)
    assert found == [(5, 37, "p[1]"), (6, 50, "p[2]"), (7, 31, "p[0]")]


@pytest.mark.parametrize(
    "constant", ["const unsigned warpSize{32};", "namespace mine {\nconstexpr int warpSize = 32;\n}"]
)
def test_a_constant_of_cudas_name_stands_outside_namespaces(tmp_path, constant):
    name = "mine::warpSize" if "mine" in constant else "warpSize"
    text = f"{constant}\n__global__ void k(float *a) {{ a[threadIdx.x / {name}] = 1; }}\n"
    done = instrument(write(tmp_path / "k.cu", text), ARGUMENTS)
    assert [site.text for site in done.sites] == [f"a[threadIdx.x / {name}]"]
    assert ("warpSize = 32" in done.texts[done.path]) == ("mine" in constant)


def test_declarations_over_several_lines_keep_the_lines_behind(tmp_path):
    text = "__global__ void k(float *a) {\n  extern __shared__\n    float s[];\n  a[1 <<\n    (int)s[0]] = 1;\n}\n"
    done = instrument(write(tmp_path / "k.cu", text), ARGUMENTS)
    assert done.texts[done.path].count("\n") == text.count("\n")
    assert [site.line for site in done.sites] == [5, 4]


def test_a_cast_to_void_does_not_hide_what_is_allocated(tmp_path):
    kept = "cudaMalloc(&raw, 4); cudaMalloc((void **)&unknown, 4);"
    text = f"""struct P {{ float *x; struct Hidden *h; }};
template <class T> void make(T **p) {{ cudaMalloc((void **)p, sizeof(T)); }}
int main() {{ P s; void *raw; struct Hidden *unknown; make(&s.x); {kept}
cudaMallocManaged( (void**) & s.x , 4); cudaMalloc(reinterpret_cast<void **>(&s.x), 4); }}"""
    done = instrument(write(tmp_path / "k.cu", text), ARGUMENTS)
    _, make, main, casts = done.texts[done.path].splitlines()
    assert "cudaMalloc(p, sizeof(T))" in make
    assert main.endswith(kept)  # Hidden has no size here
    assert casts == "cudaMallocManaged( & s.x , 4); cudaMalloc(&s.x, 4); }"


# -- refusals


def test_inline_ptx_that_no_kernel_reaches_is_let_pass(tmp_path):
    unused = '__device__ int lane() { int r; asm("mov.u32 %0, %laneid;" : "=r"(r)); return r; }\n'
    path = write(tmp_path / "k.cu", unused + "__global__ void k(int *a) { a[0] = 1; }")
    done = instrument(path, ARGUMENTS)
    assert [site.text for site in done.sites] == ["a[0]"] and "laneid" not in done.texts[path]
    used = write(tmp_path / "used.cu", unused + "__global__ void k(int *a) {\n  a[0] = lane();\n}")
    with pytest.raises(InputError, match="used.cu:1: inline PTX"):
        instrument(used, ARGUMENTS)


@pytest.mark.parametrize(
    ("code", "line", "reason"),
    [
        ('__global__ void k(int *a) {\n  asm("mov.u32 %0, %laneid;" : "=r"(a[0]));\n}', 2, "inline PTX"),
        ("__global__ void c(int *a) {}\n__global__ void k(int *a) {\n  c<<<1, 1>>>(a);\n}", 3, "device-side launch"),
        ("__global__ void k(int *a) {\nagain: a[0]++;\n  if (a[0] < 5) goto again;\n}", 3, "goto"),
        ("__global__ void k(int *a) {\n  a[0] = unheard_of(3);\n}", 2, "use of undeclared identifier 'unheard_of'"),
        ("__global__ void k(cudaSurfaceObject_t s) {}", 1, "surfaces are not known"),
        ("#include <string>\nbool b = std::string().starts_with('a');", 2, "a later C++ may have it: --std c++20"),
        ('#include "missing.cuh"\n__global__ void k() {}', 1, "file not found"),
    ],
)
def test_what_cannot_be_captured_is_refused_with_its_line(tmp_path, code, line, reason):
    path = write(tmp_path / "k.cu", code)
    with pytest.raises(InputError) as refusal:
        instrument(path, ARGUMENTS)
    assert str(refusal.value).startswith(f"{path}:{line}: ")
    assert reason in str(refusal.value)


def test_all_names_that_nothing_declares_are_told_at_once(tmp_path):
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k(int *x) { *x = cudaFirst(); }\nint main() { cudaSecond_t a; cudaThird(1); }\n")
    with pytest.raises(InputError, match="identifier 'cudaFirst'; not known either: cudaSecond_t, cudaThird$"):
        instrument(path, ["-std=c++17", "-isystem", str(FOLDER), "-include", "cuda_runtime.h"])
