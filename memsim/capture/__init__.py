"""Runs CUDA programs as they are: memsim answers their CUDA calls and executes their kernels."""
