import os
import runpy
import sys
import types

import numpy as np
import torch


class Patches(torch.utils.data.Dataset):
    def __init__(self, train=True):
        self.images = torch.rand(4 if train else 1, 1, 16, 16)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index]


class Writer:
    def __init__(self, folder):
        self.folder = folder

    def add_scalar(self, name, value, step):
        print(step, name, value)

    def add_image(self, name, image, step):
        print(step, name)


def psnr(truth, image, data_range):
    return 10 * np.log10(data_range**2 / ((truth - image) ** 2).mean())


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


def main():
    torch.manual_seed(0)
    np.random.seed(0)
    module("tensorboardX", SummaryWriter=Writer)
    module("skimage")
    module("skimage.measure")
    module("skimage.measure.simple_metrics", compare_psnr=psnr)
    module("dataset", Dataset=Patches, prepare_data=None)
    os.makedirs("logs", exist_ok=True)
    for mode in "SB":
        sys.argv = ["train.py", "--batchSize", "2", "--num_of_layers", "4", "--epochs", "1", "--mode", mode]
        runpy.run_path("train.py", run_name="__main__")


main()
