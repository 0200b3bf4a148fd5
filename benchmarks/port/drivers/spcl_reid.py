import functools
import os
import runpy
import shutil
import sys
import types

import numpy as np
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
        blocks = [nn.Sequential(Block(inputs, outputs, stride)) for inputs, outputs, stride in ((8, 8, 1), (8, 16, 2), (16, 16, 2), (16, 32, 2))]
        self.layer1, self.layer2, self.layer3, self.layer4 = blocks
        self.fc = nn.Linear(32, 1000)


class Compose:
    def __init__(self, steps):
        self.steps = steps

    def __call__(self, image):
        for step in self.steps:
            image = step(image)
        return image


class Photo:
    def __init__(self, path):
        name = os.path.basename(path)
        self.person, self.number = int(name[:4]), int(name[7:9])

    def convert(self, mode):
        noise = torch.Generator().manual_seed(100 * self.person + self.number)
        colour = torch.randn(3, 4, 2, generator=torch.Generator().manual_seed(self.person))
        return colour.repeat_interleave(16, 1).repeat_interleave(16, 2) + 0.3 * torch.randn(3, 64, 32, generator=noise)


class Scan:
    """DBSCAN of scikit-learn, for a matrix of distances."""

    def __init__(self, eps, min_samples, metric, n_jobs):
        self.eps, self.min_samples = eps, min_samples

    def fit_predict(self, distances):
        near = distances <= self.eps
        core = near.sum(1) >= self.min_samples
        labels = np.full(len(distances), -1)
        for start in np.nonzero(core)[0]:
            waiting = [start] if labels[start] < 0 else []
            label = labels.max() + 1
            while waiting:
                point = waiting.pop()
                if labels[point] < 0:
                    labels[point] = label
                    waiting += list(np.nonzero(near[point])[0]) if core[point] else []
        return labels


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


def average_precision(truth, score):
    hits = np.asarray(truth)[np.argsort(-np.asarray(score))]
    return float((np.cumsum(hits) / np.arange(1, len(hits) + 1))[hits].mean())


def nearest(resources, items, queries, number):
    """The search that faiss does on the GPU."""
    distances = 2 - 2 * queries.mm(items.t())
    return distances.topk(number, largest=False)


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


def same(*settings, **options):
    return lambda image: image


resources = types.SimpleNamespace(setDefaultNullStreamAllDevices=lambda: None)
module("faiss", METRIC_L2=1, get_num_gpus=lambda: 1, StandardGpuResources=lambda: resources)
module("PIL", Image=module("PIL.Image", open=Photo, BILINEAR=2))
distance = module("scipy.spatial.distance", cdist=None)
module("scipy", spatial=module("scipy.spatial", distance=distance))
module("sklearn", cluster=module("sklearn.cluster", DBSCAN=Scan), metrics=module("sklearn.metrics", average_precision_score=average_precision))
names = ("Resize", "RandomCrop", "RandomHorizontalFlip", "ToTensor", "Normalize", "Pad")
module("torchvision.transforms", Compose=Compose, **dict.fromkeys(names, same))
torchvision.models = module("torchvision.models", **{f"resnet{depth}": ResNet for depth in (18, 34, 50, 101, 152)})
torch.load = functools.partial(torch.load, weights_only=False)  # as in PyTorch 2.5
torch.utils.data.DataLoader = Loader
import spcl.utils.faiss_rerank

spcl.utils.faiss_rerank.search_raw_array_pytorch = nearest
folder = "data/market1501/Market-1501-v15.09.15"
shutil.rmtree("data", ignore_errors=True)
for part, people, numbers in (("bounding_box_train", range(1, 5), 6), ("query", range(5, 8), 1), ("bounding_box_test", range(5, 8), 3)):
    os.makedirs(f"{folder}/{part}")
    for person in people:
        for number in range(numbers):
            camera = 1 + number % 2 if part != "query" else 3
            open(f"{folder}/{part}/{person:04d}_c{camera}{number:02d}.jpg", "w", encoding="utf-8").close()
sys.argv = ["spcl_train_usl.py", "-b", "8", "-a", "resnet50", "-d", "market1501", "--iters", "3", "--momentum", "0.2", "--eps", "0.6"]
sys.argv += ["--num-instances", "4", "--k1", "6", "--k2", "3", "--height", "64", "--width", "32", "--epochs", "2", "--print-freq", "1"]
sys.argv += ["--data-dir", "data", "--logs-dir", "logs"]
runpy.run_path("examples/spcl_train_usl.py", run_name="__main__")
