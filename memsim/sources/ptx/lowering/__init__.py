"""From PTX instructions to the machine's micro-ops, a file a family of instructions."""
