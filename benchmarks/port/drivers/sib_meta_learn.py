import collections
import collections.abc
import io
import json
import os
import runpy
import shutil
import sys
import types

import numpy as np
import torch
import yaml


class Settings(dict):
    """The dictionary of easydict."""

    __getattr__, __setattr__ = dict.__getitem__, dict.__setitem__


class Photo:
    """An image of PIL, of a colour that depends on its class."""

    def __init__(self, path):
        *_, name, number = os.path.splitext(path)[0].split("/")
        self.label, self.number = int(name[1:]), int(number)

    def convert(self, mode):
        noise = np.random.RandomState(100 * self.label + self.number).randn(3, 32, 32) / 2
        return (noise + np.random.RandomState(self.label).randn(3, 1, 1)).astype(np.float32)


class Compose:
    def __init__(self, steps):
        self.steps = steps

    def __call__(self, image):
        for step in self.steps:
            image = step(image)
        return image


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


def same(*settings, **options):
    return lambda image: image


names = ("RandomCrop", "CenterCrop", "ColorJitter", "RandomHorizontalFlip", "Normalize")
transforms = module("torchvision.transforms", Compose=Compose, ToTensor=lambda: torch.from_numpy, **dict.fromkeys(names, same))
module("torchvision", transforms=transforms, datasets=module("torchvision.datasets", ImageFolder=None))
module("PIL", Image=module("PIL.Image", open=Photo))
module("easydict", EasyDict=Settings)
module("tensorboardX", SummaryWriter=None)
load = yaml.load
yaml.load = lambda file, Loader=yaml.SafeLoader: load(file, Loader)  # as in PyYAML 5
collections.Mapping, collections.Sequence = collections.abc.Mapping, collections.abc.Sequence  # as in Python 3.9
os.popen = lambda command, mode: io.StringIO("24 120")  # the size of a terminal
listed = os.listdir
os.listdir = lambda path: sorted(listed(path))
import networks

make = networks.WideResNet.__init__
networks.WideResNet.__init__ = lambda self, depth, widen_factor, **options: make(self, 10, 1, **options)
torch.manual_seed(0)
for folder in ("cache", "data/cifar-fs"):
    shutil.rmtree(folder, ignore_errors=True)
for part, first in (("train", 0), ("val", 10), ("test", 20)):
    for label in range(first, first + 6):
        os.makedirs(f"data/cifar-fs/{part}/n{label}")
        for number in range(3):
            open(f"data/cifar-fs/{part}/n{label}/{number}.jpg", "w", encoding="utf-8").close()
episode = {"Support": [[f"n{label}/0.jpg"] for label in range(10, 15)], "Query": [[f"n{label}/1.jpg", f"n{label}/2.jpg"] for label in range(10, 15)]}
with open("data/cifar-fs/val1000Episode_5_way_1_shot.json", "w", encoding="utf-8") as file:
    json.dump([episode, episode], file)
os.makedirs("ckpts", exist_ok=True)
torch.save(networks.get_featnet("WRN_28_10", 32, 32)[0].state_dict(), "ckpts/netFeatBest.pth")
os.makedirs("config", exist_ok=True)
settings = {"nClsEpisode": 5, "nSupport": 1, "nQuery": 2, "dataset": "Cifar", "architecture": "WRN_28_10", "batchSize": 1}
settings |= {"lr": 0.001, "weightDecay": 0.0005, "momentum": 0.9, "expName": "cifar-fs", "nbIter": 50000}
settings |= {"resumeFeatPth": "./ckpts/netFeatBest.pth", "coeffGrad": 0, "nEpisode": 2}
with open("config/CIFAR_1shot.yaml", "w", encoding="utf-8") as file:
    yaml.safe_dump(settings, file)
sys.argv = ["main.py", "--config", "config/CIFAR_1shot.yaml", "--seed", "100", "--gpu", "0"]
runpy.run_path("main.py", run_name="__main__")
