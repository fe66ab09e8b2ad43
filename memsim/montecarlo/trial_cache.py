"""Trials that were replayed before, by all that they depend on: nothing is replayed twice.

The key is the trace's digest, the GPU as it was read, the seed, what the caches begin with, the digest of the engine's
sources and the versions of the packages that it computes with. A trial's number does the rest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from memsim.hierarchy.trial import Trial
from memsim.montecarlo.trials import arrays_of, trial_of
from memsim.support.cache import own_digest
from memsim.support.result_cache import StoredRows

ENGINE = ("support", "jit", "gpu", "trace", "hierarchy", "profile", "montecarlo")  # rooms that decide on a trial
_PACKAGES = ("memsim", "numpy", "numba")
DEMAND = -1  # in place of a trial's number: what the trace asks of the GPU


def identity(about: Mapping[str, Any]) -> dict[str, Any]:
    """What must be the same for trials to belong together, from the `about` of their Trials."""
    found = {
        "trace": {"digest": about["trace"]["digest"]},
        "gpu": about["gpu"],
        "seed": about["seed"],
        "warm": about.get("warm", False),
        "versions": {"memsim": about["versions"].get("memsim")},
    }
    return found | {name: about[name] for name in ("launches_before", "sample") if name in about}


def cache_key(about: Mapping[str, Any], *more: object, rooms: Sequence[str] = ()) -> str:
    """Names all that a trial depends on but its number.

    Args:
        about: of its Trials.
        more: what else it depends on, as JSON can hold it.
        rooms: in addition to the engine's, whose sources decide on it.
    """
    versions = [about["versions"].get(name) for name in _PACKAGES]
    said = [identity(about), versions, own_digest(*ENGINE, *rooms), *more]
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


class CachedTrials:
    """The trials of a key that are kept, and those that are added.

    Args:
        key: of :func:`cache_key`; None: none are kept.
        n_ops: static instructions of the trace.

    Attributes:
        found: trials by number, those that were there and those added since.
    """

    def __init__(self, key: str | None, n_ops: int) -> None:
        self._rows = StoredRows(key)
        self.found: dict[int, Trial] = {}
        self._demand: dict[str, Any] | None = None
        for number, arrays in self._rows.read():
            if number == DEMAND:
                self._demand = json.loads(arrays["text"].tobytes())
            elif (trial := trial_of(arrays, n_ops)) is not None:
                self.found[number] = trial

    def add(self, number: int, trial: Trial) -> None:
        """Keep a trial."""
        if number not in self.found:
            self.found[number] = trial
            self._rows.add(number, arrays_of(trial))

    @property
    def has_demand(self) -> bool:
        """Whether it is known what the trace asks of the GPU."""
        return self._demand is not None

    def demand(self, find: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What the trace asks of the GPU, see :func:`memsim.montecarlo.demand.demand`: found and kept unless it is."""
        if self._demand is None:
            self._demand = find()
            self._rows.add(DEMAND, {"text": np.frombuffer(json.dumps(self._demand).encode(), np.uint8)})
        return self._demand
