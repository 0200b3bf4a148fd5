import os
import runpy
import shutil
import sys
import types

import numpy as np
import torch


class Images(torch.utils.data.Dataset):
    def __init__(self, root, train=None, split="", **options):
        kind = sum(str(root).encode()) + sum(str(split).encode()) + int(bool(train))
        draw = torch.Generator().manual_seed(kind)
        self.labels = torch.arange(12 if train else 3) % 3
        self.images = torch.randn(len(self.labels), 3, 32, 32, generator=draw) + self.labels[:, None, None, None] / 5

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], int(self.labels[index])


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers=0, **options):
        super().__init__(dataset, **options)


class Covariance:
    """The covariance of scikit-learn."""

    def __init__(self, assume_centered):
        self.assume_centered = assume_centered

    def fit(self, features):
        self.precision_ = np.linalg.pinv(np.cov(features.T, bias=True), rcond=1e-2, hermitian=True)


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


def same(*settings):
    return lambda image: image


data = module("torchvision.datasets", CIFAR10=Images, CIFAR100=Images, SVHN=Images, ImageFolder=Images)
transforms = module("torchvision.transforms", **dict.fromkeys(("Compose", "ToTensor", "Normalize", "Scale", "Resize", "CenterCrop"), same))
module("torchvision", datasets=data, transforms=transforms)
distance = module("scipy.spatial.distance", pdist=None, cdist=None, squareform=None)
module("scipy", misc=module("scipy.misc"), spatial=module("scipy.spatial", distance=distance))
module("sklearn", metrics=module("sklearn.metrics"), covariance=module("sklearn.covariance", EmpiricalCovariance=Covariance))
torch.utils.data.DataLoader = Loader
import models
from models.resnet import BasicBlock, ResNet

models.ResNet34 = lambda num_c: ResNet(BasicBlock, [1, 1, 1, 1], num_c)
np.random.seed(0)
torch.manual_seed(0)
os.makedirs("pre_trained", exist_ok=True)
torch.save(models.ResNet34(num_c=3).state_dict(), "pre_trained/resnet_cifar10.pth")
shutil.rmtree("output", ignore_errors=True)
os.makedirs("output")
sys.argv = ["OOD_Generate_Mahalanobis.py", "--dataset", "cifar10", "--net_type", "resnet", "--num_classes", "3", "--gpu", "0", "--batch_size", "4"]
runpy.run_path("OOD_Generate_Mahalanobis.py", run_name="__main__")
for name in sorted(os.listdir("output/resnet_cifar10")):
    if name.endswith(".npy"):
        print(name, np.load(f"output/resnet_cifar10/{name}").mean())
