"""Kernels that torch.compile wrote out (``TORCH_LOGS=output_code``): their own launcher, without a GPU.

Such a file has Triton kernels under torch's decorators, which compile in processes of their own, ask for a driver,
time configurations and keep what won. Compiled here, for memsim's GPU; timed by simulation; nothing is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from memsim.sources.ptx.launchers.capturing import Capturing
from memsim.sources.ptx.ptxas import architecture

_OWN_LAUNCHERS = ("use_static_triton_launcher", "use_static_cuda_launcher")  # torch's, that ask CUDA itself; by version


@contextmanager
def inductor_caught(capturing: Capturing) -> Iterator[None]:
    """Inside the block, written-out kernels of torch.compile are launched as Triton's own are."""
    import torch
    from torch._inductor import config
    from torch._inductor.runtime import triton_helpers, triton_heuristics

    tuner = triton_heuristics.CachingAutotuner
    described = tuner._create_compile_meta

    def for_this_gpu(self: Any, *arguments: Any, **named: Any) -> Any:
        return described(self, *arguments, **named) | {"cc": architecture(capturing.gpu)}

    def bench(self: Any, launcher: Any, *arguments: Any, with_profiler: bool = False, **named: Any) -> float:
        return capturing.benchmark(lambda: launcher(*arguments, **named, stream=0))[0]

    def empty_strided(size: Any, stride: Any, dtype: Any) -> Any:
        return torch.empty_strided(size, stride, dtype=dtype, device="cuda")

    here = {"compile_threads": 1} | {name: False for name in _OWN_LAUNCHERS if hasattr(config, name)}
    with ExitStack() as stack:
        stack.enter_context(config.patch(here))
        stack.enter_context(patch.object(triton_helpers, "set_driver_to_gpu", lambda: None))
        stack.enter_context(patch.object(torch._C._dynamo.guards, "_empty_strided_cuda", empty_strided, create=True))
        stack.enter_context(patch.object(tuner, "_create_compile_meta", for_this_gpu))
        stack.enter_context(patch.object(tuner, "bench", bench))
        stack.enter_context(patch.object(triton_heuristics.AutotuneCache, "create", lambda *_, **__: None))
        yield
