import runpy
import sys
import types

import torch


class Digits(torch.utils.data.Dataset):
    """MNIST with a few random images."""

    def __init__(self, root, train, transform=None, download=False):
        draw = torch.Generator().manual_seed(int(train))
        self.test_data = torch.randint(0, 256, (150, 28, 28), generator=draw).byte()
        self.test_labels = torch.randint(0, 10, (150,), generator=draw)

    def __len__(self):
        return len(self.test_data)

    def __getitem__(self, index):
        return self.test_data[index][None] / 255, int(self.test_labels[index])


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


datasets = module("torchvision.datasets", MNIST=Digits)
module("torchvision", datasets=datasets, transforms=module("torchvision.transforms", ToTensor=lambda: None))
torch.manual_seed(0)
runpy.run_path("502_GPU.py", run_name="__main__")
