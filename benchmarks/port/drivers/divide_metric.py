import itertools
import json
import os
import runpy
import shutil
import sys
import types

import numpy as np
import torch
import torchvision
from torch import nn
from torch.utils.data import dataloader


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs)
        self.downsample = nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, x):
        return torch.relu(self.bn1(self.conv1(x)) + self.downsample(x))


class ResNet(nn.Module):
    def __init__(self, pretrained):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8)
        self.relu, self.maxpool = nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)
        self.layer1, self.layer2, self.layer3, self.layer4 = Block(8, 8, 1), Block(8, 8, 2), Block(8, 8, 2), Block(8, 2048, 2)


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
        for _ in range(10):
            nearest = ((items[:, None] - centroids[None]) ** 2).sum(-1).argmin(1)
            centroids = np.stack([items[nearest == c].mean(0) if (nearest == c).any() else centroids[c] for c in range(self.number)])
        self.centroids, self.obj = centroids.reshape(-1), np.zeros(1)


class Loader(dataloader.DataLoader):
    def __init__(self, dataset, num_workers, batch_size, **options):
        super().__init__(dataset, **options, **({"batch_size": batch_size} if batch_size > 0 else {}))  # not -1, as in PyTorch 1.1


class Compose:
    def __init__(self, steps):
        self.steps = steps

    def __call__(self, image):
        for step in self.steps:
            image = step(image)
        return image


class Photo:
    def __init__(self, path):
        self.kind, self.number = (int(part) for part in os.path.basename(path).split("_"))

    def split(self):
        return "RGB"


def to_tensor(photo):
    noise = torch.Generator().manual_seed(100 * photo.kind + photo.number)
    colour = torch.rand(3, 7, 7, generator=torch.Generator().manual_seed(photo.kind))
    return (colour.repeat_interleave(32, 1).repeat_interleave(32, 2) + 0.1 * torch.randn(3, 224, 224, generator=noise)).clamp(0, 1)


def assign(costs):
    """The assignment of SciPy, for a small matrix."""
    rows = np.arange(len(costs))
    return rows, np.array(min(itertools.permutations(rows), key=lambda columns: costs[rows, list(columns)].sum()))


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


def same(*settings, **options):
    return lambda image: image


def agreement(a, b):
    return float((a == b).mean())


module("faiss", IndexFlatL2=Index, Clustering=Clustering, vector_float_to_array=np.asarray)
module("scipy", optimize=module("scipy.optimize", linear_sum_assignment=assign))
metrics = module("sklearn.metrics", pairwise=module("sklearn.metrics.pairwise"))
metrics.cluster = module("sklearn.metrics.cluster", normalized_mutual_info_score=agreement)
module("sklearn", metrics=metrics, cluster=module("sklearn.cluster"))
module("PIL", Image=module("PIL.Image", open=Photo))
names = ("RandomResizedCrop", "Resize", "CenterCrop", "RandomHorizontalFlip", "Normalize")
torchvision.transforms = module("torchvision.transforms", Compose=Compose, ToTensor=lambda: to_tensor, **dict.fromkeys(names, same))
torchvision.models = module("torchvision.models", resnet50=ResNet, ResNet=ResNet)
torch.utils.data.DataLoader = Loader
dataloader._BaseDataLoaderIter.dataset = property(lambda self: self._dataset)  # as in PyTorch 1.1
from lib.data.set import SOProducts

SOProducts.nb_train_all, SOProducts.nb_test_all = 48, 16
shutil.rmtree("log", ignore_errors=True)
os.makedirs("sop", exist_ok=True)
for part, first, kinds in (("train", 0, 6), ("test", 11318, 2)):
    with open(f"sop/Ebay_{part}.txt", "w", encoding="utf-8") as file:
        file.write("image_id class_id super_class_id path\n")
        for kind, number in itertools.product(range(first, first + kinds), range(8)):
            file.write(f"{number} {kind + 1} 1 images/{kind}_{number}\n")
with open("config.json", encoding="utf-8") as file:
    settings = json.load(file)
ranges = {"train": "range(0, 6)", "init": "range(0, 6)", "eval": "range(11318, 11320)"}
settings["dataset"]["sop"] = {"root": "sop", "classes": ranges}
with open("config.json", "w", encoding="utf-8") as file:
    json.dump(settings, file)
sys.argv = ["experiment.py", "--dataset=sop", "--dir=test", "--exp=0", "--random-seed=0", "--nb-clusters=2", "--nb-epochs=3"]
sys.argv += ["--sz-batch=8", "--sz-embedding=16", "--mod-epoch=1", "--finetune-epoch=2", "--backbone-lr=1e-3", "--embedding-lr=1e-3"]
runpy.run_path("experiment.py", run_name="__main__")
