"""The tables of what functions become, counted again in what nvcc makes of them."""

import re
import shutil
import subprocess
from collections import Counter

import numpy as np
import pytest

from memsim.sources.function_counts import DOUBLE, FAST, INTEGER_QUOTIENTS, SINGLE
from memsim.sources.sass.disassembly import disassemble
from memsim.sources.sass.tools import paths_of
from memsim.trace.schema import INSTRUCTION_CLASSES


def has_tools():
    """The tables are those of one release; another's library may differ."""
    printed = (
        subprocess.run(["nvcc", "--version"], capture_output=True, text=True).stdout if shutil.which("nvcc") else ""
    )
    return "release 13.0" in printed and bool(paths_of("nvdisasm"))


pytestmark = pytest.mark.skipif(not has_tools(), reason="nvcc 13.0 and nvdisasm are not installed")
MULTIPLY, CONTROL = INSTRUCTION_CLASSES.index("multiply"), INSTRUCTION_CLASSES.index("control")
WRITTEN = {
    np.true_divide: "a / b", np.floor_divide: "floor(a / b)", np.reciprocal: "1 / a", np.power: "pow(a, b)",
    np.arctan: "atan(a)", np.arctan2: "atan2(a, b)", np.arcsin: "asin(a)", np.arccos: "acos(a)",
    np.maximum: "fmax(a, b)", np.minimum: "fmin(a, b)", np.sign: "(a > 0) - (a < 0)",
}  # fmt: skip
# Which conditional branches ordinary numbers take, in their order; others are all taken, past what rare numbers need.
TAKEN = {
    ("power", "float"): "nnnny", ("power", "double"): "nyy", ("log", "double"): "n", ("log2", "double"): "n",
    ("log10", "double"): "n", ("sin", "double"): "ny", ("cos", "double"): "ny",
}  # fmt: skip


def source(name, expression, ctype):
    return f"""extern "C" __global__ void k_{name}({ctype} *x, {ctype} *y) {{
        {ctype} a = x[threadIdx.x], b = y[threadIdx.x]; x[threadIdx.x] = {expression}; }}\n"""


def compiled(sources, folder, *options):
    (folder / "k.cu").write_text("".join(sources))
    command = ["nvcc", "-w", "-arch=sm_80", "-cubin", *options, "-o", folder / "k.cubin", folder / "k.cu"]
    subprocess.run(command, check=True)
    return {name.removeprefix("k_"): code for name, code in disassemble((folder / "k.cubin").read_bytes()).items()}


def executed(code, taken):
    """The instructions on the way of ordinary numbers."""
    at = {label: k for k, one in enumerate(code) for label in one.labels}
    outcomes, returns, k = iter(taken), [], 0
    while True:
        one, target = code[k], re.search(r"`\((\S+?)\)", code[k].operands)
        yield one
        k += 1
        match one.opcode.split(".")[0]:
            case "EXIT" if not one.predicate:
                return
            case "BRA" if not one.predicate or next(outcomes, "y") == "y":
                k = at[target[1]]
            case "CALL":
                returns.append(k)
                k = at[target[1]]
            case "RET":
                k = returns.pop()


def loads_constant(one):
    moves = one.opcode.startswith(("MOV", "IMAD.MOV", "UMOV", "HFMA2.MMA", "CS2R"))
    return moves and not any(re.match(r"-?U?R\d", each.strip()) for each in one.operands.split(",")[1:])


def counted(code, taken=""):
    """By class, without accesses, their addresses, constants, the thread's number and the end."""
    issued = [one for one in executed(code, taken) if one.kind != "memory" and not loads_constant(one)]
    arrays = sum(one.opcode.startswith("LDG") and "CONSTANT" not in one.opcode for one in code)  # but for coefficients
    total = Counter(INSTRUCTION_CLASSES.index(one.kind) for one in issued)
    total.subtract({MULTIPLY: arrays, CONTROL: 2})
    return {each: count for each, count in total.items() if count}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "ctype", "options"),
    [(SINGLE, "float", ()), (FAST, "float", ("--use_fast_math",)), (DOUBLE, "double", ())],
    ids=["single", "fast", "double"],
)
def test_functions_are_as_nvcc_makes_them(table, ctype, options, tmp_path):
    names = {ufunc.__name__: ufunc for ufunc in table}
    written = {name: WRITTEN.get(ufunc, f"{name}(a)") for name, ufunc in names.items()}
    codes = compiled([source(name, each, ctype) for name, each in written.items()], tmp_path, *options)
    taken = {} if options else TAKEN
    found = {name: counted(codes[name], taken.get((name, ctype), "")) for name in names}
    assert found == {name: dict(table[ufunc]) for name, ufunc in names.items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ctype", "kind"),
    [("int", (4, True)), ("unsigned", (4, False)), ("long long", (8, True)), ("unsigned long long", (8, False))],
)
def test_quotients_of_integers_are_as_nvcc_makes_them(ctype, kind, tmp_path):
    code = compiled([source("quotient", "a / b", ctype)], tmp_path)["quotient"]
    assert counted(code) == dict(INTEGER_QUOTIENTS[kind])
