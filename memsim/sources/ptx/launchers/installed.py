"""All the launchers at once: inside a block, whatever a Python program launches is caught."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from types import ModuleType

from memsim.sources.ptx.launchers import cuda_core, cupy
from memsim.sources.ptx.launchers.capturing import Capturing
from memsim.sources.ptx.launchers.cuda_bindings import driver_caught, lines_asked_for
from memsim.sources.ptx.launchers.cute import cute_caught
from memsim.sources.ptx.launchers.importing import on_import, standing_in
from memsim.sources.ptx.launchers.inductor import inductor_caught
from memsim.sources.ptx.launchers.numba_cuda import numba_cuda_caught
from memsim.sources.ptx.launchers.torch_compile import compile_caught
from memsim.sources.ptx.launchers.torch_cuda import torch_caught
from memsim.sources.ptx.launchers.triton import triton_caught
from memsim.sources.ptx.launchers.warp import warp_caught


@contextmanager
def _torch_caught(capturing: Capturing) -> Iterator[None]:
    with torch_caught(capturing), compile_caught(capturing):
        yield


_LAUNCHERS: dict[str, Callable[[Capturing], AbstractContextManager[None]]] = {  # by the module they stand in for
    "cuda.bindings.driver": driver_caught,
    "cuda.bindings.nvrtc": lines_asked_for,
    "torch": _torch_caught,
    "torch._inductor.async_compile": inductor_caught,
    "triton": triton_caught,
    "numba.cuda": numba_cuda_caught,
    "warp": warp_caught,
    "cutlass.cute": cute_caught,
}


@contextmanager
def caught(capturing: Capturing) -> Iterator[Capturing]:
    """Inside the block, launches of every known language go to ``capturing``."""
    with ExitStack() as stack:
        actions = {name: partial(_enter, stack, launcher, capturing) for name, launcher in _LAUNCHERS.items()}
        stack.enter_context(on_import(actions))
        stack.enter_context(standing_in(_stand_ins(capturing), user="numba.cuda"))
        yield capturing


def _stand_ins(capturing: Capturing) -> dict[str, Callable[[], ModuleType]]:
    """What a program gets for packages that do nothing without a driver, by name."""
    core = ("cuda.core", "cuda.core.experimental")
    return {"cupy": partial(cupy.StandIn, capturing)} | {
        name: partial(cuda_core.stand_in, capturing, name) for name in core
    }


def _enter(
    stack: ExitStack, launcher: Callable[[Capturing], AbstractContextManager[None]], capturing: Capturing
) -> None:
    stack.enter_context(launcher(capturing))
