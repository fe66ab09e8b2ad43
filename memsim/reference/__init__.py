"""The reference model: the machine as SimPy processes, one for each unit (docs/explanation/reference_model.md).

It imports the GPU's description and the trace, and nothing of the compiled engine (`memsim.hierarchy`). The tests
compare the two engines bit by bit.
"""
