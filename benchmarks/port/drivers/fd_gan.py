import random
import runpy
import shutil
import sys
import types

import numpy as np
import torch
import torchvision.models
from torch import nn


class Small(nn.Module):
    """The base of the re-identification, with less layers."""

    def __init__(self, name, cut_at_pooling):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 8, 7, 4, 3, bias=False), nn.BatchNorm2d(8)
        self.layer4, self.gap = nn.Conv2d(8, 2048, 3, 4, 1), nn.AdaptiveAvgPool2d(1)

    def forward(self, x):
        return self.gap(torch.relu(self.layer4(torch.relu(self.bn1(self.conv1(x)))))).flatten(1)


class Pairs(torch.utils.data.Dataset):
    """Pairs of images with maps of the pose."""

    def __init__(self, dataset, **options):
        self.dataset = dataset

    def __len__(self):
        return len(self.dataset)

    def __getitem__(self, indices):
        return [self.one(index) for index in indices]

    def one(self, index):
        name, person, camera = self.dataset[index]
        draw = torch.Generator().manual_seed(int(index))
        origin, target = (torch.rand(2, 3, 256, 128, generator=draw) * 2 - 1 + person / 2).clamp(-1, 1)
        return {"origin": origin, "target": target, "posemap": torch.rand(18, 256, 128, generator=draw), "pid": person}


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


def item(self, index):
    return self if self.dim() == 0 and index == 0 else get(self, index)  # as in PyTorch 0.3: loss.data[0]


def float_tensor(values):
    return torch.tensor([float(value) for value in values])  # of numbers, as the elements were in PyTorch 0.3


def load_state_dict(self, state):
    own = self.state_dict()
    return load(self, {name: value.view(own[name].shape) for name, value in state.items()})  # as in PyTorch 0.3


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


module("scipy", misc=module("scipy.misc", imresize=None), ndimage=None)
names = ("Compose", "ToTensor", "Normalize")
torchvision.transforms = module("torchvision.transforms", **dict.fromkeys(names, lambda *settings, **options: None))
module("dominate", tags=module("dominate.tags"))
get, torch.Tensor.__getitem__ = torch.Tensor.__getitem__, item
torch.FloatTensor = float_tensor
load, nn.Module.load_state_dict = nn.Module.load_state_dict, load_state_dict
torch.utils.data.Sampler.__init__ = lambda self, data_source: None  # as in PyTorch 2.2
torch.utils.data.DataLoader = Loader
random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
import fdgan.model
import reid.datasets
import reid.utils.data.preprocessor
from reid.models.embedding import EltwiseSubEmbed
from reid.models.multi_branch import SiameseNet

people = [(f"{number:08d}.jpg", number % 3, number // 3) for number in range(6)]
data = types.SimpleNamespace(trainval=people, query=people, gallery=people, images_dir="", poses_dir="", trainval_query={})
reid.datasets.create = lambda name, root: data
reid.utils.data.preprocessor.Preprocessor = Pairs
fdgan.model.create = Small
shutil.rmtree("checkpoints", ignore_errors=True)
baseline = SiameseNet(Small("resnet50", True), EltwiseSubEmbed(use_batch_norm=True, use_classifier=True, num_features=2048, num_classes=2))
torch.save({f"module.{name}": value for name, value in baseline.state_dict().items()}, "netE.pth")
sys.argv = ["train.py", "--stage", "1", "-d", "market1501", "--name", "small", "--netE-pretrain", "netE.pth", "--display-id", "0", "--no_html"]
sys.argv += ["-b", "4", "--niter", "1", "--niter-decay", "0", "--print-freq", "4", "--display-freq", "1000", "--save-step", "1"]
sys.argv += ["--pose-aug", "no"]
runpy.run_path("train.py", run_name="__main__")
