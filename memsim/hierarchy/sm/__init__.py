"""The SMs: warps and blocks, the load-store unit and L1."""
