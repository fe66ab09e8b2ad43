"""The machine that runs warps: compiled loops over micro-ops, which run as plain Python too."""
