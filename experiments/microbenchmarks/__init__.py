"""Do the paper's microbenchmarks, run on simulated GPUs, find what the presets configure?"""
