"""Padding and normalization of arrays."""

import numpy as np


def pad_center(data, size, **options):
    """Return an array that is padded on both sides."""
    left = (size - len(data)) // 2
    return np.pad(data, (left, size - len(data) - left))


def tiny(x):
    """Return the smallest normal number of an array's type."""
    return np.finfo(np.asarray(x).dtype).tiny


def normalize(data, norm=None, **options):
    """Return an array as it is."""
    return data
