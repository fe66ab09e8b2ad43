"""Tensors as CuTe DSL takes them, by DLPack, with the addresses that they have on the device."""

from __future__ import annotations

import ctypes
from typing import Any

from memsim.sources.ptx.launchers.arrays import is_array
from memsim.sources.ptx.launchers.capturing import Capturing

_CUDA = 2  # the type of a device in DLPack

_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.argtypes, _pointer.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_void_p


class _Tensor(ctypes.Structure):
    """The head of DLPack's ``DLTensor``."""

    _fields_ = (("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32))


class _OnDevice:
    """What a tensor of the host hands out by DLPack, said to lie on the device."""

    def __init__(self, tensor: Any, address: int) -> None:
        self._tensor, self._address = tensor, address

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CUDA, 0

    def __dlpack__(self, **_: Any) -> Any:
        capsule = self._tensor.__dlpack__()
        head = _Tensor.from_address(_pointer(capsule, b"dltensor"))
        head.data, head.device_type, head.device = self._address, _CUDA, 0
        return capsule


def on_device(value: Any, capturing: Capturing) -> Any:
    """A tensor of torch or an array of numpy as one on the device; anything else as it is."""
    return _OnDevice(value, capturing.arrays.address(value)) if is_array(value) else value
