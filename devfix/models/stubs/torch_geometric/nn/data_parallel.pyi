"""Parallel execution on lists of graphs, which are moved to the devices."""

from torch.nn import DataParallel as DataParallel
