import glob
import os
import runpy
import sys
import types

import numpy as np
import torch
from torch import nn
from torch.utils.data import dataloader


class Photo:
    size = (64, 64)

    def __init__(self, path):
        self.number = 10 * path.count("/B/") + int(os.path.basename(path)[:-4])

    def convert(self, mode):
        return self


class Compose:
    def __init__(self, steps):
        self.steps = steps

    def __call__(self, image):
        for step in self.steps:
            image = step(image)
        return image


class BCELoss(nn.BCELoss):
    def forward(self, outputs, targets):
        return super().forward(outputs, targets.view_as(outputs))  # as in PyTorch 1.4


class Loader(dataloader.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


def item(self, index):
    return self.item() if type(index) is int and index == 0 and self.dim() == 0 else get(self, index)  # as in PyTorch 0.3: loss.data[0]


def to_tensor(photo):
    return torch.rand(3, 64, 64, generator=torch.Generator().manual_seed(photo.number))


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


def same(*settings):
    return lambda image: image


transforms = module("torchvision.transforms", Compose=Compose, Scale=same, Normalize=same, ToTensor=lambda: to_tensor)
utils = module("torchvision.utils", save_image=lambda images, path: None)
module("torchvision", transforms=transforms, utils=utils)
module("PIL", Image=module("PIL.Image", open=Photo))
get, torch.Tensor.__getitem__ = torch.Tensor.__getitem__, item
iterator = dataloader._BaseDataLoaderIter
iterator.next = iterator.__next__  # as in PyTorch 1.12
nn.BCELoss = BCELoss
torch.utils.data.DataLoader = Loader
np.random.seed(0)
find = glob.glob
glob.glob = lambda pattern: sorted(find(pattern))
for part in "AB":
    os.makedirs(f"data/edges2shoes/{part}", exist_ok=True)
    for number in range(4):
        open(f"data/edges2shoes/{part}/{number}.jpg", "w", encoding="utf-8").close()
sys.argv = ["main.py", "--dataset=edges2shoes", "--cnn_type=1", "--batch_size=2", "--max_step=3", "--log_step=1", "--save_step=3"]
sys.argv += ["--skip_pix2pix_processing=true"]
runpy.run_path("main.py", run_name="__main__")
