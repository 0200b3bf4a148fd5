import os
import runpy
import sys
import types

import torch


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


class Node(types.SimpleNamespace):
    """The settings of training.yml, on small images."""

    def merge_from_file(self, name):
        self.GPU = [0, 1, 2, 3]
        self.MODEL = Node(MODE="Deraining", SESSION="MPRNet")
        self.OPTIM = Node(BATCH_SIZE=2, NUM_EPOCHS=2, LR_INITIAL=2e-4, LR_MIN=1e-6)
        self.TRAINING = Node(
            VAL_AFTER_EVERY=1, RESUME=False, TRAIN_PS=32, VAL_PS=32, TRAIN_DIR="train", VAL_DIR="test", SAVE_DIR="checkpoints"
        )

    def __getattr__(self, name):
        if name in ("merge_from_list", "freeze"):
            return lambda *options: None
        if name in vars(self):
            return vars(self)[name]
        raise AttributeError(name)


class Pairs(torch.utils.data.Dataset):
    def __init__(self, folder, options):
        self.size = options["patch_size"]

    def __len__(self):
        return 4

    def __getitem__(self, index):
        clean = torch.rand(3, self.size, self.size)
        return clean, clean * 0.9, str(index), str(index)


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


def add(values, *options, **more):
    return sum(values) if isinstance(values, list) else total(values, *options, **more)


module("yacs")
module("yacs.config", CfgNode=Node)
module("natsort", natsorted=sorted)
sys.path.append(os.path.join(os.pardir, "pytorch-gradual-warmup-lr"))
import data_RGB
import MPRNet

torch.manual_seed(0)
total, torch.sum = torch.sum, add  # the script adds lists of tensors with it
data_RGB.get_training_data = data_RGB.get_validation_data = Pairs
torch.utils.data.DataLoader = Loader
MPRNet.MPRNet.__init__.__defaults__ = 3, 3, 8, 4, 4, 1, 3, 4, False  # fewer channels and blocks
runpy.run_path("train.py", run_name="__main__")
