"""Faults on purpose, at many random moments: what hangs, what is damaged, what is left behind."""
