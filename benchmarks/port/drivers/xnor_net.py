import os
import runpy
import sys
import types

import torch


class Images(torch.utils.data.Dataset):
    """The images of the files that the repository reads with Python 2."""

    def __init__(self, root, train):
        draw = torch.Generator().manual_seed(int(train))
        self.labels = torch.randint(0, 10, (24 if train else 8,), generator=draw)
        self.images = torch.randn(len(self.labels), 3, 32, 32, generator=draw) + self.labels[:, None, None, None] / 5

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, batch_size, num_workers, **options):
        super().__init__(dataset, 4, **options)


sys.modules["data"] = types.ModuleType("data")
sys.modules["data"].dataset = Images
torch.utils.data.DataLoader = Loader
from models import nin


class Active(torch.autograd.Function):
    """The repository's function, with static methods: PyTorch no longer has others."""

    forward, backward = staticmethod(nin.BinActive.forward), staticmethod(nin.BinActive.backward)


nin.BinActive = lambda: Active.apply
os.makedirs("data", exist_ok=True)
open("data/train_data", "w").close()
sys.argv = ["main.py"]
runpy.run_path("main.py", run_name="__main__")
