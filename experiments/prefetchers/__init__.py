"""What the L2 prefetchers of the reference model do for streams, strides and SpMV."""
