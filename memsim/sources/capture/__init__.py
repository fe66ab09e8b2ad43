"""Traces from real runs: CUDA C++ instrumented at its source, run, and its accesses merged into warp instructions."""
