"""A language server: findings as you type, quick fixes, the device of a value, and proofs by running."""
