import runpy
import sys

import numpy as np
import torch
import torchvision


class Images:
    """CIFAR-10 with twenty small images."""

    def __init__(self, root, train, transform, target_transform, download):
        draw = np.random.RandomState(int(train))
        self.data = draw.rand(12 if train else 6, 3, 32, 32).astype(np.float32)
        self.targets = [number % 10 for number in range(len(self.data))]


class Folder(torch.utils.data.Dataset):
    pass


class Transform:
    def __init__(self, *args, **options):
        pass

    def __call__(self, image):
        return image


def confusion_matrix(truth, found):
    matrix = np.zeros((10, 10), int)
    np.add.at(matrix, (truth.astype(int), found.astype(int)), 1)
    return matrix


torchvision.__version__ = "0.20.0"
for name in ("Compose", "ToTensor", "Normalize", "Lambda", "ToPILImage", "ColorJitter", "RandomCrop", "RandomHorizontalFlip", "RandomRotation"):
    setattr(sys.modules["torchvision.transforms"], name, Transform)
datasets = sys.modules["torchvision.datasets"]
datasets.CIFAR10 = datasets.CIFAR100 = Images
datasets.EMNIST = datasets.SVHN = datasets.FashionMNIST = datasets.DatasetFolder = Folder
datasets.utils = None
import sklearn.metrics

sklearn.metrics.confusion_matrix = confusion_matrix
tasks = ["--dataset", "cifar10", "--model", "simple-cnn", "--batch-size", "6", "--lr", "0.01", "--epochs", "1", "--n_parties", "2"]
for algorithm, rounds in (("moon", "2"), ("fedprox", "1")):
    sys.argv = ["main.py", *tasks, "--alg", algorithm, "--comm_round", rounds, "--out_dim", "16", "--log_file_name", algorithm]
    runpy.run_path("main.py", run_name="__main__")
