"""Inside a capture, Warp finds one device, and compiles for it to PTX with line numbers."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from memsim.sources.ptx.launchers.capturing import Capturing
from memsim.sources.ptx.launchers.needed import check_version
from memsim.sources.ptx.launchers.warp.library import Library
from memsim.support.scratch import Scratch

KNOWN = "1.19"  # whose names are used here
_LIBRARY = "warp.so"


@contextmanager
def warp_caught(capturing: Capturing) -> Iterator[None]:
    """Inside the block, Warp's ``cuda:0`` is the device of ``capturing``; behind it, arrays there are of no use."""
    import warp

    if not hasattr(warp, "launch_tiled"):  # a module of the program's own
        yield
        return
    check_version("warp-lang", KNOWN, "warp")
    from warp._src import build, context

    load = context.Runtime.load_dll

    def load_dll(runtime: Any, path: str) -> Any:
        own = load(runtime, path)
        return Library(own, capturing) if path.endswith(_LIBRARY) else own

    with (
        Scratch() as cache,  # Warp's own would hand out code with the lines that a kernel once had
        patch.object(context, "runtime", None),  # Warp makes another, which asks the library
        patch.object(context.Runtime, "load_dll", load_dll),
        patch.object(build, "_resolved_kernel_cache_dir", None),
        patch.multiple(warp.config, cuda_output="ptx", lineinfo=True, kernel_cache_dir=cache),
    ):
        try:
            yield
        finally:
            _let_go(context, warp.array)


def _let_go(context: Any, array: type) -> None:
    """Have what outlives the device give nothing back to it: another driver would be asked."""
    for module in list(context.user_modules.values()):
        module.unload()
    nothing = {array: ("deleter", None), context.Stream: ("cuda_stream", 0), context.Event: ("owner", False),
               context.Graph: ("graph", None)}  # fmt: skip
    for one in gc.get_objects():
        if type(one) in nothing and getattr(getattr(one, "device", None), "is_cuda", False):
            setattr(one, *nothing[type(one)])
