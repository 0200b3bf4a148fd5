import os
import random
import runpy
import sys
import types

import numpy as np
import PIL.Image
import torch
import torchvision
from torch import nn


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv2, self.bn2 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs)
        self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return torch.relu(self.bn2(self.conv2(x)) + self.downsample(x))


class ResNet(nn.Module):
    def __init__(self, pretrained):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8)
        self.relu, self.maxpool = nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)
        self.layer1, self.layer2, self.layer3, self.layer4 = Block(8, 8, 2), Block(8, 8, 2), Block(8, 8, 2), Block(8, 2048, 2)
        self.fc = nn.Linear(2048, 1000)


class People(torch.utils.data.Dataset):
    def __init__(self, root, transform):
        self.classes, self.labels = ["0002", "0007"], [0, 0, 1, 1]
        self.images = 0.5 * torch.randn(4, 3, 256, 128) + torch.tensor(self.labels).view(-1, 1, 1, 1) / 2

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, prefetch_factor, persistent_workers, **options):
        super().__init__(dataset, **options)


class Bar:
    def reset(self, total):
        self.total = total

    def update(self, number):
        pass

    def set_postfix(self, ordered_dict):
        print(*ordered_dict.values())

    def close(self):
        pass


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


def prepare(image):
    return (torch.from_numpy(image).permute(2, 0, 1).float() / 255 - 0.45) / 0.225


module("timm")
module("pretrainedmodels")
module("pytorch_metric_learning", losses=None, miners=None)
module("tqdm", tqdm=Bar)
random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
PIL.Image.fromarray = lambda image: image
torchvision.transforms.Compose = lambda steps: prepare
torchvision.datasets.ImageFolder = People
torchvision.models = types.SimpleNamespace(resnet50=ResNet)
torch.utils.data.DataLoader = Loader
os.makedirs("model", exist_ok=True)
sys.argv = ["train.py", "--data_dir", "Market/pytorch", "--name", "small", "--batchsize", "4", "--total_epoch", "10", "--lr", "0.01"]
sys.argv += ["--linear_num", "16", "--circle", "--adv", "0.1", "--warm_epoch", "1"]
runpy.run_path("train.py", run_name="__main__")
