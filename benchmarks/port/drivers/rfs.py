import os
import pickle
import runpy
import sys

import numpy as np
import torch
import torchvision


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


def compose(steps):
    return lambda image: torch.from_numpy(image).permute(2, 0, 1).float() / 128 - 1


view = torch.Tensor.view
torch.Tensor.view = lambda self, *shape: view(self.contiguous(), *shape)  # as in PyTorch 1.2
torch.manual_seed(0)
torch.utils.data.DataLoader = Loader
torchvision.transforms.Compose = compose
os.makedirs("data/miniImageNet")
draw = np.random.RandomState(0)
for name in ("train_phase_train", "train_phase_val", "val", "test"):
    content = {"data": draw.randint(0, 256, (8, 84, 84, 3)).astype(np.uint8), "labels": draw.randint(0, 64, 8)}
    with open(f"data/miniImageNet/miniImageNet_category_split_{name}.pickle", "wb") as file:
        pickle.dump(content, file)
sys.argv = ["train_supervised.py", "--trial", "pretrain", "--batch_size", "4", "--num_workers", "0", "--epochs", "2", "--print_freq", "1"]
runpy.run_path("train_supervised.py", run_name="__main__")
