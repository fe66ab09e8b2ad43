"""GPUs from TOML files: inheritance, units, provenance, overrides.

A value in a file is a plain one, or a table ``{ value = 128, source = "...", status = "measured" }``, in which
``uncertainty = 0.1`` may say how far off it is; the presets in ``configs/`` give the table for every number.

A field of the model that ends in ``_cycles`` may be given as ``_ns`` instead and is rounded to cycles of
``sm.clock_mhz``, or of ``l2.clock_mhz`` where L2's slices count it. A number of SM cycles may say by
``clock_mhz = 1740`` which clock it was measured at: a GPU with another clock keeps its nanoseconds, and the number is
no longer "measured". What runs at the SM's clock (L1, shared memory,
pipes) has the same number of cycles at any clock, and does not say so.

``inherit = "tesla-c2050"`` (a preset or a path) starts from another file. A file with another ``compute_capability``
is of another chip: what it takes over is assumed. TOML files are untrusted.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memsim.gpu import config
from memsim.gpu.config import GPU, gpu_from_dict
from memsim.gpu.section import present_name
from memsim.support import library
from memsim.support.errors import InputError
from memsim.support.files import read_toml

STATUSES = ("measured", "documented", "fitted", "assumed", "given")
_SECTIONS = {field.rpartition(".")[0] for field in config.fields()} - {""}
_UNITS = {
    "_bytes_per_cycle": "bytes/cycle", "_bytes": "bytes", "_cycles": "SM cycles", "_mhz": "MHz", "_ns": "ns",
    "_gb_per_s": "GB/s", "_us": "microseconds",
}  # fmt: skip
_OF_L2_CLOCK = ("l2.sector_cycles", "l2.partial_store_cycles", "l2.repeated_store_cycles")
_LARGEST_FILE = 1 << 20
_LONGEST_CHAIN = 8  # files that inherit from each other


@dataclass(frozen=True)
class Provenance:
    """Where one value of a GPU comes from.

    Attributes:
        value: as written, in `unit`.
        unit: "bytes", "SM cycles", "L2 cycles" (of its own clock), "ns", "MHz", "DRAM clocks", "bytes/cycle", "GB/s",
            "microseconds" or "".
        source: a publication, a measurement, or the file or argument that gave it.
        status: "measured", "documented", "fitted", "assumed" (with the reason in `source`) or "given" (by the user).
        uncertainty: how far off the value may be, as a share of it; None: not stated.
        clock_mhz: of SM cycles, the clock that they were measured at; None: the GPU's, whatever it is.
    """

    value: Any
    unit: str
    source: str
    status: str
    uncertainty: float | None = None
    clock_mhz: float | None = None

    def at(self, clock_mhz: float) -> Provenance:
        """The same time in cycles of a clock; a value that does not follow a clock stays as it is.

        >>> Provenance(250, "SM cycles", "a board", "measured", clock_mhz=1740.0).at(1710.0).value
        246
        """
        if self.clock_mhz is None or self.clock_mhz == clock_mhz:
            return replace(self, clock_mhz=None)
        source = f"{self.source}; {self.value} cycles at {self.clock_mhz:g} MHz, taken to last as long at another clock"
        status = "assumed" if self.status == "measured" else self.status
        return replace(
            self, value=round(self.value * clock_mhz / self.clock_mhz), source=source, status=status, clock_mhz=None
        )

    def taken_over(self, gpu: str) -> Provenance:
        """The same value for another chip than that of `gpu`, whose value it is: nobody has seen it there.

        >>> Provenance(42, "SM cycles", "a board", "measured").taken_over("rtx4090").source
        'a board; of rtx4090, taken over'
        """
        return replace(self, status="assumed", source=f"{self.source}; of {gpu}, taken over")


def load_gpu(name_or_path: str | Path) -> GPU:
    """Load a preset by name, or a TOML file by path.

    Raises:
        InputError: no such preset or file, not TOML, an unknown field, or an impossible value.

    >>> gpu = load_gpu("tesla-c2050")
    >>> gpu.sm.count, gpu.l1.ways, gpu.l2.hit_latency_cycles  # 250 ns at 1150 MHz
    (14, 64, 288)
    """
    path = _find(name_or_path)
    return _resolve(_read(path), path)


def override(gpu: GPU, settings: Mapping[str, object], where: object = "--set") -> GPU:
    """Return a variant of a GPU, validated as a whole again; latencies keep their cycles when the clock changes.

    Args:
        gpu: the original, unchanged.
        settings: field -> value, for example ``{"l1.ways": 4, "l2.hit_latency_ns": 200.0}``.
        where: what an error names.

    Raises:
        InputError: an unknown field or an impossible value.

    >>> override(load_gpu("tesla-c2050"), {"l1.size_bytes": 49152, "l1.ways": 48}).l1.size_bytes
    49152
    """
    values = {field: Provenance(value, "", "", "given") for field, value in _leaves(gpu.model_dump(mode="json"))}
    return _resolve(values | _given(settings, where), where)


def inheriting(name_or_path: str | Path, values: Mapping[str, Provenance], where: object) -> GPU:
    """A GPU with some values of its own and all others from a preset or file.

    Args:
        where: what an error names.

    Raises:
        InputError: as :func:`load_gpu`, and where the values do not fit together.
    """
    return _resolve(_read(_find(name_or_path)) | dict(values), where)


def parse_settings(settings: Sequence[str], where: object = "--set") -> dict[str, object]:
    """Parse ``field=value`` arguments; a value is TOML, or else a word.

    >>> parse_settings(["l1.ways=4", "l1.replacement=fifo", "l1.enabled=false"])
    {'l1.ways': 4, 'l1.replacement': 'fifo', 'l1.enabled': False}
    """
    parsed: dict[str, object] = {}
    for setting in settings:
        field, equals, text = setting.partition("=")
        if not field.strip() or not equals:
            raise InputError(where, setting, "is not understood; give field=value, for example l1.ways=4")
        try:
            parsed[field.strip()] = tomllib.loads(f"value = {text}")["value"]
        except (tomllib.TOMLDecodeError, RecursionError):
            parsed[field.strip()] = text.strip()
    return parsed


def provenance(name_or_path: str | Path, settings: Mapping[str, object] | None = None) -> dict[str, Provenance]:
    """Where every value of a GPU comes from: field -> :class:`Provenance`, in the order of the model.

    Args:
        name_or_path: as for :func:`load_gpu`.
        settings: what :func:`override` was given besides.

    >>> provenance("tesla-c2050")["l2.hit_latency_cycles"].value
    250
    """
    path = _find(name_or_path)
    own = _read(path)
    gpu = _resolve(own, path)  # whose clock latencies follow; settings are given at whatever clock there is then
    known = {field: entry.at(gpu.sm.clock_mhz) for field, entry in own.items()} | _given(settings or {}, "--set")
    _resolve(known, "--set" if settings else path)
    return {field: known.get(field) or _default(field, info) for field, info in config.fields().items()}


def _default(field: str, info: Any) -> Provenance:
    value = info.get_default()
    source = "memsim's default" if value is not None else "not stated; derived from the other fields"
    plain = list(value) if isinstance(value, tuple) else getattr(value, "value", value)
    return Provenance(plain, unit(field), source, "assumed")


def unit(field: str) -> str:
    """Name the unit of a field, which follows from its name or its table.

    >>> unit("l1.size_bytes"), unit("l2.hit_latency_cycles"), unit("l2.sector_cycles"), unit("dram.timing.cl")
    ('bytes', 'SM cycles', 'L2 cycles', 'DRAM clocks')
    """
    if field in _OF_L2_CLOCK:
        return "L2 cycles"
    if field.startswith("dram.timing."):
        return "DRAM clocks"
    return next((name for ending, name in _UNITS.items() if field.endswith(ending)), "")


def names() -> list[str]:
    """Names of the presets, sorted."""
    return library.names("configs", ".toml")


def _find(name_or_path: str | Path) -> Path:
    return library.find("configs", ".toml", name_or_path)


def _given(settings: Mapping[str, object], where: object) -> dict[str, Provenance]:
    known: dict[str, Provenance] = {}
    for field, value in settings.items():
        _insert(known, field, Provenance(value, unit(field), str(where), "given"), where)
    return known


def _read(path: Path, chain: int = 1) -> dict[str, Provenance]:
    """Read a file and what it inherits: field of the model -> value as written."""
    data = read_toml(path, _LARGEST_FILE, "a GPU configuration")
    parent = data.pop("inherit", None)
    own: dict[str, Provenance] = {}
    for field, value in _leaves(data):
        _insert(own, field, _as_provenance(field, value, path), path)
    known: dict[str, Provenance] = {}
    if parent is not None:
        if not isinstance(parent, str):
            raise InputError(path, "inherit", f"is {parent!r}; give the name of a preset or a path")
        if chain == _LONGEST_CHAIN:
            raise InputError(path, "inherit", f"makes a chain of more than {_LONGEST_CHAIN} files; give a shorter one")
        candidates = [path.parent / parent, path.parent / f"{parent}.toml"]
        known = _read(next((file for file in candidates if file.is_file()), None) or _find(parent), chain + 1)
        if _of_another_chip(own, known):
            known = {field: entry.taken_over(parent) for field, entry in known.items()}
    return known | own


def _of_another_chip(own: Mapping[str, Provenance], inherited: Mapping[str, Provenance]) -> bool:
    """Whether a file states another compute capability than what it inherits."""
    chips = [known["compute_capability"].value for known in (own, inherited) if "compute_capability" in known]
    return len(chips) == 2 and chips[0] != chips[1]


def _leaves(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        field = prefix + name
        if field in _SECTIONS and isinstance(value, dict):
            yield from _leaves(value, field + ".")
        else:
            yield field, value


def _as_provenance(field: str, value: Any, path: Path) -> Provenance:
    if not isinstance(value, dict):
        return Provenance(value, unit(field), path.name, "given")
    extra = set(value) - {"value", "source", "status", "uncertainty", "clock_mhz"}
    if "value" not in value or extra:
        problem = "is a table; give a plain value or { value, source, status, uncertainty, clock_mhz }"
        raise InputError(path, field, problem)
    source, status = value.get("source", path.name), value.get("status", "given")
    if not isinstance(source, str):
        raise InputError(path, f"{field}.source", f"is {source!r}; give text")
    if status not in STATUSES:
        raise InputError(path, f"{field}.status", f"is {status!r}; give one of {', '.join(STATUSES)}")
    uncertainty = value.get("uncertainty")
    if uncertainty is not None and (type(uncertainty) is not float or not 0 < uncertainty < 1):
        raise InputError(
            path, f"{field}.uncertainty", f"is {uncertainty!r:.60}; give a share of the value, such as 0.1"
        )
    return Provenance(value["value"], unit(field), source, status, uncertainty, _measured_at(field, value, path))


def _measured_at(field: str, value: Mapping[str, Any], path: Path) -> float | None:
    """The clock at which a number of cycles was measured, if it says so."""
    clock = value.get("clock_mhz")
    if clock is None:
        return None
    if unit(field) != "SM cycles" or type(value["value"]) is not int:
        raise InputError(path, f"{field}.clock_mhz", "applies only to fields in SM cycles; leave it out")
    if type(clock) not in (int, float) or not 1 <= clock <= 1e5:
        raise InputError(path, f"{field}.clock_mhz", f"is {clock!r:.60}; give the clock in MHz, 1 to 100000")
    return float(clock)


def _insert(known: dict[str, Provenance], field: str, entry: Provenance, where: object) -> None:
    """Keep an entry under the model's name of its field: ``_ns`` stands for ``_cycles``."""
    name = present_name(field.removesuffix("_ns") + "_cycles" if field.endswith("_ns") else field)
    if name not in config.fields():
        raise InputError(where, field, config.unknown(field))
    if name in known:
        raise InputError(where, field, "is given in ns and in cycles; give one of them")
    known[name] = entry


