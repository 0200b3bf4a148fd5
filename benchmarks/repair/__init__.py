"""Accuracy of fixes: planted bugs, correct code, rebuilt incidents (``python -m benchmarks.repair --help``)."""
