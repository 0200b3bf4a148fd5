import os
import random
import runpy
import sys

import numpy as np
import torch
from torch import nn


class Scenes(torch.utils.data.Dataset):
    """Photos with one square of an object each."""

    def __init__(self, root_dir, txtlist, use_noise, length):
        self.seed, self.number = (0, 3) if use_noise else (10, 1)

    def __len__(self):
        return self.number

    def __getitem__(self, index):
        draw = np.random.RandomState(self.seed + index)
        rgb, target = draw.randn(3, 480, 640).astype(np.float32), np.zeros((480, 640), np.int64)
        top, left = draw.randint(0, 300, 2)
        target[top:top + 120, left:left + 120] = draw.randint(1, 22)
        rgb[:, target > 0] += 1
        return torch.from_numpy(rgb), torch.from_numpy(target)


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, batch_size, shuffle, num_workers):
        super().__init__(dataset, 1, shuffle)


def fewer(number):
    return number if number in (3, 22) else number // 32


class Convolution(nn.Conv2d):
    def __init__(self, channels, filters, **options):
        super().__init__(fewer(channels), fewer(filters), **options)


class Norm(nn.BatchNorm2d):
    def __init__(self, channels, **options):
        super().__init__(fewer(channels), **options)


nn.Conv2d, nn.BatchNorm2d = Convolution, Norm
torch.utils.data.DataLoader = Loader
np.Inf = np.inf  # as in NumPy 1
import data_controller

random.seed(0)
data_controller.SegDataset = Scenes
os.makedirs("logs", exist_ok=True)
os.makedirs("trained_models", exist_ok=True)
sys.argv = ["train.py", "--dataset_root", "YCB_Video_Dataset", "--workers", "0"]
runpy.run_path("train.py", run_name="__main__")
