import runpy
import types

import torch
import torchvision


class Images(torch.utils.data.Dataset):
    def __init__(self, root, train, transform, download=False):
        draw = torch.Generator().manual_seed(int(train))
        self.images = torch.rand(4 if train else 20, 3, 32, 32, generator=draw)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], index % 10


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, batch_size, shuffle, num_workers=0):
        super().__init__(dataset, batch_size=batch_size, shuffle=shuffle)


class Printed(torch.nn.CrossEntropyLoss):
    def forward(self, outputs, labels):
        loss = super().forward(outputs, labels)
        print("loss", float(loss))
        return loss


class Conv2d(torch.nn.Conv2d):
    def __init__(self, inputs, outputs, *sizes, **options):
        super().__init__(int(inputs), int(outputs), *sizes, **options)


class BatchNorm2d(torch.nn.BatchNorm2d):
    def __init__(self, channels):
        super().__init__(int(channels))


torch.nn.Conv2d, torch.nn.BatchNorm2d = Conv2d, BatchNorm2d  # the channels are quotients of integers, as in Python 2
torch.manual_seed(0)
torchvision.datasets, torch.utils.data.DataLoader, torch.nn.CrossEntropyLoss = types.SimpleNamespace(CIFAR10=Images), Loader, Printed
runpy.run_path("train.py", run_name="__main__")
