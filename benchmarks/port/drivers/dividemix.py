import os
import runpy
import sys
import types

import dataloader_cifar
import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.dataloader import _BaseDataLoaderIter


class Mixture:
    def __init__(self, **options):
        self.means_ = np.array([0.0, 1.0])

    def fit(self, values):
        self.middle = float(values[:4].mean())

    def predict_proba(self, values):
        clean = (np.asarray(values)[:, 0] <= self.middle) * 1.0
        return np.stack([clean, 1 - clean], axis=1)


class Loaders:
    def __init__(self, *names, **options):
        self.images, self.labels = torch.rand(4, 3, 32, 32), torch.randint(0, 10, (4,))

    def run(self, mode, chosen=(), probability=()):
        index = torch.arange(4)
        if mode == "train":
            weights = torch.rand(4)
            labeled = TensorDataset(self.images, self.images.flip(3), self.labels, weights)
            unlabeled = TensorDataset(self.images.flip(2), self.images)
            return DataLoader(labeled, batch_size=2), DataLoader(unlabeled, batch_size=2)
        if mode == "test":
            return DataLoader(TensorDataset(self.images, self.labels), batch_size=2)
        return DataLoader(TensorDataset(self.images, self.labels, index), batch_size=4)


def main():
    _BaseDataLoaderIter.next = _BaseDataLoaderIter.__next__  # as in Python 2
    sys.modules["sklearn"] = types.ModuleType("sklearn")
    sys.modules["sklearn.mixture"] = types.ModuleType("sklearn.mixture")
    sys.modules["sklearn.mixture"].GaussianMixture = Mixture
    dataloader_cifar.cifar_dataloader = Loaders
    os.makedirs("checkpoint", exist_ok=True)
    sys.argv = ["Train_cifar.py", "--num_epochs", "10", "--batch_size", "2"]
    runpy.run_path("Train_cifar.py", run_name="__main__")


main()
