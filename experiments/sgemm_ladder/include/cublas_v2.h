// In the place of cuBLAS's: the ten kernels include this header and use nothing of it.
