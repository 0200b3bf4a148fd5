import sys
import types

import numpy as np
import torch
from torch import nn


class Small(nn.Module):
    def __init__(self, pretrained):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        for number, (inside, outside) in enumerate(((64, 64), (64, 128), (128, 256), (256, 512)), 1):
            stride = 1 if number == 1 else 2
            self.add_module(f"layer{number}", nn.Sequential(nn.Conv2d(inside, outside, 3, stride, 1), nn.ReLU()))


class Rooms(torch.utils.data.Dataset):
    output_size = (48, 64)

    def __init__(self, root, type, modality, sparsifier):
        self.seed = int(type == "train")

    def __len__(self):
        return 4

    def __getitem__(self, index):
        draw = torch.Generator().manual_seed(index + 10 * self.seed)
        depth = torch.rand(1, *self.output_size, generator=draw) * 5
        sparse = depth * (torch.rand(depth.shape, generator=draw) > 0.9)
        return torch.cat([torch.rand(3, *self.output_size, generator=draw), sparse]), depth


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


module("torchvision.models", resnet18=Small)
module("torchvision", models=sys.modules["torchvision.models"])
sys.argv = [
    "main.py", "--modality", "rgbd", "--num-samples", "100", "--decoder", "upproj", "--criterion", "l2", "--no-pretrain",
    "--workers", "0", "--epochs", "1", "--batch-size", "2", "--print-freq", "1",
]
import main
from dataloaders import nyu_dataloader

nyu_dataloader.NYUDataset = Rooms
main.utils.cmap = lambda depth: np.stack([depth] * 4, axis=-1)
torch.manual_seed(0)
main.main()
