"""Is the best possible time of each kernel below the predicted one, and that of a copy its bytes over the bandwidth?"""
