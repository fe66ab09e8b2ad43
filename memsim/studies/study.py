"""A study: which kernels, GPUs and points to simulate. Everything is checked when the study is made, before a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any, Self

from memsim.gpu.config import GPU, fields, unknown
from memsim.gpu.presets import override
from memsim.studies import design, study_file
from memsim.studies.expressions import Constraints
from memsim.studies.kernels import PREFIXES, StudyTrace, preset, study_trace
from memsim.studies.ranges import Values, is_range, made
from memsim.studies.store import StudyCase
from memsim.support.errors import InputError
from memsim.support.files import read_toml

GPU_FIELD = "gpu"
_SHOWN = 6  # fields of a point that an error shows


@dataclass(frozen=True)
class StudyRun:
    """One case at one point: a trace on a GPU.

    Attributes:
        point, case: numbers of the two.
        base: name or path of the GPU that was changed.
        settings: the fields that were changed, with their values.
        gpu: the GPU, valid, as yet without the share of L1 that the kernel's shared memory takes.
        trace: the trace.
    """

    point: int
    case: int
    base: str
    settings: Mapping[str, Any]
    gpu: GPU
    trace: StudyTrace


class StudyDesign:
    """Simulations at every point of a design: any field of a GPU, any parameter of a kernel, several of both.

    Args:
        where: what errors name, usually the study's file.
        data: the study, by the names of its file (docs/how_to/studies.md): kernels, gpus, set, vary, points, design,
            follow, require, trials, until, until_time, min_trials, max_trials, seed, warm.

    Attributes:
        written: the study as written, with its defaults.
        points: the points, each a dict of field -> value.
        cases: kernels and GPUs that are simulated at every point.
        runs: every case at every point.

    Raises:
        InputError: a typo, a geometry that cannot exist, or a design that is huge by mistake; in one line.
    """

    def __init__(self, where: object = "Study", **data: Any) -> None:
        self.where = where
        self.written = study_file.understood(data, where)
        if self.written.max_trials < self.written.min_trials:
            problem = f"is {self.written.max_trials}; give {self.written.min_trials} (min_trials) or more"
            raise InputError(where, "max_trials", problem)
        self.vary = self._values()
        self.constraints = Constraints(self.written.follow, self.written.require, where)
        self._check_fields()
        varies_gpu = GPU_FIELD in self._fields
        gpus = [""] if varies_gpu else self.written.gpus
        self.cases = [StudyCase(kernel, gpu) for kernel in self.written.kernels for gpu in gpus]
        points = self._points()
        self.points = [
            point for point in points if all(self.constraints.hold(self._known(point, case)) for case in self.cases)
        ]
        self.left_out = len(points) - len(self.points)
        if not self.points:
            raise InputError(where, "require", f"leaves none of the {len(points):,} points")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a study file; relative paths in it start at its own folder, wherever memsim is called from.

        Raises:
            InputError: see :class:`StudyDesign`.
        """
        data = read_toml(Path(path), study_file.LARGEST_FILE, "a study")
        return cls(path, **dict(study_file.located(study_file.understood(data, path), Path(path).parent)))

    @cached_property
    def runs(self) -> list[StudyRun]:
        return [
            self._run(number, point, case)
            for number, point in enumerate(self.points)
            for case in range(len(self.cases))
        ]

    def at_point(self, number: int, error: InputError) -> InputError:
        """The error, saying at which point it is."""
        shown = ", ".join(f"{name} = {value}" for name, value in list(self.points[number].items())[:_SHOWN])
        return InputError(self.where, error.field, f"{error.problem} (point {number}: {shown})")

    def check(self) -> None:
        """Make every GPU and look at every parameter.

        Raises:
            InputError: the first point that cannot be, with what would be right.
        """
        assert self.runs

    @property
    def most_trials(self) -> int:
        """Trials of a run, at most."""
        return self.written.trials if self.written.until is None else self.written.max_trials

    def _values(self) -> dict[str, Values]:
        values: dict[str, Values] = {}
        for name, data in _flat(self.written.vary):
            try:
                values[name] = made(data)
            except ValueError as error:
                raise InputError(self.where, f"vary.{name}", str(error)) from None
        return values

    @property
    def _fields(self) -> list[str]:
        """Names that points give values to."""
        return list(self.written.points[0]) if self.written.points else list(self.vary)

    def _check_fields(self) -> None:
        """Every name is one of a GPU or a kernel, and is given once."""
        given = {"set": [name for name, _ in _flat(self.written.set)], "vary": self._fields}
        given["follow"] = list(self.written.follow)
        seen: dict[str, str] = {}
        for section, names in given.items():
            for name in names:
                if name in seen:
                    raise InputError(self.where, f"{section}.{name}", f"is given in {seen[name]} too; leave one out")
                seen[name] = section
                if name == GPU_FIELD and section == "vary":
                    continue
                cycles = name.removesuffix("_ns") + "_cycles" if name.endswith("_ns") else name
                if cycles not in fields() and (not name.startswith(PREFIXES) or section == "set"):
                    raise InputError(self.where, f"{section}.{name}", unknown(name))
        self.constraints.check_names(set(seen) | set(fields()))

    def _points(self) -> list[design.Point]:
        method, most = self.written.design.method, self.written.design.most
        if (method == "list") != bool(self.written.points):
            problem = 'need design.method = "list"' if self.written.points else "are missing"
            raise InputError(self.where, "points", problem)
        if method == "list":
            return self._listed()
        if not self.vary:
            raise InputError(self.where, "vary", 'has no field; give one, such as "l1.ways" = [4, 8]')
        count = self._count(method)
        if count > most:
            problem = f"makes {count:,} points; give fewer, or set design.most = {count}"
            raise InputError(self.where, "vary" if method == "grid" else "design.points", problem)
        if method == "grid":
            return design.combinations(self.vary)
        assert self.written.design.points is not None
        return design.sampled(method, self.vary, self.written.design.points, self.written.design.seed)

    def _count(self, method: str) -> int:
        if method == "grid":
            for name in (name for name, values in self.vary.items() if values.levels() is None):
                problem = "is a range without step or count, which a grid needs; give one of them"
                raise InputError(self.where, f"vary.{name}", problem)
            return prod(len(values.levels() or ()) for values in self.vary.values())
        unfit = design.problem_with(method, self.written.design.points)
        if unfit is not None:
            raise InputError(self.where, "design.points", unfit)
        if method == "saltelli" and self.written.require:
            raise InputError(self.where, "require", "removes points, but saltelli needs all of them; leave it out")
        points = self.written.design.points or 0
        return points * (len(self.vary) + 2) if method == "saltelli" else points

    def _listed(self) -> list[design.Point]:
        points = [dict(_flat(point)) for point in self.written.points]
        for number, point in enumerate(points):
            if set(point) != set(points[0]):
                odd = min(set(point) ^ set(points[0]))
                raise InputError(self.where, f"points[{number}]", f"has other fields than the first ({odd})")
        if self.vary:
            raise InputError(self.where, "vary", "is given together with points; leave one of them out")
        return [{name: point[name] for name in points[0]} for point in points]

    def _known(self, point: design.Point, case: StudyCase) -> dict[str, Any]:
        """Every name that an expression may use, with its value there."""
        name = _base(point, case)
        try:
            base = dict(_flat(preset(name).model_dump(mode="json")))
        except InputError as error:
            raise InputError(self.where, "gpus", f"has {name}, which {error.problem}") from None
        return {**base, **dict(_flat(self.written.set)), GPU_FIELD: name, **point}

    def _run(self, number: int, point: design.Point, case: int) -> StudyRun:
        base = _base(point, self.cases[case])
        try:
            changed = {**point, **self.constraints.followed(self._known(point, self.cases[case]))}
            settings = dict(_flat(self.written.set))
            of_kernel = {name: value for name, value in changed.items() if name.startswith(PREFIXES)}
            settings |= {name: changed[name] for name in changed if name != GPU_FIELD and name not in of_kernel}
            gpu = override(preset(base), settings, self.where)
            label = self.cases[case].kernel
            trace = study_trace(label, self.written.kernels[label], of_kernel, base, self.where)
        except InputError as error:
            raise self.at_point(number, error) from None
        return StudyRun(number, case, base, settings, gpu, trace)


def _flat(table: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """(dotted name, value) of nested tables; a range is a value."""
    found: list[tuple[str, Any]] = []
    for name, value in table.items():
        if isinstance(value, dict) and not is_range(value):
            found += _flat(value, f"{prefix}{name}.")
        else:
            found.append((prefix + name, value))
    return found


def _base(point: Mapping[str, Any], case: StudyCase) -> str:
    return str(point.get(GPU_FIELD, case.gpu))
