"""The mechanism that L1 and L2 share: ways, how a line is found, and which goes."""
