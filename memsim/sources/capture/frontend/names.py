"""What the front end knows of CUDA's own functions: which access memory through a pointer, and how."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memsim.trace.schema import Kind


@dataclass(frozen=True)
class Builtin:
    """A function of CUDA.

    Attributes:
        accesses: (index of the pointer argument, what is done to what it points to).
        returns_loaded: it returns what it loaded, and that alone.
        ends_loads: other threads may have stored: what was loaded before must be loaded again.
        is_fetch: it reads through a texture object.
        has_reduction: an atomic that has a form without a result.
        tells: the runtime knows how much is accessed behind the pointer, and tells the probe.
        of_warp: its lanes access parts of a matrix.
        after_group: a group of threads may stand in front of its arguments.
        fills: index of the argument, passed by reference, that gets what was loaded; -1 of none.
        refused: why it cannot be captured, if it cannot.
    """

    accesses: tuple[tuple[int, Kind], ...] = ()
    returns_loaded: bool = False
    ends_loads: bool = False
    is_fetch: bool = False
    has_reduction: bool = False
    tells: bool = False
    of_warp: bool = False
    after_group: bool = False
    fills: int = -1
    refused: str = ""

    def kind_of(self, kind: Kind, used: bool) -> Kind:
        """An atomic whose old value nobody uses is a reduction, where the hardware has one."""
        return Kind.reduction if kind is Kind.atomic and self.has_reduction and not used else kind


_REDUCIBLE = Builtin(((0, Kind.atomic),), returns_loaded=True, ends_loads=True, has_reduction=True)
_ATOMIC = Builtin(((0, Kind.atomic),), returns_loaded=True, ends_loads=True)
_LOAD = Builtin(((0, Kind.load),), returns_loaded=True)
_STORE = Builtin(((0, Kind.store),), ends_loads=True)
_BARRIER = Builtin(ends_loads=True)
_TEXTURE = "only point reads of 1-D and 2-D texture objects are known"

# CUDA C++ Programming Guide 12: sections on atomic, read-only load, load and store hint, and barrier functions.
_KNOWN: tuple[tuple[str, Builtin], ...] = (
    (r"atomic(Add|Sub|Min|Max|And|Or|Xor|Inc|Dec)(_block|_system)?", _REDUCIBLE),
    (r"atomic(Exch|CAS)(_block|_system)?", _ATOMIC),
    (r"__ld(g|cg|ca|cs|lu|cv)", _LOAD),
    (r"__st(wb|cg|cs|wt)", _STORE),
    (r"__sync\w+|__threadfence\w*|sync|__barrier_sync\w*|arrive_and_wait|wait|consumer_wait|wait_prior", _BARRIER),
    (r"memcpy_async|__pipeline_memcpy_async", Builtin(((0, Kind.store), (1, Kind.load)), tells=True, after_group=True)),
    (r"load_matrix_sync", Builtin(((1, Kind.load),), tells=True, of_warp=True, fills=0)),
    (r"store_matrix_sync", Builtin(((0, Kind.store),), ends_loads=True, tells=True, of_warp=True)),
    (r"sincos(pi)?f?|__sincosf", Builtin(((1, Kind.store), (2, Kind.store)))),
    (r"modff?|frexpf?", Builtin(((1, Kind.store),))),
    (r"tex1Dfetch|tex1D|tex2D", Builtin(is_fetch=True)),
    (r"(tex3D|texCubemap|tex1DLayered|tex2DLayered|tex2Dgather|tex\w+Lod|tex\w+Grad)\w*", Builtin(refused=_TEXTURE)),
    (r"surf\w+(read|write)", Builtin(refused="surfaces are not known; use an array in global memory")),
)  # fmt: skip

# Methods of cuda::atomic and cuda::atomic_ref (libcu++ documentation, "Synchronization Primitives").
_METHODS: tuple[tuple[str, Kind, bool], ...] = (
    (r"load|wait|operator \w+", Kind.load, False),
    (r"store|operator=", Kind.store, False),
    (r"fetch_\w+|operator(\+\+|--|\+=|-=)", Kind.atomic, True),
    (r"exchange|compare_exchange_\w+", Kind.atomic, False),
)
ATOMIC_CLASSES = ("atomic", "atomic_ref", "AtomicMethods")


def atomic_method(name: str, used: bool) -> Kind | None:
    """What a method of an atomic object does to the object; None of one that does nothing.

    >>> atomic_method("fetch_add", used=False), atomic_method("notify_one", used=False)
    (<Kind.reduction: 3>, None)
    """
    for pattern, kind, reducible in _METHODS:
        if re.fullmatch(pattern, name):
            return Kind.reduction if reducible and not used else kind
    return None


def builtin(name: str) -> Builtin | None:
    """What is known of a function of CUDA.

    >>> builtin("atomicAdd").kind_of(Kind.atomic, used=False)
    <Kind.reduction: 3>
    """
    return next((known for pattern, known in _KNOWN if re.fullmatch(pattern, name)), None)
