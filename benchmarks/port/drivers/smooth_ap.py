import runpy
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


class Writer:
    def __init__(self, folder):
        self.folder = folder

    def add_scalar(self, name, value, step):
        print(step, name, float(value))


class Photo:
    size = (32, 32)

    def __init__(self, path):
        self.vehicle, self.number = (int(part) for part in path.split("_"))

    def convert(self, mode):
        noise = torch.Generator().manual_seed(100 * self.vehicle + self.number)
        return torch.randn(3, 32, 32, generator=noise) + 0.2 * torch.randn(3, 1, 1, generator=torch.Generator().manual_seed(self.vehicle))


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


def give_vehicles(opt):
    def photos(start):
        return {vehicle: [f"{vehicle}_{number}" for number in range(4)] for vehicle in range(start, start + 3)}

    parts = {name: datasets.BaseTripletDataset(photos(start), opt, is_validation=True) for name, start in tests.items()}
    return {"training": datasets.TrainDatasetsmoothap({vehicle: 2 * names for vehicle, names in photos(0).items()}, opt), **parts}


module("pretrainedmodels", resnet50=ResNet)
module("faiss", IndexFlatL2=Index, Clustering=Clustering, vector_float_to_array=np.asarray)
module("tensorboardX", SummaryWriter=Writer)
import auxiliaries
import datasets

tests = {"testing_set1": 3, "testing_set2": 6, "testing_set3": 9, "evaluation": 0}
datasets.give_VehicleID_datasets = give_vehicles
datasets.Image = types.SimpleNamespace(open=Photo)
datasets.transforms.Compose = lambda steps: lambda image: image
auxiliaries.metrics = types.SimpleNamespace(cluster=types.SimpleNamespace(normalized_mutual_info_score=lambda a, b: float((a == b).mean())))
auxiliaries.recover_closest_one_dataset = lambda *parts: None
torch.utils.data.DataLoader = Loader
sys.argv = ["main.py", "--dataset", "vehicle_id", "--bs", "8", "--samples_per_class", "4", "--embed_dim", "16", "--kernels", "0"]
sys.argv += ["--n_epochs", "2", "--not_pretrained", "--lr", "0.0001", "--source_path", "images", "--save_path", "results"]
runpy.run_path("main.py", run_name="__main__")
