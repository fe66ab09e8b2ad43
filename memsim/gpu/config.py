"""A GPU as validated, immutable data.

A preset is a TOML file (``configs/``); every number there is a table ``{value, source, status}`` with its unit in the
field's name. A field of this model that ends in ``_cycles`` may be given in the file as ``_ns`` instead; it is
resolved to SM cycles once, here.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, Self

from pydantic import BaseModel, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from memsim.gpu import rules
from memsim.gpu.architecture import Architecture, architecture, architecture_number
from memsim.gpu.cores import L1, SM, LaunchCost
from memsim.gpu.memory import L2, Dram, MemorySide, Prefetcher, Translation
from memsim.gpu.section import Section
from memsim.support.errors import InputError

MID_LAUNCH = "mid_launch"


class Stochastic(Section):
    """Everything that is random; each source is a switch."""

    start_alignment: bool | Literal["mid_launch"] = Field(
        True,
        description="start resident blocks at random phases; mid_launch: only if the first block is not traced",
    )
    warp_weights: bool = Field(True, description="if true, weighted_round_robin draws the weights of warps")
    max_weight: int = Field(4, ge=1, le=64, description="largest weight: sequences that a warp issues in a row")
    arbitration: bool = Field(
        True, description="if true, requests that reach L2 in the same cycle are ordered at random"
    )
    dram_grouping: bool = Field(
        True, description="if true, the main-memory step draws its group sizes; if not, groups are full"
    )
    page_placement: bool = Field(False, description="if true, pages get random physical frames")
    page_bytes: int = Field(65536, ge=4096, le=2**30, description="page size")


class MwpCwp(Section):
    """Inputs of the MWP/CWP model (Hong and Kim, ISCA 2009, tables 1 and 6); None: derived from the other fields."""

    issue_cycles: float | None = Field(None, ge=1e-3, le=10**5, description="SM cycles to issue one warp instruction")
    mem_ld_cycles: int | None = Field(None, ge=1, le=10**6, description="round trip of one transaction to DRAM")
    departure_del_coal_cycles: int | None = Field(
        None, ge=1, le=10**6, description="delay between two coalesced memory warps of one SM"
    )
    departure_del_uncoal_cycles: int | None = Field(
        None, ge=1, le=10**6, description="delay between two transactions of an uncoalesced memory warp"
    )


def _way(description: str) -> Any:
    return Field(None, ge=1e-9, le=1e6, description=description)


class Host(Section):
    """The way between host and GPU (:mod:`memsim.host`); None: not stated."""

    to_gpu_gb_per_s: float | None = _way("rate of a long copy of pinned memory to the GPU")
    to_host_gb_per_s: float | None = _way("rate of a long copy of pinned memory to the host")
    pageable_to_gpu_gb_per_s: float | None = _way("rate of a long copy of pageable memory to the GPU")
    pageable_to_host_gb_per_s: float | None = _way("rate of a long copy of pageable memory to the host")
    copy_us: float | None = _way("time of an empty copy")
    call_us: float | None = _way("host's time for one call that starts a copy or a kernel")
    launch_us: float | None = _way("latency from a kernel's turn in its stream to its first block")
    graph_call_us: float | None = _way("host's time for one launch of a graph")
    graph_node_us: float | None = _way("latency from a kernel's turn in its graph to its first block")
    copy_engines: int | None = Field(None, ge=1, le=2, description="simultaneous copies; with two, one per direction")
    concurrent_kernels: int | None = Field(None, ge=1, le=1024, description="maximum number of concurrent kernels")
    fault_batch: int | None = Field(None, ge=1, le=2**16, description="page faults per batch of the driver")
    fault_batch_us: float | None = _way("driver's time per batch of page faults, without the migrations")
    fault_us: float | None = _way("driver's time per fault of a batch")
    fault_block_us: float | None = _way("driver's time for 2 MB of which the GPU holds nothing")
    migration_us: float | None = _way("fixed time of a migration; neighbouring pages move together")
    allocate_us: float | None = _way("host's time to allocate or free device memory")
    allocate_us_per_mb: float | None = _way("the same, per 10^6 bytes")
    allocate_shared_us: float | None = _way("host's time for an allocation within 2 MB that are already reserved")
    device_launch_us: float | None = _way("time of a kernel launch by a device thread")


class GPU(Section):
    """Everything the simulator knows of a GPU; immutable, and valid as a whole (:mod:`memsim.gpu.rules`).

    ``model_dump(mode="json")`` gives a dict for files, :func:`gpu_from_dict` takes it back;
    :func:`memsim.gpu.presets.override` makes variants.
    """

    name: str = Field(max_length=100, description="name in reports")
    compute_capability: str = Field(
        pattern=r"^(\d{1,2}\.\d|gfx[0-9a-f]{3,4})$",
        description="compute capability, or AMD's processor name; chooses the rules of coalescing and occupancy",
    )
    sm: SM
    launch: LaunchCost = LaunchCost()
    l1: L1
    l2: L2
    prefetcher: Prefetcher = Prefetcher()
    memory_side: MemorySide = MemorySide()
    translation: Translation = Translation()
    dram: Dram
    stochastic: Stochastic = Stochastic()
    mwp_cwp: MwpCwp = MwpCwp()
    host: Host = Host()

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        for field, problem in rules.problems(self):
            raise PydanticCustomError("geometry", "{field} {problem}", {"field": field, "problem": problem})
        return self

    @property
    def architecture(self) -> Architecture:
        """What follows from the compute capability."""
        return architecture(self.compute_capability)

    @property
    def architecture_number(self) -> int:
        """86 for compute capability 8.6, as in sm_86; an InputError for AMD's processors."""
        return architecture_number(self.compute_capability)

    @property
    def l2_clocks(self) -> float:
        """Cycles of L2's clock in one of the SMs'."""
        return (self.l2.clock_mhz or self.sm.clock_mhz) / self.sm.clock_mhz


