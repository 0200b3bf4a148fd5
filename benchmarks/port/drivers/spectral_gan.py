import os
import runpy
import sys
import types

import matplotlib
import torch
import torchvision


class Images(torch.utils.data.Dataset):
    def __init__(self, root, train, download, transform):
        self.images = torch.rand(8, 3, 32, 32) * 2 - 1

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], index


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


class Grid(list):
    def __init__(self, rows, columns):
        super().__init__(range(rows * columns))

    def update(self, **options):
        pass


class Axes:
    imshow = staticmethod(lambda image: print("sample", image.shape, float(image.mean())))

    def __getattr__(self, name):
        return lambda *options, **more: Axes()


def item(values, index):
    return values if not values.dim() and isinstance(index, int) else part(values, index)


torch.manual_seed(0)
part, torch.Tensor.__getitem__ = torch.Tensor.__getitem__, item  # as in PyTorch 0.4
torch.utils.data.DataLoader = Loader
torchvision.datasets = types.SimpleNamespace(CIFAR10=Images)
matplotlib.pyplot, matplotlib.gridspec = Axes(), types.SimpleNamespace(GridSpec=Grid)
sys.modules["matplotlib.pyplot"], sys.modules["matplotlib.gridspec"] = matplotlib.pyplot, matplotlib.gridspec
os.makedirs("checkpoints", exist_ok=True)
sys.argv = ["main.py", "--batch_size", "4"]
runpy.run_path("main.py", run_name="__main__")
