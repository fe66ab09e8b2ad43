"""What a study file may say, as validated data: the shape of the TOML file, or of :class:`memsim.Study`'s arguments."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_serializer

from memsim.gpu.defaults import DEFAULT_GPU
from memsim.montecarlo.run import MOST_TRIALS
from memsim.sources.describe import Workload
from memsim.studies.design import METHODS, MOST
from memsim.support import library
from memsim.support.errors import InputError

LARGEST_FILE = 1 << 20  # bytes


class _Data(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, arbitrary_types_allowed=True
    )


class StudyKernel(_Data):
    """Where the traces of one kernel come from: exactly one of workload, trace and capture."""

    workload: str | Workload | None = Field(
        None, description="a workload of the library, a path to kernel.py, or in Python one made by @memsim.workload"
    )
    trace: str | None = Field(None, description="a trace file, or Accel-Sim's kernelslist.g, .traceg or .tracez")
    capture: list[str] = Field([], description="CUDA C++ files of a program")
    kernel: str | None = Field(None, description="which kernel of a program or a list of traces")
    parameters: dict[str, Any] = Field({}, description="of the workload; for {name} in arguments and definitions")
    blocks: str | None = Field(None, description="what is traced: FIRST:LAST, 4x (times the resident threads) or all")
    arguments: list[str] = Field([], description="of the program")
    definitions: list[str] = Field([], description="the compiler's -D")
    includes: list[str] = Field([], description="the compiler's -I")
    libraries: list[str] = Field([], description="the compiler's -l")
    launch: int = Field(0, ge=0, description="which launch of the kernel")
    registers: int | None = Field(None, ge=1, le=255, description="of a thread")

    @field_serializer("workload")
    def _named(self, workload: str | Workload | None) -> str | None:
        return workload.shown if isinstance(workload, Workload) else workload


class Design(_Data):
    method: Literal[METHODS] = Field("grid", description="how points are chosen")  # type: ignore[valid-type]
    points: int | None = Field(None, description="how many, of a random design")
    seed: int = Field(0, ge=0, description="of a random design's points, not of the trials")
    most: int = Field(MOST, ge=1, description="more points than these are a mistake")


class StudyFile(_Data):
    """A whole study, as written."""

    kernels: dict[str, StudyKernel] = Field(min_length=1, description="by label, what is simulated")
    gpus: list[str] = Field([DEFAULT_GPU], min_length=1, description="presets, or paths of TOML files")
    set: dict[str, Any] = Field({}, description="fields of the GPU that are changed at every point")
    design: Design = Design()
    vary: dict[str, Any] = Field({}, description="by field, its values: a list, or { from, to, step | count, scale }")
    points: list[dict[str, Any]] = Field([], description="of method = list")
    follow: dict[str, str] = Field({}, description="by field, the expression it follows from")
    require: list[str] = Field([], description="expressions; points for which one is false are left out")
    trials: int = Field(16, ge=1, le=MOST_TRIALS, description="of each point, without until")
    until: float | None = Field(None, gt=0, le=1, description="stop a point when every ratio's interval is narrower")
    until_time: float = Field(0.02, gt=0, le=1, description="and the time's, as a share of the time")
    min_trials: int = Field(4, ge=2, description="at least these, with until")
    max_trials: int = Field(64, ge=2, le=MOST_TRIALS, description="at most these, with until")
    seed: int = Field(0, ge=0, description="of the trials' draws")
    warm: bool = Field(False, description="start trials with the caches that one replay leaves")


def located(study: StudyFile, folder: Path) -> StudyFile:
    """A study with its relative paths resolved against a folder; names of the library (workloads, presets) stay.

    >>> study = understood({"kernels": ["spmv", "t.h5"], "gpus": ["h100", "my.toml"]}, "Study")
    >>> found = located(study, Path("studies"))
    >>> [found.kernels["spmv"].workload, found.kernels["t"].trace, *found.gpus]
    ['spmv', 'studies/t.h5', 'h100', 'studies/my.toml']
    """
    vary, *points = (dict(fields) for fields in (study.vary, *study.points))
    for fields in (vary, *points):
        if isinstance(given := fields.get("gpu"), str | list):
            fields["gpu"] = (
                [_preset_in(one, folder) for one in given] if isinstance(given, list) else _preset_in(given, folder)
            )
    kernels = {label: _kernel_in(kernel, folder) for label, kernel in study.kernels.items()}
    gpus = [_preset_in(gpu, folder) for gpu in study.gpus]
    return study.model_copy(update={"kernels": kernels, "gpus": gpus, "vary": vary, "points": points})


def _kernel_in(kernel: StudyKernel, folder: Path) -> StudyKernel:
    """A kernel with its paths in a folder."""
    paths: dict[str, Any] = {
        name: [str(folder / one) for one in getattr(kernel, name)] for name in ("capture", "includes")
    }
    if kernel.trace is not None:
        paths["trace"] = str(folder / kernel.trace)
    workload = kernel.workload
    if isinstance(workload, str) and _is_path(workload, ".py") and workload not in library.names("traces", ".py"):
        paths["workload"] = str(folder / workload)
    return kernel.model_copy(update=paths)


def _preset_in(name: Any, folder: Path) -> Any:
    return str(folder / name) if isinstance(name, str) and _is_path(name, ".toml") else name


def _is_path(name: str, suffix: str) -> bool:
    """Whether a name is a path, rather than one of the library: a workload's may name one of several, ``k.py:fast``."""
    return suffix in name or len(Path(name).parts) > 1


