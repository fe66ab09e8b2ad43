"""Does memsim find which of CUDAMicroBench's two versions is slow, by how much, and how long each takes?"""
