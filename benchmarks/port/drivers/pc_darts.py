import runpy
import shutil
import sys
import time
import types

import numpy as np
import torch
import torchvision


class Pictures(torch.utils.data.Dataset):
    """CIFAR-10 of random images."""

    def __init__(self, root, train, download, transform):
        draw = torch.Generator().manual_seed(0)
        self.labels = torch.randint(0, 10, (16,), generator=draw)
        self.images = torch.randn(16, 3, 16, 16, generator=draw) + self.labels.view(-1, 1, 1, 1) / 5

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], int(self.labels[index])


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


def total(values):
    return sum(values) if isinstance(values, types.GeneratorType) else add(values)  # as in NumPy 1.26


view = torch.Tensor.view
torch.Tensor.view = lambda self, *shape: view(self.contiguous(), *shape)  # as in PyTorch 1.2
add, np.sum = np.sum, total
torchvision.datasets.CIFAR10 = Pictures
torch.utils.data.DataLoader = Loader
time.strftime = lambda form, *rest: "now"
shutil.rmtree("search-EXP-now", ignore_errors=True)
sys.argv = ["train_search.py", "--batch_size", "4", "--init_channels", "4", "--layers", "3", "--epochs", "17", "--report_freq", "1"]
runpy.run_path("V100_python1.0/train_search.py", run_name="__main__")
