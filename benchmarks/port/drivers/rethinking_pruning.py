import os
import runpy
import sys
import types

import torch
import torchvision
from torch import nn


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1, self.bn1, self.relu = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()
        self.downsample = nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, x):
        return self.relu(self.bn1(self.conv1(x)) + self.downsample(x))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1, self.relu = nn.Conv2d(3, 8, 7, 4, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU()
        self.layer1, self.layer2, self.layer3 = Block(8, 8, 2), Block(8, 16, 2), Block(16, 32, 2)
        self.fc = nn.Linear(32, 10)

    def forward(self, x):
        x = self.relu(self.bn1(self.conv1(x)))
        return self.fc(self.layer3(self.layer2(self.layer1(x))).mean((2, 3)))


class Images(torch.utils.data.Dataset):
    def __init__(self, root, transform):
        draw = torch.Generator().manual_seed(len(root))
        self.labels = torch.randint(0, 10, (8 if root.endswith("train") else 4,), generator=draw)
        self.images = torch.randn(len(self.labels), 3, 224, 224, generator=draw) + self.labels[:, None, None, None] / 5

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]


def resnet18(pretrained=False):
    return ResNet()


def transposed(self):
    return transpose(self).contiguous()  # as in PyTorch 1.4, where a comparison's result is contiguous


transpose, torch.Tensor.t = torch.Tensor.t, transposed
torchvision.models = sys.modules["torchvision.models"] = types.ModuleType("torchvision.models")
torchvision.models.resnet18 = resnet18
torchvision.datasets.ImageFolder = Images
torch.manual_seed(0)
os.makedirs("exp", exist_ok=True)
pruned = {"module." + name: value for name, value in ResNet().state_dict().items()}
for name, value in pruned.items():
    if value.dim() == 4:
        value[value.abs() < value.abs().median()] = 0
torch.save({"state_dict": pruned}, "exp/pruned.pth.tar")
options = ["images", "--save", "exp", "--resume", "exp/pruned.pth.tar", "-b", "4", "-j", "0", "-p", "1", "--lr", "0.01", "--seed", "1"]
sys.argv = ["main_B.py", *options]
runpy.run_path("main_B.py", run_name="__main__")