def understood(data: Any, where: object) -> StudyFile:
    """Plain data as a study; short forms are spelled out: ``kernels = ["spmv", "t.h5", "app.cu"]``, ``gpus = "h100"``.

    Raises:
        InputError: naming the first wrong field.
    """
    if isinstance(data, dict):
        data = dict(data)
        if "kernels" in data:
            data["kernels"] = _labelled(data["kernels"], where)
        if isinstance(data.get("gpus"), str):
            data["gpus"] = [data["gpus"]]
    try:
        return StudyFile.model_validate(data)
    except ValidationError as error:
        raise InputError(where, *_explained(error.errors()[0])) from None


def _labelled(kernels: Any, where: object) -> Any:
    kernels = [kernels] if isinstance(kernels, str) else kernels
    if not isinstance(kernels, list) or not all(isinstance(one, str) for one in kernels):
        return kernels
    labels = [Path(one).stem for one in kernels]
    if len(set(labels)) < len(labels):
        problem = "has two of the same name; give each its own table, [kernels.NAME]"
        raise InputError(where, "kernels", problem)
    return {label: _source(one) for label, one in zip(labels, kernels, strict=True)}


def _source(name: str) -> dict[str, Any]:
    if name.endswith((".h5", ".g", ".tracez")) or ".traceg" in name:
        return {"trace": name}
    return {"capture": [name]} if name.endswith((".cu", ".cpp")) else {"workload": name}


def _explained(error: Any) -> tuple[str, str]:
    field = ".".join(str(part) for part in error["loc"]) or "study"
    if error["type"] == "missing":
        return field, "is missing; give it"
    if error["type"] == "extra_forbidden":
        return field, f"is unknown; {_suggestion(error['loc'])}"
    return field, f"is {error['input']!r:.60}; it {error['msg'].removeprefix('Input ')}"


_TABLES: dict[
    str, tuple[str, type[BaseModel]]
] = {  # by the first part of a field's name: its table's title, its fields
    "": ("the study", StudyFile),
    "kernels": ("[kernels.NAME]", StudyKernel),
    "design": ("[design]", Design),
}


def _suggestion(location: tuple[Any, ...]) -> str:
    """What the user meant: the same name in another table, a name that is spelled nearly so, or one of all."""
    name = str(location[-1])[:80]
    title, model = _TABLES.get(str(location[0]) if len(location) > 1 else "", _TABLES[""])
    elsewhere = [other for other, of in _TABLES.values() if name in of.model_fields]
    if elsewhere:
        return f"{name} belongs to {elsewhere[0]}"
    near = difflib.get_close_matches(name, model.model_fields, n=1)
    return f"did you mean {near[0]}?" if near else f"{title} has {', '.join(model.model_fields)}"
