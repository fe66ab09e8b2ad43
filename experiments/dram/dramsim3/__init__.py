"""DRAMsim3: its memories, its figures, and how they are recorded."""

from experiments.dram.dramsim3.memories import MEMORIES

__all__ = ["MEMORIES"]
