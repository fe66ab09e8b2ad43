"""Study: do a capture on the host and one on a GPU see the same accesses?"""
