import runpy
import sys
import types

import numpy as np
import torch


class Shapes(torch.utils.data.Dataset):
    all_points_mean, all_points_std, shuffle_idx = np.zeros((1, 1, 3)), np.ones((1, 1, 1)), list(range(6))

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        points = torch.randn(2, 16, 3, generator=torch.Generator().manual_seed(index))
        return {"idx": index, "train_points": points[0], "test_points": points[1]}


class Board:
    def __init__(self, logdir):
        self.folder = logdir

    def add_scalar(self, name, value, step):
        print(step, name, float(value))


def solve(function, states, times, atol, rtol, method, options=None):
    """Integrate in four steps of equal size."""
    steps = 4
    size, now = (times[1] - times[0]) / steps, states
    for number in range(steps):
        slopes = function(times[0] + number * size, now)
        now = tuple(state + size * slope for state, slope in zip(now, slopes, strict=True))
    return tuple(torch.stack(pair) for pair in zip(states, now, strict=True))


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


module("torchdiffeq", odeint=solve, odeint_adjoint=solve)
module("tensorboardX", SummaryWriter=Board)
import datasets

datasets.get_datasets = lambda options: (Shapes(6), Shapes(2))
sys.argv = [
    "train.py", "--log_name", "shapes", "--use_latent_flow", "--dims", "16-16", "--latent_dims", "16-16", "--zdim", "8", "--batch_size", "3",
    "--epochs", "2", "--seed", "0", "--log_freq", "1", "--save_freq", "1",
]
runpy.run_path("train.py", run_name="__main__")
