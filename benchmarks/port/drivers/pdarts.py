import os
import runpy
import sys

import numpy as np
import torch
import torchvision


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


def total(values):
    return add(list(values))  # of a generator, as in NumPy 1


def transposed(self):
    return transpose(self).contiguous()  # as in PyTorch 1.4, where a comparison's result is contiguous


add, np.sum = np.sum, total
transpose, torch.Tensor.t = torch.Tensor.t, transposed
torch.utils.data.DataLoader = Loader
os.makedirs("checkpoints", exist_ok=True)
sys.argv = ["train_search.py", "--batch_size", "8", "--epochs", "11", "--init_channels", "2", "--layers", "3", "--save", "checkpoints/"]
sys.argv += ["--add_layers", "0", "--add_layers", "1", "--add_width", "0", "--add_width", "0", "--report_freq", "1"]
sys.argv += ["--dropout_rate", "0.1", "--dropout_rate", "0.4", "--dropout_rate", "0.7"]
runpy.run_path("train_search.py", run_name="__main__")
