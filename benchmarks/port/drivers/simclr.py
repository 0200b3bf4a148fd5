import runpy
import sys
import types

import torch
from torch import nn


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        self.layer1 = nn.Sequential(nn.Conv2d(64, 32, 3, 4, 1), nn.ReLU(), nn.Conv2d(32, 2048, 1))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(2048, 1000)


class Pairs(torch.utils.data.Dataset):
    classes = list(range(10))

    def __init__(self, root, train, transform, download):
        draw = torch.Generator().manual_seed(int(train))
        self.data = torch.rand(8, 3, 32, 32, generator=draw)
        self.targets = torch.randint(0, 10, (8,), generator=draw).tolist()

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        return self.data[index], self.data[index].flip(2), self.targets[index]


class Loader(torch.utils.data.DataLoader):
    def __init__(self, data, num_workers=0, **options):
        super().__init__(data, **options)


class Table:
    def __init__(self, data, index):
        self.data = data

    def to_csv(self, path, index_label):
        print(path, self.data)


def profile(model, inputs):
    model(inputs[0].repeat(2, 1, 1, 1))
    return 0, sum(each.numel() for each in model.parameters())


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


module("pandas", DataFrame=Table)
module("thop", profile=profile, clever_format=lambda numbers: numbers)
module("torchvision.models")
module("torchvision.models.resnet", resnet50=Small)
import utils

utils.CIFAR10Pair = Pairs
torch.utils.data.DataLoader = Loader
torch.manual_seed(0)
sys.argv = ["main.py", "--batch_size", "4", "--epochs", "2", "--k", "4", "--feature_dim", "16"]
runpy.run_path("main.py", run_name="__main__")
