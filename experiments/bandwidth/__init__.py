"""Does L1 serve strides, blocks and dense laps at the rates of hardware?"""
