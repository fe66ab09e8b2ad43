"""Twelve launches of PolyBench/GPU and Rodinia, compared with a Quadro GV100's counters."""
