"""Does the DRAM model delay requests as DRAMsim3 does, at every load, with the same timings?"""
