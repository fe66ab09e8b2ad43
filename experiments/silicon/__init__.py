"""The same CUDA programs on the GPU at hand, under its hardware counters, and through memsim."""
