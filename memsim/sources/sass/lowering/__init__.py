"""From machine instructions to micro-ops, one file per family of opcodes."""
