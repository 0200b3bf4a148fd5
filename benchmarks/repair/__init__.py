"""How good the repair is: planted bugs, correct code, rebuilt incidents (``python -m benchmarks.repair --help``)."""
