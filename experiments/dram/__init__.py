"""Does the DRAM model delay requests as DRAMsim3 and Ramulator 2 do, at every load, with the same timings?"""
