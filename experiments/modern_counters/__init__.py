"""Thirty-two launches on an A100 and an RTX 4090, beside Nsight Compute's counters."""
