"""The share of PyTorch's functions whose device mismatches devfix reports, and its false findings."""
