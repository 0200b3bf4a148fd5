import copy
import os
import runpy
import shutil
import sys
import types

import numpy as np
import torch
from torch import nn


class Images(torch.utils.data.Dataset):
    def __init__(self, path, transform):
        draw = torch.Generator().manual_seed(int("train" in path))
        self.labels = torch.arange(4) % 2
        self.images = torch.randn(4, 3, 224, 224, generator=draw) + self.labels[:, None, None, None]

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], int(self.labels[index])


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


class Errors:
    """The meter of torchnet."""

    def __init__(self, topk):
        self.topk, self.wrong, self.number = topk, np.zeros(len(topk)), 0

    def add(self, output, label):
        order = np.argsort(-output.cpu().numpy(), axis=1)
        hits = order == label.numpy()[:, None]
        self.wrong += [(~hits[:, :number].any(axis=1)).sum() for number in self.topk]
        self.number += len(label)

    def value(self):
        return [float(100 * wrong / self.number) for wrong in self.wrong]


class Conv(nn.Conv2d):
    """The convolution of the network whose weights are masked."""

    def __init__(self, *sizes, mask_init, mask_scale, threshold_fn, **options):
        super().__init__(*sizes, **options)


class Binarize(torch.autograd.Function):
    """The repository's function, with static methods: PyTorch no longer has others."""

    @staticmethod
    def forward(ctx, inputs, threshold):
        ctx.threshold = threshold
        return binarizer.forward(ctx, inputs)

    @staticmethod
    def backward(ctx, grad):
        return binarizer.backward(ctx, grad), None


class Binarizer:
    def __init__(self, threshold):
        self.threshold = threshold

    def __call__(self, inputs):
        return Binarize.apply(inputs, self.threshold)


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


def same(*settings, **options):
    return lambda image: image


def resnet(mask_init=None, mask_scale=None, threshold_fn=None):
    return modnets.resnet.ResNet(modnets.resnet.Bottleneck, [1, 1, 1, 1], mask_init, mask_scale, threshold_fn)


data = module("torchvision.datasets", ImageFolder=Images)
names = ("Compose", "Scale", "RandomSizedCrop", "RandomHorizontalFlip", "CenterCrop", "ToTensor", "Normalize")
transforms = module("torchvision.transforms", **dict.fromkeys(names, same))
networks = module("torchvision.models", resnet50=lambda pretrained: copy.deepcopy(trained))
module("torchvision", datasets=data, transforms=transforms, models=networks)
module("PIL", Image=module("PIL.Image", BILINEAR=2))
module("torchnet", meter=types.SimpleNamespace(ClassErrorMeter=Errors))
module("tqdm", tqdm=lambda loader, desc: loader)
torch.utils.data.DataLoader = Loader
np.random.seed(0)
torch.manual_seed(0)
import modnets
from modnets import layers

binarizer, layers.Binarizer = layers.Binarizer, Binarizer
Binarizer.__module__ = "modnets.layers"  # whole models are saved
masked, layers.ElementWiseConv2d = layers.ElementWiseConv2d, Conv
trained = resnet()
layers.ElementWiseConv2d = masked
modnets.resnet50 = resnet
shutil.rmtree("checkpoints", ignore_errors=True)
os.makedirs("checkpoints")
sys.argv = ["main.py", "--mode", "finetune", "--arch", "resnet50", "--dataset", "flowers", "--num_outputs", "6", "--mask_init", "1s", "--mask_scale", "1e-2"]
sys.argv += ["--threshold_fn", "binarizer", "--mask_scale_gradients", "none", "--lr_mask", "1e-4", "--lr_mask_decay_every", "15", "--lr_classifier", "1e-3"]
sys.argv += ["--lr_classifier_decay_every", "15", "--lr_decay_factor", "0.1", "--finetune_epochs", "2", "--batch_size", "2", "--save_prefix", "checkpoints/flowers"]
runpy.run_path("main.py", run_name="__main__")
