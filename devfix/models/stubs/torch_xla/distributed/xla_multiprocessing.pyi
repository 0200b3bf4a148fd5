"""Processes."""

from torch_xla import launch as spawn
