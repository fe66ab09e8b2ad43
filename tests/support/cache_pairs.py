"""Random pairs of caches, for walks to find."""

from __future__ import annotations

import machines
from hypothesis import strategies as st

from memsim.gpu.config import GPU


@st.composite
def two_caches(draw) -> GPU:
    """Any two caches: sectors, lines, ways, sets, slices, hashes, replacement and inclusion."""

    def of(*values):
        return draw(st.sampled_from(values))

    line = of(64, 128)
    l2_line = of(*(size for size in (32, 64, 128) if size <= line))
    ways, l2_ways = of(1, 2, 3, 4, 8), of(2, 4, 6, 8, 16)
    slices = of(1, 2, 3, 4, 6)
    policies = ["lru", "fifo", "random"]
    l1_bytes = ways * line * of(1, 2, 4, 16)
    l2_bytes = l2_ways * l2_line * slices * of(4, 8, 16)
    return machines.gpu(
        sm__count=of(2, 3),
        l1__line_bytes=line,
        l1__sector_bytes=of(*(size for size in (32, 64, 128) if size <= line)),
        l1__ways=ways,
        l1__size_bytes=l1_bytes,
        l1__set_hash=of("modulo", "xor_fold"),
        l1__replacement=of(*policies, *["tree_plru"] * (ways != 3)),
        l2__line_bytes=l2_line,
        l2__fetch_bytes=of(*(size for size in (32, 64, 128) if size <= l2_line)),
        l2__ways=l2_ways,
        l2__slices=slices,
        l2__size_bytes=l2_bytes * max(1, 2 ** (2 * l1_bytes // l2_bytes).bit_length()),  # at least twice L1
        l2__slice_hash=of("modulo", *["xor_fold"] * (slices not in (3, 6))),
        l2__set_hash=of("modulo", "xor_fold"),
        l2__replacement=of(*policies, *["tree_plru"] * (l2_ways != 6)),
        l2__inclusion=of("inclusive", "non_inclusive"),
    )
