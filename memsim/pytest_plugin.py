"""A pytest plugin: ``pytest --memsim`` runs tests that ask for the fixture ``memsim`` and assert figures of kernels.

::

    def test_scale_is_as_fast_as_before(memsim):
        kernel = memsim.profile("scale.cu", gpu="a100").kernel("scale")
        assert kernel.sectors_per_request <= 4
        assert kernel.time < 1.05 * memsim.baseline("scale", "a100").time
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from memsim.gate.figures import KernelFigures

_CALL = """\
import importlib.util, pickle, sys
sys.path[:0] = {path!r}
spec = importlib.util.spec_from_file_location({module!r}, {file!r})
module = importlib.util.module_from_spec(spec)
sys.modules[{module!r}] = module
spec.loader.exec_module(module)
arguments, named = pickle.load(open({pickled!r}, "rb"))
getattr(module, {name!r})(*arguments, **named)
"""


@dataclass(frozen=True)
class TestedProgram:
    """The kernels that a program launched.

    Attributes:
        kernels: figures of each, as a baseline has them (docs/how_to/ci.md).
    """

    __test__ = False  # no test case, whatever its name
    kernels: tuple[KernelFigures, ...]

    @property
    def time(self) -> float:
        """Microseconds of all launches."""
        return sum(one.launches * one.time_us for one in self.kernels)

    def kernel(self, name: str | None = None) -> KernelFigures:
        """One kernel, by its name; the only one if there is one.

        Raises:
            LookupError: there is no such kernel, or there are several.
        """
        return _only(self.kernels, name, "the program launched")


class MemsimFixture:
    """What the fixture ``memsim`` gives.

    Args:
        folder: for temporary files.
        root: pytest's root folder, where the baseline lies.
        gpu: to use where a test names none.
    """

    def __init__(self, folder: Path, root: Path, gpu: str) -> None:
        self._folder, self._root, self._gpu = folder, root, gpu
        self._count = 0

    def profile(
        self, what: Callable[..., Any] | str | Path | Any, *arguments: Any, gpu: str | None = None, **named: Any
    ) -> TestedProgram:
        """Run a program or a function without a GPU, and predict its kernels.

        Args:
            what: CUDA C++ file, executable, Python file, or folder of traces; or a function at the top of a module,
                which launches kernels (Triton, CuPy, Numba, Warp) and is run in a process of its own; or a workload.
            arguments: of the program, or of the function; those of a function are pickled.
            gpu: a preset, or a TOML file.
            named: a function's or a workload's arguments by name.

        Raises:
            memsim.InputError: the program fails, or cannot be captured.
        """
        import memsim
        from memsim.api.check import measure
        from memsim.gate.baseline import BaselineProgram
        from memsim.sources.describe.workload import Workload

        self._count += 1
        folder = self._folder / str(self._count)
        folder.mkdir()
        chosen = gpu or self._gpu
        if isinstance(what, Workload):
            memsim.trace(what, gpu=chosen, out=folder / "kernel.h5", **named)
            program = BaselineProgram(files=[str(folder)])
        elif callable(what):
            script = folder / f"{what.__name__}.py"
            script.write_text(_script(what, arguments, named, folder / "arguments"))
            program = BaselineProgram(files=[str(script)])
        else:
            file = Path(what).absolute()
            program = BaselineProgram(files=[str(file)], arguments=[str(one) for one in arguments])
        return TestedProgram(tuple(one.figures for one in measure(program, chosen, Path("/"))))

    def baseline(self, kernel: str, gpu: str | None = None, file: str | Path = "memsim-baseline.toml") -> KernelFigures:
        """A kernel's figures in a baseline file of ``memsim check --update``, relative to pytest's root folder.

        Raises:
            memsim.InputError: a bad file.
            LookupError: it has no such kernel.
        """
        from memsim.gate.baseline import Baseline

        chosen = gpu or self._gpu
        programs = Baseline.read(self._root / file).programs
        kernels = [one.figures() for program in programs for one in program.kernels if one.gpu == chosen]
        return _only(tuple(kernels), kernel, f"{file} has for {chosen}")


def _only(kernels: tuple[KernelFigures, ...], name: str | None, where: str) -> KernelFigures:
    found = [one for one in kernels if name in (None, one.kernel)]
    if len(found) != 1:
        there = ", ".join(one.kernel for one in kernels) or "no kernels"
        raise LookupError(f"{name or 'one kernel'} was requested; {where} {there}")
    return found[0]


def _script(function: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any], pickled: Path) -> str:
    """A script that calls a function of a module, by the module's file."""
    import sys

    if "." in function.__qualname__ or "<" in function.__qualname__:
        raise TypeError(
            f"{function.__qualname__} must be at the top level of a module, so that another process can import it"
        )
    pickled.write_bytes(pickle.dumps((arguments, named)))
    return _CALL.format(
        path=[one for one in sys.path if one],
        module=function.__module__,
        file=function.__code__.co_filename,
        name=function.__name__,
        pickled=str(pickled),
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options ``--memsim`` and ``--memsim-gpu``."""
    group = parser.getgroup("memsim")
    group.addoption("--memsim", action="store_true", help="run tests that predict kernels with memsim")
    group.addoption("--memsim-gpu", default="rtx4090", help="the GPU of tests that name none (default: rtx4090)")


@pytest.fixture
def memsim(request: pytest.FixtureRequest, tmp_path: Path) -> MemsimFixture:
    """Profiles programs and functions without a GPU; see docs/how_to/ci.md."""
    if not request.config.getoption("--memsim"):
        pytest.skip("predicts kernels; give --memsim")
    folder = tmp_path / "memsim"
    folder.mkdir()
    return MemsimFixture(folder, request.config.rootpath, request.config.getoption("--memsim-gpu"))
