"""Warp without a GPU: Warp itself makes the PTX; its native library's functions for devices have stand-ins."""

from memsim.sources.ptx.launchers.warp.catching import warp_caught

__all__ = ["warp_caught"]
