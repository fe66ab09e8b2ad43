"""CUDA's mathematical functions: what the rare ones give, and that all of a toolkit's headers are known."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from compilers import needs_gxx, needs_nvcc
from places import DATA
from scipy import special

from memsim.sources.capture.runtime import FOLDER

pytestmark = needs_gxx

LANES = np.arange(79)
X = (LANES - 39) * 37.25 + LANES * 0.0123
Q = (LANES + 1) / 40
A, B, C = LANES * 0x10003 - 0x200040, 0x7FFF8000 - LANES * 12345, LANES * 99 - 3000


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """The numbers of each function, a row a function."""
    out = tmp_path_factory.mktemp("special") / "t.h5"
    command = [sys.executable, "-m", "memsim", "capture", str(DATA / "capture" / "special.cu"), "-o", str(out), "-q"]
    done = subprocess.run([*command, "--by", "source", "--registers", "20"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return np.array([line.split() for line in done.stdout.splitlines()], float)


def test_special_functions_are_scipys(lines):
    expected = [special.erfinv(Q - 1), special.erfcinv(Q), special.ndtri(Q / 2), special.i0(X / 100)]
    expected += [special.i1(X / 100), np.sqrt(Q**2 + 29), special.erfcinv(Q * 1e-12)]
    for line, numbers in zip(lines, expected, strict=False):
        assert line == pytest.approx(numbers, rel=1e-13, abs=1e-15)


def halves(exact, mode):
    """The nearest of numpy's halves, or the neighbour of `exact` on the side of `mode`."""
    near = exact.astype(np.float16)
    wrong = {"rn": near != near, "ru": near < exact, "rd": near > exact, "rz": abs(near.astype(float)) > abs(exact)}
    toward = {"rn": near, "ru": np.float16(np.inf), "rd": np.float16(-np.inf), "rz": np.float16(0)}
    return np.where(wrong[mode], np.nextafter(near, toward[mode]), near).astype(float)


