import os
import runpy
import sys
import types

import numpy as np
import torch
import torchvision


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


class Subset(torch.utils.data.Subset):
    """Eight of the 16 images of the small data set."""

    def __init__(self, dataset, indices):
        super().__init__(dataset, [index % len(dataset) for index in indices[-8:]])


class Visdom:
    def line(self, X, Y, win, opts, update):
        print(opts["title"], X, Y)
        return opts["title"]


sys.modules["visdom"] = types.ModuleType("visdom")
sys.modules["visdom"].Visdom = Visdom
torch.manual_seed(0)
np.random.seed(0)
torch.nn.ReLU = lambda: torch.nn.Threshold(0, 0)  # as in PyTorch 0.4: its result may be changed in place
torch.utils.data.DataLoader = Loader
torch.utils.data.dataset.Subset = Subset
os.makedirs("logs", exist_ok=True)
os.makedirs("checkpoints", exist_ok=True)
small = ["--batch_size", "4", "--child_num_layers", "3", "--child_out_filters", "4", "--controller_lstm_size", "8", "--log_every", "1"]
small += ["--controller_train_steps", "2", "--controller_num_aggregate", "2", "--num_epochs", "2"]
sys.argv = ["train.py", *small]
runpy.run_path("train.py", run_name="__main__")
