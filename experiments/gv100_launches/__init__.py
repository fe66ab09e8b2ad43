"""Twelve launches of PolyBench/GPU and Rodinia, beside a Quadro GV100's counters."""
