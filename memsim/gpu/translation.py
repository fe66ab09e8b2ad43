"""The declaration of address translation between L1, which is tagged with virtual addresses, and L2: TLBs and walks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsim.gpu.component import Component
from memsim.gpu.geometry import Problem, power_of_two

if TYPE_CHECKING:
    from memsim.gpu.config import GPU


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
    chooser="enabled",
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
