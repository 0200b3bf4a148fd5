import collections
import collections.abc
import os
import sys
import types

import numpy as np
import torch
from torch.nn import functional


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


class Resize:
    def __init__(self, size):
        self.size = size

    def __call__(self, image):
        return functional.interpolate(image[None], self.size, mode="bilinear")[0]


class Compose:
    def __init__(self, steps):
        self.steps = steps

    def __call__(self, sample):
        for step in self.steps:
            sample = step(sample)
        return sample


def open_photo(path):
    return torch.from_numpy(np.random.RandomState(sum(path.encode())).rand(3, 60, 120).astype(np.float32))


mirror = lambda p: lambda image: image.flip(2)
transforms = module("torchvision.transforms", Resize=Resize, Compose=Compose, ToTensor=lambda: lambda image: image, RandomHorizontalFlip=mirror)
module("torchvision", transforms=transforms)
module("PIL", Image=module("PIL.Image", open=open_photo))
module("matplotlib", rcParams={}, pyplot=module("matplotlib.pyplot"))
collections.Mapping, collections.Sequence = collections.abc.Mapping, collections.abc.Sequence  # as in Python 3.9
for part in ("train", "val"):
    for side in ("image_02", "image_03"):
        folder = f"kitti/{part}/drive_1/{side}/data"
        os.makedirs(folder, exist_ok=True)
        for number in range(4):
            open(f"{folder}/{number}.jpg", "w").close()
from main_monodepth_pytorch import Model, return_arguments

np.random.seed(0)
torch.manual_seed(0)
os.makedirs("models", exist_ok=True)
sys.argv = ["main_monodepth_pytorch.py", "kitti/train", "kitti/val", "models/monodepth.pth", "out"]
args = return_arguments()
args.batch_size, args.epochs, args.num_workers = 2, 2, 0  # as the notebook does: on the command line they are strings
args.input_height, args.input_width = 128, 128
model = Model(args)
model.train()
