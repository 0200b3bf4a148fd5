import torch
from torch.utils.data import Dataset


class Spectra(Dataset):
    def __init__(self, n):
        g = torch.Generator().manual_seed(2)
        self.images = torch.rand(n, 1, 8, 8, generator=g)
        self.targets = (self.images.mean(dim=(1, 2, 3)) * 20).long() % 10

    def __len__(self):
        return len(self.images)

    def __getitem__(self, idx):
        return self.images[idx], self.targets[idx]
