"""Latency: its distribution, and the paper's closed form for the expected latency of a load."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memsim.hierarchy.counters import latency_bin_edges


@dataclass(frozen=True)
class LatencyDistribution:
    """Latencies in the bins of hierarchy.counters, all trials together.

    Attributes:
        counts: i8 [LATENCY_BINS].
    """

    counts: np.ndarray

    def density(self) -> tuple[np.ndarray, np.ndarray]:
        """Edges in cycles [bins + 1] and probability per cycle [bins], which sums to 1 over the bins' widths."""
        edges = latency_bin_edges()
        return edges, self.counts / np.maximum(self.counts.sum(), 1) / np.diff(edges)

    def quantile(self, q: float) -> float:
        """The latency in cycles that a share `q` stays below, even within its bin; nan when nothing was counted.

        >>> counts = np.zeros(len(latency_bin_edges()) - 1, int)
        >>> counts[10] = 4  # four requests of 10 cycles: the bin from 10 up to 11
        >>> LatencyDistribution(counts).quantile(0.5)
        10.5
        """
        reached = np.cumsum(self.counts)
        if not reached[-1]:
            return float("nan")
        rank = q * reached[-1]
        bin_ = int(np.searchsorted(reached, rank))
        edges = latency_bin_edges()
        inside = (rank - (reached[bin_] - self.counts[bin_])) / max(self.counts[bin_], 1)
        return float(edges[bin_] + inside * (edges[bin_ + 1] - edges[bin_]))


def expected_latency_terms(
    h1: np.ndarray, h2: np.ndarray, t1: float, t2: float, memory: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The terms of X = H1 t1 + (1 - H1) [H2 t2 + (1 - H2) Tm] (Baghsorkhi 2012, 6.1): from L1, from L2, from memory.

    Args:
        h1, h2: hit ratios; a nan (nothing reached that level) weighs nothing: without L1 traffic H1 is 0, and with
            H1 = 1 nobody asks for H2.
        t1, t2: hit latencies, cycles.
        memory: Tm, cycles; a nan matters only where something missed in L2.

    >>> [float(term) for term in expected_latency_terms(np.array(0.5), np.array(0.5), 100, 200, np.array(800.0))]
    [50.0, 50.0, 200.0]
    """
    unused = np.isnan(h1) & np.isnan(h2)
    h1 = np.where(np.isnan(h1) & ~unused, 0.0, h1)
    to_l2 = 1 - h1
    from_l2 = np.where(to_l2 > 0, to_l2 * h2, 0.0)
    to_memory = np.where(to_l2 > 0, to_l2 * (1 - h2), 0.0)
    from_memory = np.where(to_memory > 0, to_memory * memory, 0.0)
    undefined = unused | np.isnan(to_memory)
    terms = (h1 * t1, from_l2 * t2, from_memory)
    return tuple(np.where(undefined, np.nan, term) for term in terms)  # type: ignore[return-value]
