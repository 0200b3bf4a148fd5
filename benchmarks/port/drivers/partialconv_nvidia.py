import runpy
import sys
import types

import torch
import torchvision


class Folder(torch.utils.data.Dataset):
    """Images of two classes."""

    def __init__(self, root, transform):
        draw = torch.Generator().manual_seed(len(root))
        self.labels = torch.arange(6) % 2
        self.images = torch.randn(6, 3, 224, 224, generator=draw) + self.labels.view(-1, 1, 1, 1)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], int(self.labels[index])


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


def view(self, *shape):
    return old_view(self.contiguous(), *shape)  # as in PyTorch 1.4


old_view, torch.Tensor.view = torch.Tensor.view, view
torchvision.models = sys.modules["torchvision.models"] = types.ModuleType("torchvision.models")
torchvision.models.resnet50 = None
torchvision.datasets.ImageFolder = Folder
torch.utils.data.DataLoader = Loader
torch.manual_seed(0)
sys.argv = ["main.py", "-a", "pdresnet18", "--data_train", "imagenet/train", "--data_val", "imagenet/val", "-b", "2", "--epochs", "1"]
sys.argv += ["--lr", "0.001", "--print-freq", "1", "--prefix", "small"]
runpy.run_path("main.py", run_name="__main__")
