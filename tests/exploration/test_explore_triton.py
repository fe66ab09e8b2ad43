"""memsim explore on a program: the configurations that Triton's autotuner tries, ranked, and why one wins."""

import importlib.util

import pytest
from typer.testing import CliRunner

import memsim
import memsim.exploration.tuned
from memsim.cli import app
from memsim.report.exploration import text
from memsim.support.errors import InputError
from memsim.trace.reader import Trace

needs_triton = pytest.mark.skipif(
    not (importlib.util.find_spec("triton") and importlib.util.find_spec("torch")),
    reason="Triton or torch is not installed",
)

# Columns of a matrix of `step` floats per row: with LANES along a row, a warp loads 128 bytes, down a column 32 rows.
PROGRAM = """
import sys
import torch, triton, triton.language as tl

configs = [triton.Config({"DOWN": down, "B": 128}, num_warps=warps) for down in (0, 1) for warps in (2, 4)]
configs.append(triton.Config({"DOWN": 2, "B": 128}, num_warps=4))

@triton.autotune(configs, key=["step"])
@triton.jit
def scale(x, out, step, DOWN: tl.constexpr, B: tl.constexpr):
    tl.static_assert(DOWN < 2, "no third way")
    i, j = tl.program_id(0), tl.arange(0, B)
    at = j * step + i if DOWN else i * B + j
    tl.store(out + at, 2 * tl.load(x + at))

@triton.jit
def other(x):
    tl.store(x, 1.0)

step = int(sys.argv[1])
x, out = torch.ones(128 * step, device="cuda"), torch.zeros(128 * step, device="cuda")
other[(1,)](x)
scale[(step,)](x, out, step)
print("not reached")
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("program") / "scale.py"
    path.write_text(PROGRAM)
    return path


@pytest.mark.slow
@needs_triton
def test_configurations_are_ranked_and_what_decides_is_said(program, capfd):
    found = memsim.explore(program, "a100", arguments=["512"], keep=2, trials=1)
    assert found.choices == {"DOWN": (0, 1, 2), "num_warps": (2, 4)} and found.workload.endswith("scale.py:scale")
    assert len(found.versions) == 4 and [one.chosen["DOWN"] for one in found.versions] == [0, 0, 1, 1]
    assert [one.result is not None for one in found.versions] == [True, True, False, False] and found.complete
    ((chosen, reason),) = found.rejected
    assert chosen == {"DOWN": 2, "num_warps": 4} and "no third way" in reason
    first = found.decisions[0]
    assert (first.choice, first.best, first.worst) == ("DOWN", 0, 1) and first.ratio > 1.5 and first.causes
    assert "DOWN decides" in text(found) and "1 more cannot be" in text(found)
    assert "not reached" not in capfd.readouterr().out


@pytest.mark.slow
@needs_triton
def test_tuner_runs_on_gpu_as_it_is_set(program, monkeypatch):
    blocks, own = [], memsim.exploration.tuned._tuned

    def tuned(*given):
        done = own(*given)
        blocks.append(Trace.open(done.configurations[0].launches[0].traces[0]).n_blocks)
        return done

    monkeypatch.setattr(memsim.exploration.tuned, "_tuned", tuned)
    for settings in ({}, {"sm.max_blocks": 1}):
        memsim.explore(program, memsim.load_gpu("a100"), arguments=["512"], keep=0, settings=settings)
    assert blocks == [512, 108], "all, and a block on each SM"


@pytest.mark.slow
@needs_triton
def test_the_command_takes_a_programs_arguments(program, tmp_path):
    out = tmp_path / "versions.csv"
    command = [
        "explore",
        str(program),
        "--gpu",
        "a100",
        "--keep",
        "0",
        "-o",
        str(out),
        "--kernel",
        "scale",
        "--",
        "256",
    ]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "DOWN decides" in done.output and len(out.read_text().splitlines()) == 5


@pytest.mark.slow
@needs_triton
@pytest.mark.parametrize(
    ("changed", "arguments", "said"),
    [
        ({}, {"kernel": "other"}, "other is not tuned; tuned are scale"),
        (
            {"@triton.autotune(configs": "@(lambda *a, **k: lambda f: f)(configs"},
            {},
            "wrong.py: run ended with exit code 1 before its first launch; no trace was kept",
        ),
        ({"scale[(step,)]": "#"}, {}, "tunes no kernel; give one with @triton.autotune"),
        ({"DOWN < 2": "DOWN < 0"}, {}, "no third way"),
        ({}, {"vary": {"B": (64,)}}, "B is not a choice of the program; add it to its triton.Configs"),
    ],
)
def test_what_cannot_be_explored_is_one_line(program, tmp_path, capfd, changed, arguments, said):
    wrong = program.read_text()
    for old, new in changed.items():
        wrong = wrong.replace(old, new)
    path = tmp_path / "wrong.py"
    path.write_text(wrong)
    with pytest.raises(InputError, match=said) as raised:
        memsim.explore(path, "a100", arguments=["64"], keep=0, **arguments)
    assert "\n" not in str(raised.value)
    own = "missing 2 required positional arguments: 'DOWN' and 'B'"
    assert (own in capfd.readouterr().err) == ("exit code" in said), "what fails in the program, it prints itself"


def test_arguments_are_a_programs():
    with pytest.raises(InputError, match="arguments and kernels apply only to a program"):
        memsim.explore("transpose", "a100", arguments=["64"])


COMPILED = """
import torch

@torch.compile(options={"max_autotune_pointwise": True})
def sum_of_products(x, y):
    return torch.relu(x * y + x)

x, y = torch.ones(1 << 16, device="cuda"), torch.ones(1 << 16, device="cuda")
sum_of_products(x, y)
print("not reached")
"""


@pytest.mark.slow
@needs_triton
def test_configurations_of_torch_compile_are_ranked(tmp_path, capfd):
    (tmp_path / "compiled.py").write_text(COMPILED)
    found = memsim.explore(tmp_path / "compiled.py", "a100", keep=1, trials=1)
    assert ":triton_poi_fused" in found.workload and "XBLOCK" in found.choices and len(found.versions) > 1
    assert found.versions[0].result is not None and all(one.model.milliseconds > 0 for one in found.versions)
    assert "not reached" not in capfd.readouterr().out
