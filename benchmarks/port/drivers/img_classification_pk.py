import runpy
import sys
import types

import torch
from torch import nn


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


def conv3x3(in_planes, out_planes, stride=1):
    return nn.Conv2d(in_planes, out_planes, 3, stride, 1, bias=False)


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


colours = dict.fromkeys(("RED", "GREEN", "RESET"), "")
module("colorama", Fore=types.SimpleNamespace(**colours))
module("torchvision.models")
module("torchvision.models.resnet", conv3x3=conv3x3)
torch.utils.data.DataLoader = Loader
view = torch.Tensor.view
torch.Tensor.view = lambda self, *shape: view(self.contiguous(), *shape)  # as in PyTorch 1.2
torch.manual_seed(0)
options = ["--no_valid", "--print-freq", "1", "--depth", "8", "--epochs", "2", "-b", "8", "--save", "save/debug", "-f"]
sys.argv = ["main.py", "--data", "cifar10", "--data_aug", "--arch", "resnet", *options]
runpy.run_path("main.py", run_name="__main__")
