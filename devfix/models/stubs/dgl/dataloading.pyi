"""Loaders of graphs."""

from torch.utils.data import DataLoader as GraphDataLoader
