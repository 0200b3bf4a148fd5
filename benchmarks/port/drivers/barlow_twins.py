import os
import sys

import main
import torch
import torchvision.models
from torch import nn


class Pairs(torch.utils.data.Dataset):
    def __init__(self, folder, transform):
        self.images = torch.rand(4, 2, 3, 16, 16)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return (self.images[index, 0], self.images[index, 1]), 0


def resnet50(zero_init_residual):
    return nn.Sequential(nn.Conv2d(3, 2048, 4, stride=4), nn.BatchNorm2d(2048), nn.AdaptiveAvgPool2d(1), nn.Flatten())


torch.manual_seed(0)
torchvision.models.resnet50 = resnet50
torchvision.datasets.ImageFolder = Pairs
sys.argv = ["main.py", "images", "--workers", "0", "--epochs", "1", "--batch-size", "2", "--projector", "16-16-16", "--print-freq", "1"]
options = main.parser.parse_args()
options.rank, options.world_size, options.dist_url = 0, 1, f"file://{os.getcwd()}/rendezvous"
main.main_worker(0, options)
