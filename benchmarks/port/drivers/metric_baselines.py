import math
import os
import random
import runpy
import shutil
import sys
import types

import numpy as np
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs)
        self.downsample = nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, x):
        return torch.relu(self.bn1(self.conv1(x)) + self.downsample(x))


class ResNet(nn.Module):
    def __init__(self, num_classes, pretrained):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8)
        self.relu, self.maxpool = nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)
        self.layer1, self.layer2, self.layer3, self.layer4 = Block(8, 8, 1), Block(8, 16, 2), Block(16, 16, 2), Block(16, 32, 2)
        self.avgpool, self.last_linear = nn.AdaptiveAvgPool2d(1), nn.Linear(32, num_classes)


class Index:
    """The flat index of faiss."""

    def __init__(self, size):
        self.items = np.zeros((0, size), np.float32)

    def add(self, items):
        self.items = np.concatenate([self.items, items])

    def search(self, queries, number):
        distances = ((queries[:, None] - self.items[None]) ** 2).sum(-1)
        order = np.argsort(distances, 1, kind="stable")[:, :number]
        return np.take_along_axis(distances, order, 1), order


class Clustering:
    def __init__(self, size, number):
        self.number = number

    def train(self, items, index):
        centroids = items[:: len(items) // self.number][: self.number]
        for _ in range(self.niter):
            nearest = ((items[:, None] - centroids[None]) ** 2).sum(-1).argmin(1)
            centroids = np.stack([items[nearest == c].mean(0) if (nearest == c).any() else centroids[c] for c in range(self.number)])
        self.centroids = centroids.reshape(-1)


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


class Photo:
    size = (32, 32)

    def __init__(self, path):
        self.bird, self.number = int(path.split("/")[-2][:3]), int(os.path.basename(path)[:-4])

    def convert(self, mode):
        noise = torch.Generator().manual_seed(100 * self.bird + self.number)
        return torch.randn(3, 32, 32, generator=noise) + 0.2 * torch.randn(3, 1, 1, generator=torch.Generator().manual_seed(self.bird))


def agreement(a, b):
    return float((a == b).mean())


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


module("pretrainedmodels", resnet50=ResNet, utils=module("pretrainedmodels.utils"))
module("faiss", IndexFlatL2=Index, Clustering=Clustering, vector_float_to_array=np.asarray)
module("scipy")
module("scipy.special", comb=lambda n, k: math.comb(int(n), k))
module("scipy.spatial", distance=module("scipy.spatial.distance", cdist=None))
import auxiliaries
import datasets

datasets.Image = types.SimpleNamespace(open=Photo)
datasets.transforms.Compose = lambda steps: lambda image: image
auxiliaries.metrics = types.SimpleNamespace(cluster=types.SimpleNamespace(normalized_mutual_info_score=agreement))
auxiliaries.recover_closest_one_dataset = lambda *parts: None
auxiliaries.InfoPlotter.make_plot = lambda self, *parts: None
torch.utils.data.DataLoader = Loader
random.seed(0)
for folder in ("Datasets", "Training_Results"):
    shutil.rmtree(folder, ignore_errors=True)
for bird in range(1, 9):
    os.makedirs(f"Datasets/cub200/images/{bird:03d}.Bird")
    for number in range(4):
        open(f"Datasets/cub200/images/{bird:03d}.Bird/{number}.jpg", "w", encoding="utf-8").close()
sys.argv = ["Standard_Training.py", "--dataset", "cub200", "--loss", "marginloss", "--sampling", "distance", "--bs", "8", "--embed_dim", "16"]
sys.argv += ["--samples_per_class", "4", "--kernels", "0", "--n_epochs", "2", "--lr", "0.001", "--not_pretrained"]
runpy.run_path("Standard_Training.py", run_name="__main__")
