import os
import random
import runpy
import sys
import types

import numpy as np
import torch


class Graph:
    def __init__(self, **options):
        self.options = options

    node = edge = render = lambda self, *values, **options: None


class Loss(torch.nn.NLLLoss):
    def forward(self, outputs, targets):
        return super().forward(outputs, targets).view(1)  # as in PyTorch 0.3, where a loss had one element


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


def read(path, *gray):
    return np.load(path)


def resize(image, size, interpolation=None):
    width, height = size
    rows = np.arange(height) * image.shape[0] // height
    columns = np.arange(width) * image.shape[1] // width
    return image[rows][:, columns]


def flip(image, axis):
    return np.flip(image, axis).copy()


def variable(data, requires_grad=False, volatile=False):
    return data


sys.modules["cv2"] = types.ModuleType("cv2")
vars(sys.modules["cv2"]).update(imread=read, resize=resize, flip=flip, INTER_NEAREST=0)
sys.modules["graphviz"] = types.ModuleType("graphviz")
sys.modules["graphviz"].Digraph = Graph
torch.nn.NLLLoss2d = Loss
torch.autograd.Variable = variable  # without the option volatile, PyTorch no longer has it
torch.utils.data.DataLoader = Loader
import Transforms

scale, crop = Transforms.Scale, Transforms.RandomCropResize
Transforms.Scale = lambda width, height: scale(width // 8, height // 64 * 8)
Transforms.RandomCropResize = lambda area: crop(area // 8)
np.int = int  # as in NumPy 1.23
torch.manual_seed(0)
random.seed(0)
draw = np.random.RandomState(0)
os.makedirs("city", exist_ok=True)
for part, images in (("train", 2), ("val", 1)):
    with open(f"city/{part}.txt", "w", encoding="utf-8") as file:
        for number in range(images):
            np.save(f"city/{part}{number}.npy", draw.randint(0, 256, (64, 128, 3)).astype(np.uint8))
            np.save(f"city/{part}{number}_label.npy", draw.randint(0, 20, (64, 128)).astype(np.uint8))
            file.write(f"{part}{number}.npy,{part}{number}_label.npy\n")
sys.argv = ["main.py", "--max_epochs", "1", "--batch_size", "2", "--inWidth", "64", "--inHeight", "32", "--savedir", "./results"]
runpy.run_path("main.py", run_name="__main__")
