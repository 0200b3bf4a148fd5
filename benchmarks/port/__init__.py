"""Measurement of ``devfix port`` on the history of public repositories."""
