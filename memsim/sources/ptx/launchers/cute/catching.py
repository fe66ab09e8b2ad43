"""Inside a capture, CuTe DSL compiles for one GPU that is not there, and its compiled host code launches here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from memsim.sources.ptx.launchers.capturing import Capturing
from memsim.sources.ptx.launchers.cute.host import HostCalls
from memsim.sources.ptx.launchers.cute.tensors import on_device
from memsim.sources.ptx.launchers.needed import check_version
from memsim.sources.ptx.ptxas import architecture
from memsim.support.scratch import Scratch

KNOWN = "4.8"  # whose names are used here
_OLDEST = 80  # that the compiler knows


@contextmanager
def cute_caught(capturing: Capturing) -> Iterator[None]:
    """Inside the block, functions that CuTe DSL compiles launch their kernels by ``capturing``."""
    check_version("nvidia-cutlass-dsl", KNOWN, "cute")
    from cutlass._mlir import execution_engine
    from cutlass.base_dsl import jit_executor
    from cutlass.cute import runtime
    from cutlass.cutlass_dsl import CuTeDSL, cuda_jit_executor

    settings = CuTeDSL._get_dsl().envar
    engine, tensor = execution_engine.ExecutionEngine, runtime._Tensor.__init__
    errors: list[BaseException] = []

    def begin(own: Any, value: Any, *how: Any, **named: Any) -> None:
        tensor(own, on_device(value, capturing), *how, **named)

    with Scratch() as folder, ExitStack() as stack:

        def jit(*given: Any, **named: Any) -> Any:
            """An engine that finds our functions; what PTX was written since the last is of its kernels."""
            made, written = engine(*given, **named), [*Path(folder).glob("*.ptx")]
            HostCalls(capturing, [path.read_text() for path in written], errors).register(made)
            for path in written:
                path.unlink()
            return made

        stack.enter_context(
            patch.multiple(settings, arch=_architecture(capturing), keep_ptx=True, lineinfo=True, dump_dir=folder)
        )
        stack.enter_context(patch.object(execution_engine, "ExecutionEngine", jit))
        stack.enter_context(patch.object(runtime._Tensor, "__init__", begin))
        own = cuda_jit_executor.cuda_runtime
        stack.enter_context(patch.object(cuda_jit_executor, "cuda_runtime", _Runtime(own)))
        for runs in (jit_executor.JitExecutor, jit_executor.JitCompiledFunction):
            told = _telling(runs.run_compiled_program, errors)
            stack.enter_context(patch.object(runs, "run_compiled_program", told))
        yield


def _telling(run: Callable[..., Any], errors: list[BaseException]) -> Callable[..., Any]:
    """What runs machine code, and raises what a function of ours raised in it."""

    def wrapped(*given: Any) -> Any:
        try:
            return run(*given)
        finally:
            if errors:
                first = errors[0]
                errors.clear()
                raise first

    return wrapped


def _architecture(capturing: Capturing) -> str:
    """As the compiler names it; what only one generation has, is asked for."""
    number = max(architecture(capturing.gpu), _OLDEST)
    return f"sm_{number}{'a' if number >= 90 else ''}"


class _Runtime:
    """CUDA's runtime, as the DSL's Python asks it: one device, and nothing to unload."""

    def __init__(self, own: Any) -> None:
        self._own = own

    def cudaGetDeviceCount(self) -> tuple[Any, int]:
        return self._own.cudaError_t.cudaSuccess, 1

    def cudaLibraryUnload(self, library: Any) -> tuple[Any]:
        return (self._own.cudaError_t.cudaSuccess,)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)
