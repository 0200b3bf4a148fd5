import runpy
import sys
import types

import numpy as np
import torch
import torchvision


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


def small(pretrained, transform_input):
    pooled = torch.nn.Conv2d(3, 8, 7, 5), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(4), torch.nn.Flatten()
    return torch.nn.Sequential(*pooled, torch.nn.Linear(128, 1000))


def entropy(values, others):
    return np.sum(values * np.log(values / others))


class Photos(torch.utils.data.Dataset):
    def __init__(self, root, download, transform):
        self.images = torch.randn(40, 3, 32, 32)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], index % 10


torch.manual_seed(0)
module("torchvision.models")
module("torchvision.models.inception", inception_v3=small)
module("scipy")
module("scipy.stats", entropy=entropy)
torchvision.datasets.CIFAR10 = Photos
runpy.run_path("inception_score.py", run_name="__main__")
