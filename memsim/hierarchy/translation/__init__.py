"""Address translation between L1 and L2: a TLB in each SM, one that all share, and page walks."""
