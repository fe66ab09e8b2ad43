"""Numba's type of a pointer to a named tuple (struct_pointer.py), and how it reads fields through one."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, register_model


class StructPointer(types.Type):
    """Numba's type of a pointer to a named tuple."""

    def __init__(self, level: types.NamedTuple) -> None:
        self.level = level
        super().__init__(f"StructPointer({level.name})")


@register_model(StructPointer)
class _StructPointerModel(models.PrimitiveModel):
    """A pointer to the tuple as it is in registers."""

    def __init__(self, manager: Any, kind: StructPointer) -> None:
        super().__init__(manager, kind, manager.lookup(kind.level).get_value_type().as_pointer())


@infer_getattr
class _Fields(AttributeTemplate):
    key = StructPointer

    def generic_resolve(self, value: StructPointer, attr: str) -> Any:  # type: ignore[override]  # Numba: "NotImplemented"
        """The type of a field: a tuple within is a pointer, too."""
        if attr not in value.level.fields:
            return None
        field = value.level.types[value.level.fields.index(attr)]
        return StructPointer(field) if isinstance(field, types.NamedTuple) else field


@lower_getattr_generic(StructPointer)
def _field(context: Any, builder: Any, kind: StructPointer, pointer: Any, name: str) -> Any:
    number = kind.level.fields.index(name)
    at = cgutils.gep_inbounds(builder, pointer, 0, number)
    return at if isinstance(kind.level.types[number], types.NamedTuple) else builder.load(at)


def _struct_pointer(typing_context: Any, level: Any) -> Any:
    """A pointer to a level's named tuple, for the functions of a loop: they use it as the tuple."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return cgutils.alloca_once_value(builder, arguments[0])

    return StructPointer(level)(level), generate


struct_pointer: Any = intrinsic(_struct_pointer)
