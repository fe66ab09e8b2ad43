"""Do large copies and reads reach the rates that KernelBench's timings show?"""
