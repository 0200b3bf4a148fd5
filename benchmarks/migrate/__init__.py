"""Cost and robustness of a migration: ``python -m benchmarks.migrate``."""
