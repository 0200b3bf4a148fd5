import os
import random
import runpy
import shutil
import sys
import types

import numpy as np
import torch


class Compose:
    def __init__(self, steps):
        self.steps = steps

    def __call__(self, image):
        for step in self.steps:
            image = step(image)
        return image


class Photo:
    def __init__(self, path):
        self.path = path

    def convert(self, mode):
        draw = torch.Generator().manual_seed(sum(map(ord, self.path)))
        return torch.rand(3, 84, 84, generator=draw)


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


def same(*settings, **options):
    return lambda image: image


module("PIL", Image=module("PIL.Image", open=Photo, BILINEAR=2))
module("lmdb")
names = ("Resize", "RandomCrop", "RandomHorizontalFlip", "ToTensor", "Normalize", "RandomErasing")
module("torchvision", transforms=module("torchvision.transforms", Compose=Compose, **dict.fromkeys(names, same)))
sys.path += ["torchFewShot", "torchFewShot/models"]  # the second: implicit relative imports, as in Python 2
import datasets

random.seed(0)
np.random.seed(0)
datasets.tieredImageNet.dataset_dir = "images"
torch.utils.data.DataLoader = Loader
shutil.rmtree("images", ignore_errors=True)
for part in ("train", "val", "test"):
    for kind in range(6):
        os.makedirs(f"images/{part}/n{kind:08d}")
        for number in range(4):
            open(f"images/{part}/n{kind:08d}/{number}.JPEG", "w", encoding="utf-8").close()
sys.argv = ["train.py", "--max-epoch", "1", "--train-batch", "1", "--test-batch", "1", "--num_classes", "6", "--nExemplars", "1"]
sys.argv += ["--train_nTestNovel", "10", "--train_epoch_size", "3", "--nTestNovel", "10", "--epoch_size", "2", "--save-dir", "result"]
runpy.run_path("train.py", run_name="__main__")