def _resolve(known: Mapping[str, Provenance], where: object) -> GPU:
    """Turn ns into cycles, and SM cycles of another clock; build the nested data, validate."""
    nested: dict[str, Any] = {}
    for field, stated in known.items():
        entry = stated.at(_clock(known, where, field)) if stated.clock_mhz else stated
        *sections, name = field.split(".")
        table = nested
        for section in sections:
            table = table.setdefault(section, {})
        table[name] = _cycles(field, entry.value, known, where) if entry.unit == "ns" else entry.value
    return gpu_from_dict(nested, where)


def _cycles(field: str, ns: Any, known: Mapping[str, Provenance], where: object) -> int:
    clock = _l2_clock(known) if field in _OF_L2_CLOCK else None
    clock = clock or _clock(known, where, field)
    if type(ns) not in (int, float) or not 0 <= ns < 1e9:
        raise InputError(
            where, field.replace("_cycles", "_ns"), f"is {ns!r}; give a number, from which {field} follows"
        )
    return round(ns * clock / 1000)


def _l2_clock(known: Mapping[str, Provenance]) -> float | None:
    """L2's own clock in MHz, where one is stated; what is wrong with it, the model says."""
    clock: Any = known["l2.clock_mhz"].value if "l2.clock_mhz" in known else None
    return float(clock) if type(clock) in (int, float) and 0 < clock < 1e9 else None


def _clock(known: Mapping[str, Provenance], where: object, field: str) -> float:
    """The SM's clock in MHz, from which a field's cycles follow."""
    clock: Any = known["sm.clock_mhz"].value if "sm.clock_mhz" in known else None
    if type(clock) not in (int, float) or not 0 <= clock < 1e9:
        raise InputError(where, "sm.clock_mhz", f"is {clock!r}; give a number, from which {field} follows")
    return float(clock)
