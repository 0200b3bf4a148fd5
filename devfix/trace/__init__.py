"""Repair from what a run shows, when reading alone cannot tell."""
