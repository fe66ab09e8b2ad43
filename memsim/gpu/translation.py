"""The declaration of address translation between L1, which is tagged with virtual addresses, and L2: TLBs and walks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field

from memsim.gpu.component import Component
from memsim.gpu.geometry import Problem, power_of_two
from memsim.gpu.section import Section

if TYPE_CHECKING:
    from memsim.gpu.config import GPU


class Translation(Section):
    """Address translation between L1, which is tagged with virtual addresses, and L2: TLBs and page walks."""

    enabled: bool = Field(False, description="whether addresses are translated before L2")
    page_bytes: int = Field(2097152, ge=4096, le=2**30, description="page size, and reach of an entry of an SM's TLB")
    sm_entries: int = Field(16, ge=1, le=4096, description="entries of the TLB of an SM")
    sm_ways: int = Field(16, ge=1, le=4096, description="associativity of the TLB of an SM")
    sm_misses: int = Field(16, ge=1, le=4096, description="maximum number of outstanding misses of the TLB of an SM")
    shared_entries: int = Field(256, ge=1, le=2**20, description="entries of the shared TLB")
    shared_ways: int = Field(16, ge=1, le=4096, description="associativity of the shared TLB")
    shared_page_bytes: int = Field(33554432, ge=4096, le=2**40, description="reach of an entry of the shared TLB")
    shared_latency_cycles: int = Field(
        10, ge=1, le=10**5, description="latency from a miss of an SM's TLB to its fill, on a hit in the shared TLB"
    )
    starts_warm: bool = Field(True, description="whether the shared TLB begins with the trace's pages, as after copies")
    walkers: int = Field(32, ge=1, le=4096, description="page walks at the same time")
    walk_levels: int = Field(4, ge=1, le=6, description="dependent loads per page walk, each through L2")


def _problems(gpu: GPU) -> Iterator[Problem]:
    own = gpu.translation
    for name in ("page_bytes", "shared_page_bytes"):
        if not power_of_two(getattr(own, name)):
            yield f"translation.{name}", f"is {getattr(own, name)}; give a power of two"
    if own.shared_page_bytes < own.page_bytes:
        yield "translation.shared_page_bytes", f"is {own.shared_page_bytes}; give page_bytes = {own.page_bytes} or more"
    for name, entries, ways in (("sm", own.sm_entries, own.sm_ways), ("shared", own.shared_entries, own.shared_ways)):
        if entries % ways:
            yield f"translation.{name}_entries", f"is {entries}; give a multiple of {name}_ways = {ways}"


TRANSLATION = Component(
    section="translation",
    parameters=Translation,
    off=False,
    problems=_problems,
    is_compiled=True,
    counters={
        "sm_hit": "hits in the TLBs of SMs",
        "sm_miss": "misses of the TLBs of SMs, each a lookup in the shared TLB",
        "sm_merge": "lookups in TLBs of SMs that joined an outstanding miss",
        "shared_hit": "hits in the shared TLB",
        "shared_miss": "misses of the shared TLB, each a page walk",
        "shared_merge": "lookups in the shared TLB that joined an outstanding page walk",
    },
    laws={
        "lookups in the shared TLB are not as many as misses of the TLBs of SMs": lambda of: (
            of["sm_miss"] == of["shared_hit"] + of["shared_miss"] + of["shared_merge"]
        ),
    },
)
