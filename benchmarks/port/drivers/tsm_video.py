import runpy
import shutil
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
        blocks = [nn.Sequential(Block(inputs, outputs, stride)) for inputs, outputs, stride in ((8, 8, 1), (8, 16, 2), (16, 16, 2), (16, 32, 2))]
        self.layer1, self.layer2, self.layer3, self.layer4 = blocks
        self.fc = nn.Linear(32, 1000)

    def forward(self, x):
        x = torch.relu(self.bn1(self.conv1(x)))
        x = self.avgpool(self.layer4(self.layer3(self.layer2(self.layer1(x)))))
        return self.fc(x.flatten(1))


class Clips(torch.utils.data.Dataset):
    def __init__(self, root_path, list_file, num_segments, **options):
        draw = torch.Generator().manual_seed(int("train" in list_file))
        self.labels = torch.randint(0, 400, (6,), generator=draw)
        self.clips = torch.randn(6, num_segments * 3, 32, 32, generator=draw)

    def __len__(self):
        return len(self.clips)

    def __getitem__(self, index):
        return self.clips[index], int(self.labels[index])


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


class Writer:
    def __init__(self, log_dir):
        self.log_dir = log_dir

    def add_scalar(self, name, value, step):
        print(step, name, float(value))


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


module("tensorboardX", SummaryWriter=Writer)
torchvision.models = module("torchvision.models", resnet50=ResNet, ResNet=ResNet)
view = torch.Tensor.view
torch.Tensor.view = lambda self, *shape: view(self.contiguous(), *shape)  # as in PyTorch 1.4
torch.utils.data.DataLoader = Loader
np.random.seed(0)
torch.manual_seed(0)
import ops.dataset

ops.dataset.TSNDataSet = Clips
for folder in ("log", "checkpoint"):
    shutil.rmtree(folder, ignore_errors=True)
sys.argv = ["main.py", "kinetics", "RGB", "--arch", "resnet50", "--num_segments", "4", "--gd", "20", "--lr", "0.02", "--wd", "1e-4"]
sys.argv += ["--lr_steps", "20", "40", "--epochs", "2", "--batch-size", "2", "-j", "0", "--dropout", "0.5", "--consensus_type=avg"]
sys.argv += ["--eval-freq=1", "--shift", "--shift_div=8", "--shift_place=blockres", "--npb"]
runpy.run_path("main.py", run_name="__main__")
