import os
import runpy
import sys
import types

import numpy as np
import torch
import torchvision
from torch import nn


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs)
        self.downsample = nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, x):
        return torch.relu(self.bn1(self.conv1(x)) + self.downsample(x))


class ResNet(nn.Module):
    def __init__(self, pretrained):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8)
        self.relu, self.maxpool = nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)
        blocks = [nn.Sequential(Block(inputs, outputs, stride)) for inputs, outputs, stride in ((8, 8, 1), (8, 16, 2), (16, 16, 2), (16, 32, 2))]
        self.layer1, self.layer2, self.layer3, self.layer4 = blocks
        self.avgpool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(32, 1000)


class Photo:
    """An image of PIL, of a colour that depends on its class."""

    def __init__(self, file):
        self.number, self.label = (int(part) for part in os.path.basename(file.name)[:-4].split("_"))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def convert(self, mode):
        noise = torch.randn(3, 32, 32, generator=torch.Generator().manual_seed(self.number))
        return noise / 3 + torch.randn(3, 1, 1, generator=torch.Generator().manual_seed(100 + self.label))


class Compose:
    def __init__(self, steps):
        self.steps = steps

    def __call__(self, image):
        for step in self.steps:
            image = step(image)
        return image


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


def same(*settings, **options):
    return lambda image: image


names = ("Resize", "RandomHorizontalFlip", "RandomResizedCrop", "RandomCrop", "CenterCrop", "ToTensor", "Normalize")
torchvision.transforms = module("torchvision.transforms", Compose=Compose, **dict.fromkeys(names, same))
resnets = {f"resnet{depth}": ResNet for depth in (18, 34, 50, 101, 152)}
torchvision.models = module("torchvision.models", Block=Block, ResNet=ResNet, **resnets)
Block.__module__ = ResNet.__module__ = "torchvision.models"  # whole models are saved
image, file = module("PIL.Image", open=Photo, BILINEAR=2), module("PIL.ImageFile")
module("PIL", Image=image, ImageFile=file, ImageOps=module("PIL.ImageOps"))
torch.utils.data.DataLoader = Loader
torch.utils.data.dataloader._BaseDataLoaderIter.next = torch.utils.data.dataloader._BaseDataLoaderIter.__next__  # as in PyTorch 1.12
np.random.seed(0)
torch.manual_seed(0)
os.makedirs("../data/office", exist_ok=True)
for domain, first in (("amazon", 0), ("webcam", 50)):
    with open(f"../data/office/{domain}_list.txt", "w", encoding="utf-8") as text:
        for number in range(first, first + 12):
            path = f"../data/office/{number}_{number % 3}.jpg"
            open(path, "w", encoding="utf-8").close()
            text.write(f"{path} {number % 3}\n")
sys.argv = ["train_image.py", "--gpu_id", "0", "--method", "BNM", "--num_iterations", "8", "--dset", "office", "--output_dir", "BNM"]
sys.argv += ["--s_dset_path", "../data/office/amazon_list.txt", "--t_dset_path", "../data/office/webcam_list.txt", "--batch_size", "4"]
sys.argv += ["--test_interval", "4", "--snapshot_interval", "4", "--print_num", "1", "--lr", "0.02"]
runpy.run_path("train_image.py", run_name="__main__")
