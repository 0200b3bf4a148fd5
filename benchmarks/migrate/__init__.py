"""What a migration costs, and that nothing is lost: ``python -m benchmarks.migrate``."""
