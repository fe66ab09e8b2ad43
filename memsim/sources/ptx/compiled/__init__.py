"""What machine code tells of a kernel that runs as PTX: counts of instructions, branches that became predicates."""
