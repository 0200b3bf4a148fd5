import pickle
from typing import NamedTuple

import torch


class Stats(NamedTuple):
    mean: torch.Tensor
    std: torch.Tensor


def write(path):
    data = torch.randn(200, 5, generator=torch.Generator().manual_seed(1)) * 4 + 2
    with open(path, "wb") as f:
        pickle.dump({"version": 2, "splits": {"train": Stats(data.mean(0), data.std(0))}}, f)


def read(path, split):
    with open(path, "rb") as f:
        return pickle.load(f)["splits"][split]
