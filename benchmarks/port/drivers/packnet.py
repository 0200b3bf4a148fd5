import functools
import os
import runpy
import sys
import types
from collections import OrderedDict

import numpy as np
import torch
import torchvision
from torch import nn


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


class ErrorMeter:
    def __init__(self, topk):
        self.topk, self.wrong = topk, {k: [] for k in topk}

    def add(self, output, target):
        ranked = np.argsort(-output.cpu().numpy(), axis=1)
        for k in self.topk:
            self.wrong[k].append(np.mean((ranked[:, :k] != target.cpu().numpy()[:, None]).all(axis=1)))

    def value(self):
        return [100 * float(np.mean(self.wrong[k])) for k in self.topk]


class Photos(torch.utils.data.Dataset):
    def __init__(self, path, transform):
        draw = torch.Generator().manual_seed(len(path))
        self.images, self.labels = torch.randn(8, 3, 64, 64, generator=draw), torch.randint(0, 6, (8,), generator=draw)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], int(self.labels[index])


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


def resnet50(pretrained):
    layers = OrderedDict(conv1=nn.Conv2d(3, 16, 7, 4, 3, bias=False), bn1=nn.BatchNorm2d(16), relu=nn.ReLU(inplace=True))
    layers.update(layer1=nn.Conv2d(16, 2048, 3, 4, 1, bias=False), bn2=nn.BatchNorm2d(2048), avgpool=nn.AdaptiveAvgPool2d(1))
    return nn.Sequential(OrderedDict(layers, fc=nn.Linear(2048, 1000)))


torch.manual_seed(0)
module("torchnet", meter=types.SimpleNamespace(ClassErrorMeter=ErrorMeter))
torchvision.models = sys.modules["torchvision.models"] = types.SimpleNamespace(resnet50=resnet50)
torchvision.datasets.ImageFolder = Photos
torch.utils.data.DataLoader = Loader
torch.load = functools.partial(torch.load, weights_only=False)  # as in PyTorch 0.4: a file holds whole modules
os.makedirs("../checkpoints/imagenet")
os.makedirs("../checkpoints/cubs_cropped")
sys.argv = ["main.py", "--arch", "resnet50", "--init_dump"]
runpy.run_path("main.py", run_name="__main__")
dump = torch.load("../checkpoints/imagenet/resnet50.pt")
for number, layer in enumerate(dump["model"].shared.modules()):
    if number in dump["previous_masks"]:
        small = layer.weight.data.abs() < layer.weight.data.abs().median()
        layer.weight.data[small], dump["previous_masks"][number][small] = 0.0, 0
torch.save(dump, "../checkpoints/imagenet/resnet50_pruned.pt")
sys.argv = [
    "main.py", "--mode", "finetune", "--dataset", "cubs", "--num_outputs", "6", "--loadname", "../checkpoints/imagenet/resnet50_pruned.pt",
    "--lr", "1e-3", "--lr_decay_every", "10", "--lr_decay_factor", "0.1", "--finetune_epochs", "2", "--batch_size", "4",
    "--save_prefix", "../checkpoints/cubs_cropped/cubs",
]  # fmt: skip
runpy.run_path("main.py", run_name="__main__")
