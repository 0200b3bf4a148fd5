import os
import runpy
import sys

import dataset
import torch


class Streets(torch.utils.data.Dataset):
    def __init__(self, root, co_transform, subset):
        self.size, self.seed = (8, 16) if co_transform.enc else (64, 128), len(subset)

    def __len__(self):
        return 4

    def __getitem__(self, index):
        draw = torch.Generator().manual_seed(self.seed * 10 + index)
        return torch.rand(3, 64, 128, generator=draw), torch.randint(0, 20, (1, *self.size), generator=draw)


get = torch.Tensor.__getitem__
torch.Tensor.__getitem__ = lambda self, index: self.item() if isinstance(index, int) and not self.dim() else get(self, index)  # as in PyTorch 0.3
dataset.cityscapes = Streets
torch.manual_seed(0)
os.makedirs("cityscapes", exist_ok=True)
sys.argv = [
    "main.py", "--savedir", "erfnet", "--datadir", "cityscapes", "--num-epochs", "1", "--num-workers", "0", "--batch-size", "2",
    "--steps-loss", "1", "--iouTrain",
]
runpy.run_path("main.py", run_name="__main__")
