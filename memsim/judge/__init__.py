"""Verdicts on kernels that programs write: right or wrong, how fast, why, within a budget and a sandbox."""
