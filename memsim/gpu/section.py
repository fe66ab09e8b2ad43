"""What all parts of a GPU's data have in common: they are strict and immutable, and some of their names are old."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

_RENAMED = {
    "l2.far_cycles": "l2.partition_cycles",
    "l2.sector_bytes": "l2.fetch_bytes",
}  # fields, to what they are called now


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, defer_build=True)


def present_name(field: str) -> str:
    """The present name of a field that files may still call by an older one.

    >>> present_name("l2.far_cycles"), present_name("l1.ways")
    ('l2.partition_cycles', 'l1.ways')
    """
    return _RENAMED.get(field, field)
