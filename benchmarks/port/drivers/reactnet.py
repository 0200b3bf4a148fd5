import runpy
import sys
import types

import torch
import torchvision
from torch import nn


class Photos(torch.utils.data.Dataset):
    def __init__(self, root, transform=None):
        draw = torch.Generator().manual_seed(len(root))
        self.images, self.labels = torch.randn(8, 3, 64, 64, generator=draw), torch.randint(0, 1000, (8,), generator=draw)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], int(self.labels[index])


def resnet34(pretrained):
    layers = nn.Conv2d(3, 16, 7, 4, 3, bias=False), nn.BatchNorm2d(16), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(1)
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(16, 1000))


view = torch.Tensor.view
torch.Tensor.view = lambda self, *shape: view(self.contiguous(), *shape)  # as in PyTorch 1.2
torch.manual_seed(0)
torchvision.models = sys.modules["torchvision.models"] = types.ModuleType("torchvision.models")
torchvision.models.resnet34 = resnet34
torchvision.datasets.ImageFolder = Photos
sys.argv = ["train.py", "--data", "imagenet", "--batch_size", "4", "--workers", "0", "--epochs", "2", "--weight_decay", "1e-5"]
runpy.run_path("train.py", run_name="__main__")
