"""Warp's native library as Warp sees it: what asks for a device is answered here or refused by name.

Functions that need no device (memory of the host, NVRTC, geometry on the CPU) are the library's own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import partial
from typing import Any

from memsim.gpu.config import GPU
from memsim.gpu.occupancy import most_shared_bytes
from memsim.sources.ptx.launchers.capturing import Capturing
from memsim.sources.ptx.launchers.warp.launching import Launching
from memsim.sources.ptx.launchers.warp.memory import DeviceMemory
from memsim.sources.ptx.ptxas import architecture
from memsim.support.errors import InputError

OLDEST = 75  # that Warp's compiler knows
_FAILS, _WORKS = 0, 1  # what most functions return
_SUCCESS = 0  # of those that return CUDA's codes

_OWN = (  # compile, and ask for no device
    "cuda_compile_program", "cuda_toolkit_version", "cuda_compile_fft", "cuda_compile_dot", "cuda_compile_solver"
)  # fmt: skip
_WORKING = (  # launches run one after another: nothing is to be waited for
    "cuda_driver_is_initialized", "cuda_context_is_primary", "cuda_context_synchronize", "cuda_stream_synchronize",
    "cuda_event_synchronize", "cuda_context_set_stream", "cuda_event_record", "cuda_stream_wait_event",
    "cuda_stream_wait_stream", "cuda_configure_kernel_shared_memory", "cuda_set_kernel_cluster_attrs",
    "cuda_device_is_uva", "cuda_device_is_mempool_supported",
)  # fmt: skip
_NOTHING = (
    "cuda_context_push_current", "cuda_context_pop_current", "cuda_context_set_current", "cuda_context_check",
    "cuda_stream_register", "cuda_stream_unregister", "cuda_stream_destroy", "cuda_event_destroy", "cuda_event_query",
    "cuda_stream_query", "cuda_unload_module", "cuda_device_is_ipc_supported",
    "cuda_device_get_pageable_memory_access", "cuda_device_get_direct_managed_mem_access_from_host",
    "cuda_device_get_host_native_atomic_supported", "cuda_device_get_managed_memory_supported",
    "cuda_device_get_concurrent_managed_access_supported", "cuda_device_get_uuid", "cuda_device_get_pci_domain_id",
    "cuda_device_get_pci_bus_id", "cuda_device_get_pci_device_id",
    "cuda_context_get_device_ordinal", "cuda_stream_is_blocking", "cuda_stream_get_priority",
    "cuda_get_kernel_static_shared_memory", "cuda_graph_destroy", "cuda_graph_exec_destroy", "cuda_profiler_start",
    "cuda_profiler_stop",
)  # fmt: skip
_handles = itertools.count(1)


class Library:
    """What stands for the loaded library; its functions are attributes that take ``argtypes``, as those of ctypes do.

    Args:
        own: the library.
        capturing: what launches are handed to.
    """

    def __init__(self, own: Any, capturing: Capturing) -> None:
        self._own, self._functions = own, {}
        memory = DeviceMemory(own, capturing.memory)
        launching = Launching(capturing, memory)
        answers: dict[str, Callable[..., Any]] = {
            **dict.fromkeys(_WORKING, lambda *_: _WORKS),
            **dict.fromkeys(_NOTHING, lambda *_: _FAILS),
            **_about(capturing.gpu, own, next(_handles)),
            "cuda_stream_create": lambda *_: next(_handles),
            "cuda_event_create": lambda *_: next(_handles),
            "cuda_event_elapsed_time": lambda *_: _untimed(capturing),
            **memory.functions(),
            **launching.functions(),
        }
        self._functions = {f"wp_{name}": partial(work) for name, work in answers.items()}

    def __getattr__(self, name: str) -> Any:
        if name not in self._functions:
            asks = name.startswith(("wp_cuda_", "wp_alloc_device", "wp_free_device")) or name.endswith("_device")
            own = name.removeprefix("wp_") in _OWN or not asks
            self._functions[name] = getattr(self._own, name) if own else partial(_refuse, name)
        return self._functions[name]


def _about(gpu: GPU, own: Any, context: int) -> dict[str, Callable[..., Any]]:
    """What the one device is."""
    return {
        "cuda_driver_version": lambda: own.wp_cuda_toolkit_version(),  # new enough for whatever was compiled
        "cuda_device_get_count": lambda: 1,
        "cuda_device_get_name": lambda _: gpu.name.encode(),
        "cuda_device_get_arch": lambda _: max(architecture(gpu), OLDEST),
        "cuda_device_get_sm_count": lambda _: gpu.sm.count,
        "cuda_device_get_max_shared_memory": lambda _: most_shared_bytes(gpu),
        "cuda_device_get_primary_context": lambda _: context,
        "cuda_context_get_current": lambda: context,
        "cuda_context_get_stream": lambda _: context,
    }


def _untimed(capturing: Capturing) -> float:
    capturing.note("times between Warp's events are not simulated and are nan; memsim run tells a launch's time")
    return math.nan


def _refuse(name: str, *_: Any) -> Any:
    raise InputError("warp", name, "is not done here; arrays, kernels, streams and graphs of launches are")
