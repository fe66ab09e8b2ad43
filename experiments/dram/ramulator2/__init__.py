"""Ramulator 2: its memories, its figures, and how they are recorded."""

from experiments.dram.ramulator2.memories import MEMORIES

__all__ = ["MEMORIES"]
