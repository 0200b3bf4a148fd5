import os
import runpy
import sys
import types

import numpy as np
import torch


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


class EasyDict(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


class Faces(torch.utils.data.Dataset):
    def __init__(self, list_file, mode):
        self.images = 4 if mode == "train" else 2

    def __len__(self):
        return self.images

    def __getitem__(self, index):
        draw = np.random.RandomState(index)
        image = draw.randn(3, 128, 128).astype(np.float32)
        boxes = []
        for _ in range(1 + index % 2):
            x, y, size = draw.randint(0, 80), draw.randint(0, 80), draw.randint(16, 48)
            image[:, y : y + size, x : x + size] += 2
            boxes.append([x / 128, y / 128, (x + size) / 128, (y + size) / 128, 1])
        return torch.from_numpy(image), boxes


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, batch_size, num_workers, shuffle, **options):
        super().__init__(dataset, batch_size, **options)


def variable(data, requires_grad=False, volatile=False):
    return data


def subtract(mask, number):
    return ~mask if mask.dtype == torch.bool else difference(mask, number)  # masks were bytes in PyTorch 1.1


difference, torch.Tensor.__rsub__ = torch.Tensor.__rsub__, subtract
os.system = print  # no compilation
module("easydict", EasyDict=EasyDict)
module("wider_test", eval_wider=print)
torch.autograd.Variable = variable  # without the option volatile, PyTorch no longer has it
torch.utils.data.DataLoader = Loader
torch.manual_seed(0)
import data.config
import data.factory
import prepare_wider_data

data.config.cfg.EPOCHES = 2
data.factory.WIDERDetection = Faces
prepare_wider_data.wider_data_file = lambda: None
os.makedirs("logs", exist_ok=True)
sys.argv = ["train.py", "--batch_size", "2"]
runpy.run_path("train.py", run_name="__main__")
