"""The traces of a study: which parameters a kernel has, and how its trace is made."""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from memsim.gpu.presets import load_gpu
from memsim.sources import load_workload
from memsim.sources.describe import Workload
from memsim.studies.expressions import substituted, substitutes
from memsim.studies.study_file import StudyKernel
from memsim.support.errors import InputError
from memsim.trace.reader import Trace

PREFIXES = ("workload.", "capture.")
preset = cache(load_gpu)
_loaded = cache(load_workload)
_CAPTURE_FIELDS = ("launch", "registers", "blocks", "kernel")


@dataclass(frozen=True)
class StudyTrace:
    """One trace that points of a study need.

    Attributes:
        label: of the kernel.
        kernel: where it comes from.
        parameters: values of ``workload.*``, complete for described kernels.
        gpu: whose size chooses the blocks that are traced; the point's own changes do not, so that points share traces.
    """

    label: str
    kernel: StudyKernel
    parameters: Mapping[str, Any]
    gpu: str

    @property
    def key(self) -> str:
        """Names it among the traces of a study."""
        said = [self.label, self.kernel.model_dump(mode="json"), sorted(self.parameters.items())]
        if self.kernel.trace is None:
            said.append(self.gpu)
        return hashlib.sha256(json.dumps(said, default=str).encode()).hexdigest()[:16]


def study_trace(label: str, kernel: StudyKernel, fields: Mapping[str, Any], gpu: str, where: object) -> StudyTrace:
    """The trace for a point.

    Args:
        fields: the point's fields that begin with ``workload.`` or ``capture.``.
        gpu: the GPU's name or path, as yet unchanged.

    Raises:
        InputError: a kernel of no source or two, an unknown parameter, or a bad value.
    """
    _check_source(label, kernel, where)
    parameters = {name.removeprefix("workload."): value for name, value in fields.items() if name.startswith("w")}
    captured = {name.removeprefix("capture."): value for name, value in fields.items() if name.startswith("c")}
    for name in captured:
        if not kernel.capture or name not in _CAPTURE_FIELDS:
            right = f"for a captured program, give one of {', '.join(_CAPTURE_FIELDS)}"
            raise InputError(where, f"capture.{name}", f"is not a parameter of {label}; {right}")
    kernel = _changed(kernel, captured, where)
    given = {**kernel.parameters, **parameters}
    if kernel.workload is not None:
        try:
            given = _workload(kernel.workload).parameters(given)
        except InputError as error:
            raise InputError(where, f"workload.{error.field}", error.problem) from None
    else:
        _check_substituted(label, kernel, given, where)
    return StudyTrace(label, kernel, given, gpu)


def recorded(one: StudyTrace, path: Path) -> Trace:
    """Make a trace, or open the file that the study names.

    Raises:
        InputError: a kernel that fails, a file that is none.
    """
    from memsim.sources.record import record

    kernel = one.kernel
    if kernel.workload is not None:
        return record(_workload(kernel.workload), one.parameters, preset(one.gpu), kernel.blocks, path)
    if kernel.capture:
        return _captured(one, path)
    assert kernel.trace is not None
    source = Path(kernel.trace)
    if source.suffix == ".g" or {".traceg", ".tracez"} & set(source.suffixes):
        from memsim.sources.imported.accelsim import import_only_kernel

        return import_only_kernel(source, path, kernel.kernel, None)
    return Trace.open(source)


def _captured(one: StudyTrace, path: Path) -> Trace:
    from memsim.capture.build import Sources
    from memsim.capture.session import capture_sources
    from memsim.sources.selection import CaptureSelection, chosen_kernels

    kernel = one.kernel
    sources = Sources(
        tuple(Path(file) for file in kernel.capture),
        tuple(Path(folder) for folder in kernel.includes),
        tuple(substituted(text, one.parameters) for text in kernel.definitions),
        "c++17",
        tuple(kernel.libraries),
    )
    which = CaptureSelection(chosen_kernels(kernel.kernel), (kernel.launch,), kernel.blocks, False, kernel.registers)
    arguments = [substituted(text, one.parameters) for text in kernel.arguments]
    return capture_sources(sources, arguments, path, preset(one.gpu), which).trace


def _workload(given: str | Workload) -> Workload:
    return given if isinstance(given, Workload) else _loaded(given)


def _check_source(label: str, kernel: StudyKernel, where: object) -> None:
    given = [name for name in ("workload", "trace", "capture") if getattr(kernel, name)]
    if len(given) != 1:
        problem = f"has {' and '.join(given) or 'no source'}; give one of workload, trace and capture"
        raise InputError(where, f"kernels.{label}", problem)
    if kernel.trace is not None and not Path(kernel.trace).is_file():
        raise InputError(where, f"kernels.{label}.trace", f"is {kernel.trace}, which does not exist; give a trace file")
    for file in kernel.capture:
        if not Path(file).is_file():
            raise InputError(
                where, f"kernels.{label}.capture", f"has {file}, which does not exist; give CUDA C++ files"
            )


def _changed(kernel: StudyKernel, captured: Mapping[str, Any], where: object) -> StudyKernel:
    from pydantic import ValidationError

    try:
        return StudyKernel.model_validate(dict(kernel) | dict(captured)) if captured else kernel
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(where, f"capture.{first['loc'][0]}", f"is {first['input']!r:.60}; {first['msg']}") from None


def _check_substituted(label: str, kernel: StudyKernel, given: Mapping[str, Any], where: object) -> None:
    used = {name for text in (*kernel.arguments, *kernel.definitions) for name in substitutes(text)}
    if missing := used - set(given):
        name = min(missing)
        raise InputError(where, f"kernels.{label}", f"uses {{{name}}}; give workload.{name}, or a parameter {name}")
    for name in given:
        if name not in used:
            near = difflib.get_close_matches(name, used, n=1, cutoff=0.0)
            right = f"did you mean {near[0]}?" if near else f"write {{{name}}} in its arguments or definitions"
            raise InputError(where, f"workload.{name}", f"is not a parameter of {label}; {right}")
