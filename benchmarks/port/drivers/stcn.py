import os
import runpy
import sys
import types

import numpy as np
import torch
import torchvision


class Repository:
    active_branch = "main"
    head = types.SimpleNamespace(commit=types.SimpleNamespace(hexsha="0"))

    def __init__(self, folder):
        self.folder = folder


class Frames(torch.utils.data.Dataset):
    def __init__(self, root, method):
        self.root = root

    def __len__(self):
        return 1

    def __getitem__(self, index):
        masks = torch.zeros(3, 1, 32, 32)
        for number in range(3):
            left, top = np.random.randint(0, 16, 2)
            masks[number, :, top : top + 16, left : left + 16] = 1
        images = 0.2 * torch.randn(3, 3, 32, 32) + masks
        return {"rgb": images, "gt": masks, "cls_gt": masks[:, 0].long(), "info": {"name": f"{self.root}/{index}"}}


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, batch_size, num_workers, **options):
        super().__init__(dataset, batch_size, **options)


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


module("git", Repo=Repository)
module("torch.utils.tensorboard", SummaryWriter=None)
torchvision.models = types.SimpleNamespace()
import dataset.static_dataset
from model import mod_resnet

mod_resnet.load_weights_sequential = lambda target, state, extra_chan: None
mod_resnet.model_zoo = types.SimpleNamespace(load_url=print)
torchvision.models.resnet50 = lambda pretrained: mod_resnet.ResNet(mod_resnet.Bottleneck, (1, 1, 1, 1), 0)
dataset.static_dataset.StaticTransformDataset = Frames
torch.utils.data.DataLoader = Loader
os.environ.update(MASTER_ADDR="localhost", MASTER_PORT="0", RANK="0", WORLD_SIZE="1")
sys.argv = ["train.py", "--stage", "0", "--batch_size", "2", "--iterations", "4", "--num_workers", "0", "--lr", "0.0001"]
runpy.run_path("train.py", run_name="__main__")
