"""Hit ratios, DRAM sectors and cycles of kernels on a Quadro GV100, compared with its hardware counters."""
