import runpy
import sys

import dataset.cifar10 as data
import numpy as np
import torch
from torch.utils.data.dataloader import _BaseDataLoaderIter


class Pictures(torch.utils.data.Dataset):
    def __init__(self, seed, twice=False):
        draw = torch.Generator().manual_seed(seed)
        self.images, self.labels = torch.rand(8, 3, 32, 32, generator=draw), torch.randint(0, 10, (8,), generator=draw)
        self.twice = twice

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = self.images[index]
        return ((image, image.flip(2)), -1) if self.twice else (image, int(self.labels[index]))


def sets(root, n_labeled, transform_train, transform_val):
    return Pictures(0), Pictures(1, twice=True), Pictures(2), Pictures(3)


_BaseDataLoaderIter.next = _BaseDataLoaderIter.__next__  # as in PyTorch 1.0
view = torch.Tensor.view
torch.Tensor.view = lambda self, *shape: view(self.contiguous(), *shape)  # as in PyTorch 1.2
data.get_cifar10 = sets
torch.manual_seed(0)
np.random.seed(0)
sys.argv = ["train.py", "--epochs", "2", "--batch-size", "4", "--train-iteration", "2"]
runpy.run_path("train.py", run_name="__main__")