def test_halves_are_rounded_as_their_names_say(lines):
    x = X.astype(np.float32).astype(float)
    for line, mode in zip(lines[10:13], ["rz", "ru", "rd"], strict=True):
        assert line.tolist() == halves(x, mode).tolist()
    for line, mode in zip(lines[13:15], ["rn", "ru"], strict=True):
        assert line.tolist() == halves(np.trunc(X), mode).tolist()
    near = halves(x, "rn")
    assert lines[15].tolist() == np.ceil(near).tolist()
    # halfway between two bfloat16, but for the last digits, which a float in between would lose
    assert lines[16].tolist() == [2.0**40] + [2.0**40 + 2.0**33] * 78
    assert lines[17].tolist() == np.floor(near).tolist()
    assert lines[18].tolist() == np.clip(np.trunc(near), 0, 255).tolist()
    below = (x.astype(np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32).astype(float)
    step = np.where((x < 0) & (below != x), 2.0 ** (np.floor(np.log2(np.maximum(abs(below), 1e-9))) - 7), 0)
    assert lines[19].tolist() == (below - step).tolist()


def pairs(word, signed=True):
    """Halves of words, the lower one first."""
    parts = np.stack([word & 0xFFFF, word >> 16 & 0xFFFF])
    return np.where(signed & (parts > 0x7FFF), parts - 0x10000, parts)


def joined(parts):
    return (parts[0] & 0xFFFF) | (parts[1] & 0xFFFF) << 16


def signed_bytes(word, *places):
    return [((word >> 8 * place & 0xFF) ^ 0x80) - 0x80 for place in places]


def test_intrinsics_on_words_are_their_definitions(lines):
    a, b = pairs(A), pairs(B)
    expected = [np.maximum(A + C, B), np.maximum(0, np.minimum(np.minimum(A, B), C))]
    sums = (pairs(A, False) + pairs(B, False)) & 0xFFFF
    expected += [joined(np.minimum(sums, pairs(C, False))), joined(np.maximum(a, b))]
    expected += [2 * (a[1] >= b[1]) + (a[0] >= b[0])]
    expected += [C + sum(half * byte for half, byte in zip(a, signed_bytes(B, 2, 3), strict=True))]
    lows = pairs(A, False)
    expected += [7 + lows[0] * (B & 0xFF) + lows[1] * (B >> 8 & 0xFF)]
    both = (B & 0xFFFFFFFF).astype(object) << 32 | (A & 0xFFFFFFFF).astype(object)
    expected += [np.array([int(w) >> min(s, 32) & 0xFFFFFFFF for w, s in zip(both, LANES, strict=True)])]
    expected += [np.full_like(A, 0xFFFF), np.ones_like(A)]  # equal are the lower halves; NaN differs, unordered alone
    for line, numbers in zip(lines[20:30], expected, strict=True):
        assert (line.astype(np.int64) & 0xFFFFFFFF).tolist() == (numbers.astype(np.int64) & 0xFFFFFFFF).tolist()


def test_conversions_have_limits(lines):
    """CUDA Math API: what is too large becomes the largest; NaN 0, or of 64 bits the highest bit alone."""
    nan, of_64, odd = lines[30:33, 0], 2.0**63, LANES % 2 == 1
    assert nan.tolist() == [-of_64, of_64, 0] and (lines[30:33] == nan[:, None]).all()
    assert lines[33].tolist() == lines[35].tolist() == np.where(odd, of_64, -of_64).tolist()
    assert lines[34].tolist() == np.where(odd, 2.0**32 - 1, 0).tolist()


def test_erfcinv_of_the_least_numbers_is_the_root(lines):
    """By log(erfc(x)), as erfc(x) itself has few digits there, or none."""
    y = [1e-301] + [math.ldexp(i, -1074) for i in LANES[1:].tolist()]
    logs = [math.log(one) for one in y]
    assert special.log_ndtr(-lines[36] * math.sqrt(2)) + math.log(2) == pytest.approx(logs, rel=1e-14)


def test_products_of_vectors_are_numpys(lines):
    i = LANES
    pair, unsigned = np.stack([400 * (i - 40), 30000 - 700 * i]), np.stack([7 * i, np.full_like(i, 60000)])
    signed = ((np.stack([3 * i - 120, 100 - 2 * i, i, -i]) + 128) & 255) - 128
    t, u, ones = 3 * i & 255, 255 - i, np.ones_like(i)
    expected = [i + (pair * signed[:2]).sum(0), i + (pair * signed[2:]).sum(0)]
    expected += [5 + (unsigned * np.stack([t, u])).sum(0)] * 2
    expected += [i + (signed * signed[[1, 1, 0, 3]]).sum(0)]
    expected += [5 + (np.stack([t, u, ones, 2 * ones]) * np.stack([u, u, 3 * ones, t])).sum(0)]
    assert lines[40:46].tolist() == np.array(expected).tolist()


# What is not there: kernels that launch kernels, clusters, 16-byte atomics, textures and surfaces that are refused,
# barriers by number; what no program calls by these names; and what CUDA has removed.
_NO_AIM = re.compile(
    r"cuda\w*(ParameterBuffer|LaunchDevice|GraphExec|GraphKernelNode|FireAndForget|TailLaunch)\w*|cudaCG\w+|__u128\w+"
    r"|__cluster\w+|__is\w+|tex\w+"
    r"|surf\w+|__cvta\w+grid\w+|__fmaf_ieee_\w+|__(barrier|uni)_sync\w*|__threadfence_cluster|__pm\d|\w*_ptsz|__(nv|cuda|builtin)_?\w+"
    r"|__[A-Z]\w+|__\w+__|(float|double|u?int|u?ll)2(float|double|u?int|u?ll)|d(add|sub|mul)|all|any|ballot|syncthreads_\w+"
)
_USED = "#ifndef {0}\nusing ::{0};\n#endif\n"  # not of macros
_HEADERS = ["cuda_runtime.h", "cuda_fp16.h", "cuda_bf16.h", "cuComplex.h"]


@needs_nvcc
def test_a_toolkits_functions_and_structures_are_known(tmp_path):
    """Those of whose names nvcc says, by itself, that they are declared."""
    asked = subprocess.run(["nvcc", "--dryrun", "-x", "cu", "/dev/null"], capture_output=True, text=True).stderr
    folder = Path(re.search(r'INCLUDES="-I([^"]*)"', asked)[1].strip())
    headers = [*folder.glob("cuda_*.h"), *folder.glob("sm_*.h"), *folder.glob("*_functions.h"), *folder.glob("crt/*.h")]
    text = "".join(path.read_text("latin-1") for path in headers if path.name != "mma.h")
    structures = set(
        re.findall(r"\b(?:struct|union) (?:__\w+__ )*(cuda\w+)", (folder / "driver_types.h").read_text("latin-1"))
    )
    named = set(re.findall(r"\b([a-z_]\w+) *\(", text)) | structures
    program = tmp_path / "names.cu"

    def declared(names, command, undeclared):
        includes = "".join(f"#include <{header}>\n" for header in _HEADERS)
        program.write_text(
            includes + "namespace checked {\n" + "".join(_USED.format(name) for name in sorted(names)) + "}\n"
        )
        run = subprocess.run([*command, str(program)], capture_output=True, text=True, cwd=tmp_path, env=plain)
        known = names - set(re.findall(undeclared, run.stderr))
        assert invented in names - known  # the compiler came to the last name
        return known

    plain, invented = os.environ | {"LC_ALL": "C"}, "zz_of_no_header"
    nvcc = ["nvcc", "-w", "-cubin", "-arch=sm_90", "-Xcudafe", "--error_limit=100000"]
    theirs = declared(named | {invented}, nvcc, r'global scope has no "(\w+)"')
    gxx = ["g++", "-x", "c++", "-std=c++17", "-w", "-fsyntax-only", f"-I{FOLDER}", "-include", "memsim_probe.h"]
    ours = declared(
        theirs | {invented},
        [*gxx, "-D__CUDACC__", "-fmax-errors=0"],
        r"['‘](\w+)['’] has not been declared in ['‘]::['’]",
    )
    assert len(theirs) > 1000 and len(theirs & structures) > 50
    assert not [name for name in theirs - ours if not _NO_AIM.fullmatch(name)]
