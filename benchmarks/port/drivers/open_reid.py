import functools
import json
import os
import runpy
import sys
import types

import numpy as np
import torch
from torch import nn


class Picture:
    """An image as PIL's, with the little that the program uses."""

    def __init__(self, data):
        self.data = data
        self.size = data.shape[2], data.shape[1]

    def convert(self, mode):
        return self

    def crop(self, box):
        left, top, right, bottom = box
        return Picture(self.data[:, top:bottom, left:right])

    def resize(self, size, interpolation):
        return Picture(nn.functional.interpolate(self.data[None], size[::-1], mode="bilinear")[0])


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, image):
        for each in self.transforms:
            image = each(image)
        return image


class Small(nn.Module):
    def __init__(self, pretrained):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 7, 4, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(8)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        self.layer1 = nn.Conv2d(8, 16, 3, 2, 1)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(16, 1000)


def open_image(path):
    person, camera, number = map(int, os.path.basename(path)[:-4].split("_"))
    draw = torch.Generator().manual_seed(person * 10 + camera * 2 + number)
    return Picture(torch.rand(3, 160, 60, generator=draw))


def average_precision(truth, score):
    hits = np.asarray(truth)[np.argsort(-np.asarray(score))]
    return float((np.cumsum(hits) / np.arange(1, len(hits) + 1))[hits].mean())


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


same = types.SimpleNamespace(
    Compose=Compose, RandomHorizontalFlip=lambda: lambda image: image, ToTensor=lambda: lambda image: image.data,
    Normalize=lambda mean, std: lambda data: (data - torch.tensor(mean).view(3, 1, 1)) / torch.tensor(std).view(3, 1, 1),
)
image = types.SimpleNamespace(open=open_image, BILINEAR=2)
learners = ("ITML_Supervised", "LMNN", "LSML_Supervised", "SDML_Supervised", "NCA", "LFDA", "RCA_Supervised")
module("PIL", Image=image)
module("torchvision.transforms", **vars(same))
module("torchvision.models", **{f"resnet{depth}": Small for depth in (18, 34, 50, 101, 152)})
module("torchvision", transforms=sys.modules["torchvision.transforms"], models=sys.modules["torchvision.models"])
module("sklearn")
module("sklearn.metrics", average_precision_score=average_precision)
module("metric_learn", **dict.fromkeys(learners))
module("metric_learn.base_metric", BaseMetricLearner=object)
get = torch.Tensor.__getitem__
torch.Tensor.__getitem__ = lambda self, index: self if type(index) is int and not self.dim() else get(self, index)  # as in PyTorch 0.4
torch.load = functools.partial(torch.load, weights_only=False)  # as in PyTorch 2.5
people = 112
folder = os.path.join("examples", "data", "cuhk03")
os.makedirs(os.path.join(folder, "images"), exist_ok=True)
names = [[[f"{person:08d}_{camera:02d}_{number:04d}.jpg" for number in range(2)] for camera in range(2)] for person in range(people)]
with open(os.path.join(folder, "meta.json"), "w", encoding="utf-8") as file:
    json.dump({"name": "cuhk03", "identities": names}, file)
with open(os.path.join(folder, "splits.json"), "w", encoding="utf-8") as file:
    json.dump([{"trainval": list(range(104)), "query": list(range(104, people)), "gallery": list(range(104, people))}], file)
sys.argv = ["softmax_loss.py", "-b", "8", "-j", "0", "--epochs", "2"]
runpy.run_path(os.path.join("examples", "softmax_loss.py"), run_name="__main__")
