"""``memsim mcp``: a server of the Model Context Protocol over standard input and output."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from types import ModuleType
from typing import Any

from memsim.support.errors import InputError


def mcp() -> None:
    """Serve profile, judge, explain and what_if to agents, over the Model Context Protocol.

    It needs the package mcp: pip install 'memsim[mcp]'. An agent's configuration names the command `memsim mcp`.
    """
    try:
        from mcp.server import MCPServer
    except ImportError:
        problem = "needs the package mcp, version 2 or later; pip install 'memsim[mcp]'"
        raise InputError("memsim mcp", "server", problem) from None
    from memsim import __version__
    from memsim.api.tools import TOOLS

    _keep_streams()
    server = MCPServer("memsim", version=__version__, instructions="Predicts GPU kernels without a GPU.")
    worker = _WarmWorker()
    for tool in TOOLS:
        server.tool()(worker.calling(tool))
    try:
        server.run("stdio")
    finally:
        worker.end()


def _keep_streams() -> None:
    """Keep the protocol's streams to this process: a captured program inherits others, and may print."""
    protocol_in, protocol_out = os.dup(0), os.dup(1)
    null_input = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null_input, 0)
    os.dup2(2, 1)
    sys.stdin = os.fdopen(protocol_in, "r", encoding="utf-8")
    sys.stdout = os.fdopen(protocol_out, "w", encoding="utf-8")


class _WarmWorker:
    """One process that carries out calls and stays loaded; a new one takes the place of one that died."""

    def __init__(self) -> None:
        self._begin()

    def calling(self, tool: Callable[..., dict[str, Any]]) -> Callable[..., Any]:
        """The tool as the server calls it: in the worker, while the server answers other messages."""

        from concurrent.futures.process import BrokenProcessPool

        @wraps(tool)
        async def call(*arguments: Any, **named: Any) -> dict[str, Any]:
            import asyncio

            from mcp.server.mcpserver.exceptions import ToolError

            found = None
            try:
                with _without_main_module():
                    future = self._pool.submit(_carry_out, tool.__name__, arguments, named)
                found, problem = await asyncio.wrap_future(future)
            except BrokenProcessPool:
                self._begin()
                problem = "the process that did this was killed (out of memory?)"
            if found is None:
                raise ToolError(problem)
            return found

        call.__signature__ = inspect.signature(tool, eval_str=True)  # type: ignore[attr-defined]
        call.__annotations__ = inspect.get_annotations(tool, eval_str=True)
        return call

    def end(self) -> None:
        """End the worker, whatever it does."""
        from multiprocessing import active_children

        for process in active_children():
            process.kill()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _begin(self) -> None:
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        self._pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))


@contextmanager
def _without_main_module() -> Iterator[None]:
    """A process that starts meanwhile does not run this one's main module again, which may be a script that serves."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _carry_out(name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """A tool's answer, or what was wrong with what it was given."""
    from memsim.api import tools

    try:
        return getattr(tools, name)(*arguments, **named), ""
    except InputError as error:
        return None, str(error)
