import random
import runpy
import sys
import types

import numpy as np
import torch
import torchvision
from torch.utils.data import dataloader


class Images(torch.utils.data.Dataset):
    def __init__(self, size, views):
        self.images, self.labels = torch.randn(size, views, 3, 32, 32), torch.arange(size) % 10
        self.images += self.labels.view(-1, 1, 1, 1, 1) / 5

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        views = self.images[index]
        return (views[0] if len(views) == 1 else tuple(views)), int(self.labels[index])


class Writer:
    def __init__(self, folder):
        self.folder = folder

    def add_scalar(self, name, value, step):
        print(step, name, float(value))

    def close(self):
        pass


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


def get_cifar10(args, root):
    return Images(8, 1), Images(16, 2), Images(8, 1)


module("torch.utils.tensorboard", SummaryWriter=Writer)
dataloader._BaseDataLoaderIter.next = dataloader._BaseDataLoaderIter.__next__  # as in PyTorch 1.9
torchvision.datasets.CIFAR100 = torchvision.datasets.CIFAR10
import dataset.cifar

random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
dataset.cifar.DATASET_GETTERS["cifar10"] = get_cifar10
sys.argv = ["train.py", "--dataset", "cifar10", "--num-labeled", "8", "--arch", "wideresnet", "--batch-size", "2", "--mu", "2"]
sys.argv += ["--total-steps", "4", "--eval-step", "2", "--threshold", "0.15", "--num-workers", "0", "--seed", "5", "--no-progress"]
runpy.run_path("train.py", run_name="__main__")
