"""What a captured Python program gets: a layer under torch for the CPU, and timers that ask memsim.

It imports nothing of memsim.
"""
