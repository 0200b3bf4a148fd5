"""Many repositories: a plan, workers that lose at most one repository each, a state that survives, and records."""
