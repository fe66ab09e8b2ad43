"""What knows nothing of GPUs: errors, files, HDF5, progress, the library's folders, and how loops are compiled."""
