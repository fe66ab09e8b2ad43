"""The configurations of a Triton kernel, by predicted time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memsim.api.arguments import named_gpu
from memsim.gpu.defaults import DEFAULT_GPU
from memsim.support.errors import InputError

if TYPE_CHECKING:
    from memsim.gpu.config import GPU


def prune(
    configs: Sequence[Any],
    named_args: Mapping[str, Any],
    *,
    keep: int = 3,
    gpu: GPU | str | Path = DEFAULT_GPU,
    kernel: Any = None,
    **kwargs: Any,
) -> list[Any]:
    """Keep the configurations that are predicted to be fastest: an ``early_config_prune`` for ``triton.autotune``.

    Args:
        configs, named_args, kwargs: as Triton's autotuner gives them.
        keep: how many to keep, the fastest first; where there are no more, all are kept as they are.
        gpu, kernel: as for :func:`predicted_times`.

    Raises:
        InputError: see :func:`predicted_times`; fewer than one to keep.

    ::

        @triton.autotune(configs, key=["M", "N", "K"], prune_configs_by={
            "early_config_prune": functools.partial(memsim.prune, keep=3, gpu="a100")})
        @triton.jit
        def matmul(...): ...
    """
    if keep < 1:
        raise InputError("prune", "keep", f"is {keep}; give 1 or more")
    if len(configs) <= keep:
        return list(configs)
    return [one for one, _ in predicted_times(configs, named_args, gpu=gpu, kernel=kernel, **kwargs)[:keep]]


def predicted_times(
    configs: Sequence[Any],
    named_args: Mapping[str, Any],
    *,
    gpu: GPU | str | Path = DEFAULT_GPU,
    kernel: Any = None,
    **kwargs: Any,
) -> list[tuple[Any, float]]:
    """Predict the time of a Triton kernel in each configuration, in milliseconds, the fastest first.

    Each is compiled for the GPU and simulated on samples of its blocks. No GPU is needed.

    Args:
        configs: a list of ``triton.Config``.
        named_args: the launch's arguments by name: torch's tensors, whose values matter only where addresses or
            branches depend on them, and numbers.
        gpu: a GPU, the name of a preset, or the path of a TOML file.
        kernel: the function with ``@triton.jit``; None: that of the autotuner which calls.
        kwargs: ``grid``, and further arguments of the launch.

    Returns:
        Configuration and time; infinite where it cannot be compiled or simulated.

    Raises:
        InputError: Triton is not installed, there is no kernel or grid, or no configuration can be simulated.
    """
    from memsim.exploration.prune import predicted_times as predict

    return predict(configs, named_args, named_gpu(gpu), kernel, **kwargs)
