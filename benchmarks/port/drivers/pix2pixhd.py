import fractions
import math
import runpy
import sys
import types

import numpy as np
import torch
import torchvision
from torch import nn


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


class Scenes(torch.utils.data.Dataset):
    """The aligned label maps, instance maps and images."""

    def name(self):
        return "AlignedDataset"

    def initialize(self, opt):
        self.opt = opt

    def __len__(self):
        return 1

    def __getitem__(self, index):
        draw = torch.Generator().manual_seed(index)
        label = torch.randint(0, self.opt.label_nc, (1, 8, 16), generator=draw).float()
        label = label.repeat_interleave(8, 1).repeat_interleave(8, 2)
        image = torch.rand(3, 64, 128, generator=draw) * 2 - 1
        return {"label": label, "inst": label * 1000 + 1, "image": image, "feat": 0, "path": f"{index}.png"}


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


def vgg19(pretrained):
    """The layers of the network with less channels."""
    layers, inputs = [], 3
    for outputs, convolutions in ((4, 2), (8, 2), (8, 4), (16, 4), (16, 4)):
        for _ in range(convolutions):
            layers += [nn.Conv2d(inputs, outputs, 3, padding=1), nn.ReLU(inplace=True)]
            inputs = outputs
        layers.append(nn.MaxPool2d(2, 2))
    return types.SimpleNamespace(features=nn.Sequential(*layers))


def variable(data, requires_grad=False, volatile=False):
    return data


fractions.gcd = lambda a, b: math.gcd(int(a), int(b))  # as in Python 3.8
torch.autograd.Variable = variable  # without the option volatile, PyTorch no longer has it
module("scipy").misc = module("scipy.misc")
module("data.aligned_dataset", AlignedDataset=Scenes)
torchvision.models = module("torchvision.models", vgg19=vgg19)
torch.manual_seed(0)
np.random.seed(0)
torch.utils.data.DataLoader = Loader
sizes = ["--ngf", "8", "--ndf", "8", "--n_downsample_global", "2", "--n_blocks_global", "1", "--n_layers_D", "2"]
steps = ["--niter", "1", "--print_freq", "1", "--save_epoch_freq", "1", "--no_html"]
sys.argv = ["train.py", "--name", "label2city_small", *sizes, "--niter_decay", "1", *steps]
runpy.run_path("train.py", run_name="__main__")
sizes += ["--netG", "local", "--ngf", "4", "--n_blocks_local", "1", "--nef", "4", "--n_downsample_E", "2"]
sys.argv = ["train.py", "--name", "label2city_feat", *sizes, "--instance_feat", "--niter_fix_global", "1", "--niter_decay", "0", *steps]
runpy.run_path("train.py", run_name="__main__")
