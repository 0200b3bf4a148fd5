import os
import runpy
import sys

import torch
from torchvision import datasets


class Pictures(datasets.CIFAR10):
    def __init__(self, path, transform):
        super().__init__()
        self.images, self.labels = self.images[:4], self.labels[:4]


class Loader(torch.utils.data.DataLoader):
    def __init__(self, data, batch_size, num_workers=0, **options):
        super().__init__(data, batch_size=2, **options)


datasets.ImageFolder = Pictures
torch.utils.data.DataLoader = Loader
torch.manual_seed(0)
os.makedirs("sample", exist_ok=True)
os.makedirs("checkpoint", exist_ok=True)
sys.argv = ["train_vqvae.py", "--size", "32", "--epoch", "1", "pictures"]
runpy.run_path("train_vqvae.py", run_name="__main__")
