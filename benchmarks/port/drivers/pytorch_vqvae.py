import os
import runpy
import sys
import types

import numpy as np
import torch


class Images(torch.utils.data.Dataset):
    def __init__(self, root, train, transform, download=False):
        draw = torch.Generator().manual_seed(int(train))
        self.images = torch.rand(8 if train else 4, 1, 28, 28, generator=draw) * 2 - 1

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], index % 10


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, batch_size, num_workers, **options):
        super().__init__(dataset, 4, **options)


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


def same(*settings):
    return lambda image: image


data = module("torchvision.datasets", FashionMNIST=Images)
transforms = module("torchvision.transforms", Compose=same, ToTensor=same, Normalize=same)
utils = module("torchvision.utils", save_image=lambda images, path, nrow: print(path, float(images.mean())))
module("torchvision", datasets=data, transforms=transforms, utils=utils)
torch.utils.data.DataLoader = Loader
torch.utils.data.dataloader._BaseDataLoaderIter.next = torch.utils.data.dataloader._BaseDataLoaderIter.__next__  # as in PyTorch 1.12
np.random.seed(0)
torch.manual_seed(0)
os.makedirs("models", exist_ok=True)
sys.argv = ["vae.py"]
runpy.run_path("vae.py", run_name="__main__")