def gpu_from_dict(data: object, where: object) -> GPU:
    """Make a GPU of plain (JSON-like) data, which may be anything.

    Args:
        data: nested dict of the fields of :class:`GPU`; enumerations as strings.
        where: what an error names, usually the file.

    Raises:
        InputError: naming `where`, the first wrong field, and what would be right.
    """
    try:
        # JSON is the mode in which strict fields take enumerations as strings; `default` turns what JSON lacks
        # (a TOML date) into a string, which no such field accepts.
        return GPU.model_validate_json(json.dumps(data, default=str))
    except ValidationError as error:
        raise InputError(where, *_explain(error.errors())) from None


def _explain(errors: list[Any]) -> tuple[str, str]:
    """Turn the first of pydantic's errors into (field, what is wrong and what would be right)."""
    error = errors[0]
    if error["type"] == "geometry":
        return error["ctx"]["field"], error["ctx"]["problem"]
    field = ".".join(str(part) for part in error["loc"]) or "configuration"
    if error["type"] == "missing":
        return field, "is missing; give it, or inherit a preset that has it"
    if error["type"] == "extra_forbidden":
        return field, unknown(field)
    given = repr(error["input"])
    given = given if len(given) <= 60 else given[:57] + "..."
    would_do = [error["msg"].removeprefix("Input ")]
    if (union := field.rpartition(".")[0]) in fields():  # one of several kinds of value, each with an error
        kinds = [other["msg"] for other in errors if other["loc"][:-1] == error["loc"][:-1]]
        field, would_do = union, [kind.removeprefix("Input ") for kind in kinds]
    return field, f"is {given}; it {', or '.join(would_do)}"


@cache
def fields(model: type[BaseModel] = GPU, prefix: str = "") -> Mapping[str, Any]:
    """Every leaf field as ``{"l1.ways": FieldInfo, ...}``, in the order of the model.

    >>> fields()["l1.ways"].description
    'associativity: lines per set'
    """
    leaves: dict[str, Any] = {}
    for name, info in model.model_fields.items():
        inner = info.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            leaves |= fields(inner, f"{prefix}{name}.")
        else:
            leaves[prefix + name] = info
    return MappingProxyType(leaves)


def unknown(field: str) -> str:
    """Say that a field does not exist, and which one was probably meant.

    >>> unknown("l1.way")
    'is unknown; did you mean l1.ways?'
    """
    near = difflib.get_close_matches(field[:80], fields(), n=1, cutoff=0.0)
    return f"is unknown; did you mean {near[0]}?"
