"""How loops are compiled: everything that uses Numba's or LLVM's internals is in this folder."""
