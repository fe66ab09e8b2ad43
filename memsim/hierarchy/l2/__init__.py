"""The L2: its slices, the lookup of a packet, two partitions, and the port that is left without one."""
