import os
import random
import runpy
import sys
import types
import warnings

import numpy as np
import torch
from torch import nn

warnings.simplefilter("ignore")


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


def vgg19(pretrained):
    layers, inputs = [], 3
    for outputs in (4, 4, 0, 8, 8, 0, 8, 8, 8, 8, 0, 16, 16, 16, 16, 0, 16, 16, 16, 16, 0):
        layers += [nn.Conv2d(inputs, outputs, 3, padding=1), nn.ReLU(inplace=True)] if outputs else [nn.MaxPool2d(2)]
        inputs = outputs or inputs
    return types.SimpleNamespace(features=nn.Sequential(*layers))


random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
module("dill")
module("dominate")
module("dominate.tags")
module("scipy")
module("scipy.misc")
module("PIL", Image=types.SimpleNamespace(BICUBIC=3, NEAREST=0))
module("torchvision", models=types.SimpleNamespace(vgg19=vgg19))
module("torchvision.transforms")
import data.base_dataset


class FacesDataset(data.base_dataset.BaseDataset):
    def __len__(self):
        return 3

    def __getitem__(self, index):
        label = torch.zeros(1, 64, 64)
        label[:, 8:56, 12:52], label[:, 20:30, 20:44], label[:, 40:46, 24 + index : 40] = 1, 2, 3
        image = (label - 1.5) / 1.5 + 0.1 * torch.randn(3, 64, 64)
        return {"label": label, "instance": 0, "image": image, "path": f"{index}.png"}


module("data.faces_dataset", FacesDataset=FacesDataset)
sys.argv = ["train.py", "--name", "faces", "--dataset_mode", "faces", "--load_size", "64", "--crop_size", "64", "--label_nc", "4", "--no_instance"]
sys.argv += ["--no_TTUR", "--batchSize", "1", "--ngf", "4", "--ndf", "8", "--niter", "1", "--niter_decay", "0", "--print_freq", "1", "--nThreads", "0", "--no_html", "1"]
os.makedirs("checkpoints", exist_ok=True)
runpy.run_path("train.py", run_name="__main__")
