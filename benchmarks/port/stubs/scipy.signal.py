"""The window of a short-time Fourier transform."""

import numpy as np

lfilter = None


def get_window(window, length, fftbins=True):
    """Return a periodic Hann window."""
    return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(length) / length)
