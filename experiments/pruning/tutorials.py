"""Triton's tutorials as modules: their kernels and configurations, without a GPU and without their benchmarks."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from memsim.exploration.prune import driver_of
from memsim.gpu.config import GPU


def _answer_as(gpu: GPU) -> None:
    """Triton and torch see the GPU where modules ask for it."""
    import torch
    import triton

    triton.runtime.driver.set_active(driver_of(gpu))
    major, minor = map(int, gpu.compute_capability.split("."))
    torch.cuda.get_device_capability = lambda *_: (major, minor)


def definitions(tutorial: Path, values: set[str], gpu: GPU) -> dict[str, Any]:
    """A tutorial's functions and some of its values, for a GPU, without its tests and benchmarks."""
    _answer_as(gpu)
    tree = ast.parse(tutorial.read_text())
    kept = [one for one in tree.body if _is_kept(one, values)]
    names: dict[str, Any] = {"__name__": "tutorial"}
    exec(compile(ast.Module(kept, []), str(tutorial), "exec"), names)
    return names


def _is_kept(one: ast.stmt, values: set[str]) -> bool:
    if isinstance(one, ast.FunctionDef):
        return not any(word in ast.unparse(each) for each in one.decorator_list for word in ("perf_report", "pytest"))
    if isinstance(one, ast.If):
        return any(_is_kept(each, values) for each in one.body)
    if isinstance(one, ast.Assign):
        return any(isinstance(each, ast.Name) and each.id in values for each in one.targets)
    return isinstance(one, ast.Import | ast.ImportFrom)
