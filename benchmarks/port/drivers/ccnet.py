import os
import runpy
import sys
import types

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


class InPlaceABNSync(nn.BatchNorm2d):
    """The compiled normalization with activation, in plain PyTorch."""

    def __init__(self, features, activation="leaky_relu", **options):
        super().__init__(features, **options)
        self.activation = activation

    def forward(self, x):
        x = super().forward(x)
        return F.leaky_relu(x, 0.01) if self.activation == "leaky_relu" else x


class Scenes(torch.utils.data.Dataset):
    def __init__(self, root, list_path, crop_size, **options):
        self.size = crop_size

    def __len__(self):
        return 4

    def __getitem__(self, index):
        draw = np.random.RandomState(index)
        image = draw.uniform(-100, 100, (3, *self.size)).astype(np.float32)
        label = draw.randint(0, 19, self.size).astype(np.float32)
        label[:4] = 255
        return image, label, np.array(self.size), str(index)


def zoom(values, factors, order):
    """Take each n-th value instead of an interpolation."""
    return values[tuple(slice(None, None, round(1 / factor)) for factor in factors)]


def small_model(num_classes, criterion, pretrained_model, recurrence):
    """Seg_Model with fewer blocks."""
    model = networks.ccnet.ResNet(networks.ccnet.Bottleneck, [1, 1, 1, 1], num_classes, criterion, recurrence)
    return networks.ccnet.load_model(model, pretrained_model)


module("inplace_abn", InPlaceABN=InPlaceABNSync, InPlaceABNSync=InPlaceABNSync)
module("apex")
module("apex.parallel", DistributedDataParallel=None, SyncBatchNorm=None)
module("scipy")
module("scipy.misc")
module("scipy.ndimage", zoom=zoom)
sys.modules["scipy"].misc, sys.modules["scipy"].ndimage = sys.modules["scipy.misc"], sys.modules["scipy.ndimage"]
import cc_attention
from cc_attention.functions import CrissCrossAttention

cc_attention.CrissCrossAttention = CrissCrossAttention
import dataset.datasets
import networks.ccnet

iterator = torch.utils.data.dataloader._BaseDataLoaderIter
iterator.next = iterator.__next__  # as in PyTorch 1.12
networks.ccnet.Seg_Model = small_model
dataset.datasets.CSDataSet = Scenes
os.environ["CUDA_VISIBLE_DEVICES"] = "0"
np.random.seed(0)
torch.save({}, "init.pth")
for ohem in ("False", "True"):
    sys.argv = [
        "train.py", "--data-dir", "cityscapes", "--model", "ccnet", "--random-mirror", "--random-scale", "--restore-from", "init.pth",
        "--input-size", "49,49", "--gpu", "0", "--batch-size", "2", "--num-steps", "2", "--num-workers", "0", "--recurrence", "2",
        "--ohem", ohem, "--ohem-keep", "1000",
    ]
    runpy.run_path("train.py", run_name="__main__")
