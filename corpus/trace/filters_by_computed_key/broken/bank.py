import json

import numpy as np
import torch

SPEC = '{"low": ["hanning", 5], "smooth": ["bartlett", 5], "flat": ["ones", 5]}'


class Bank(dict):
    """Missing filters are made when they are asked for."""

    def __missing__(self, key):
        name, band = key.rsplit("@", 1)
        window, taps = json.loads(SPEC)[name]
        fir = getattr(np, window)(taps) * np.cos(np.arange(taps) * int(band))
        self[key] = torch.from_numpy(fir.astype(np.float32))
        return self[key]
