"""Latency of a pointer chase against its working set, simulated and measured."""
