import runpy
import sys

import ResNet
import torch
import torchvision
from torch.utils.data.dataloader import _BaseDataLoaderIter


class Photos(torch.utils.data.Dataset):
    def __init__(self, root, transform):
        draw = torch.Generator().manual_seed(len(root))
        self.images, self.labels = torch.rand(12, 3, 224, 224, generator=draw), torch.randint(0, 4, (12,), generator=draw)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], int(self.labels[index])


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, batch_size, num_workers, **options):
        super().__init__(dataset, batch_size=4, **options)  # 4 rather than 32 images


def small(pretrained):
    return ResNet.ResNet(ResNet.Bottleneck, [1, 1, 1, 1])


_BaseDataLoaderIter.next = _BaseDataLoaderIter.__next__  # as in PyTorch 1.12
ResNet.resnet50 = small
torchvision.datasets.ImageFolder = Photos
torch.utils.data.DataLoader = Loader
sys.argv = ["main.py", "--nclass", "4", "--nepoch", "2", "--log_interval", "1"]
runpy.run_path("main.py", run_name="__main__")
