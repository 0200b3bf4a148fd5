import os
import sys

import torch
import torchvision.models
from torch import nn


class Pairs(torch.utils.data.Dataset):
    def __init__(self, folder, transform):
        self.images = torch.rand(4, 2, 3, 16, 16)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return [self.images[index, 0], self.images[index, 1]], 0


class Encoder(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 4, stride=4), nn.BatchNorm2d(8), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.fc = nn.Linear(8, num_classes)

    def forward(self, images):
        return self.fc(self.body(images))


view = torch.Tensor.view
torch.Tensor.view = lambda self, *shape: view(self.contiguous(), *shape)  # as in PyTorch 1.6
torchvision.models.tiny = lambda num_classes: Encoder(num_classes)
torchvision.datasets.ImageFolder = Pairs
import main_moco  # noqa: E402

torch.manual_seed(0)
sys.argv = [
    "main_moco.py", "images", "-a", "tiny", "-j", "0", "--epochs", "1", "-b", "2", "--lr", "0.03", "--moco-dim", "8", "--moco-k",
    "8", "--mlp", "--multiprocessing-distributed", "--world-size", "1", "--rank", "0", "--dist-url",
    f"file://{os.getcwd()}/rendezvous",
]  # fmt: skip
options = main_moco.parser.parse_args()
options.distributed = True
main_moco.main_worker(0, 1, options)
