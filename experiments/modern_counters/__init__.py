"""Thirty-two launches on an A100 and an RTX 4090, compared with Nsight Compute's counters."""
