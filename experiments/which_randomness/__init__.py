"""Which source of randomness makes the spread of each workload, and how large is it?"""
