"""Twelve public programs through `memsim profile`, unmodified."""
