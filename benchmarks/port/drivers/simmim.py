import ast
import copy
import os
import runpy
import sys
import types

import torch
import torchvision
import yaml
from torch import nn


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


class Settings(dict):
    """The configuration of yacs."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __setattr__(self, name, value):
        self[name] = value

    def merge(self, values):
        for name, value in values.items():
            if isinstance(value, dict):
                self[name].merge(value)
            else:
                self[name] = value

    def merge_from_file(self, name):
        with open(name, encoding="utf-8") as file:
            self.merge(yaml.safe_load(file))

    def merge_from_list(self, options):
        for name, value in zip(options[::2], options[1::2], strict=True):
            part = self
            *parts, name = name.split(".")
            for other in parts:
                part = part[other]
            part[name] = ast.literal_eval(value)

    def clone(self):
        return Settings({name: value.clone() if isinstance(value, Settings) else copy.copy(value) for name, value in self.items()})

    def __reduce__(self):
        return dict, (dict(self),)

    def dump(self):
        return str(dict(self))

    def freeze(self):
        pass

    defrost = freeze


class AverageMeter:
    def __init__(self):
        self.val, self.sum, self.count = 0, 0, 0

    def update(self, value, count=1):
        self.val = value
        self.sum += value * count
        self.count += count

    avg = property(lambda self: self.sum / self.count)


class DropPath(nn.Module):
    def __init__(self, drop_prob):
        super().__init__()
        self.keep = 1 - drop_prob

    def forward(self, x):
        if not self.training:
            return x
        kept = x.new_empty((len(x),) + (1,) * (x.ndim - 1)).bernoulli_(self.keep)
        return x * kept / self.keep


class Scheduler:
    """The base class of the schedulers of timm."""

    def __init__(self, optimizer, param_group_field, **options):
        self.optimizer, self.field = optimizer, param_group_field
        self.base_values = [group[self.field] for group in optimizer.param_groups]

    def update_groups(self, values):
        for number, group in enumerate(self.optimizer.param_groups):
            group[self.field] = values[number] if isinstance(values, list) else values

    def step_update(self, number):
        self.update_groups(self.get_update_values(number))

    def state_dict(self):
        return {"base_values": self.base_values}


class Images(torch.utils.data.Dataset):
    def __init__(self, folder, transform):
        self.images = torch.rand(8, 3, 64, 64)
        self.transform = transform

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.transform(self.images[index]), 0


module("yacs")
module("yacs.config", CfgNode=Settings)
module("timm")
module("timm.utils", AverageMeter=AverageMeter)
module("timm.models")
module("timm.models.layers", DropPath=DropPath, to_2tuple=lambda value: (value, value), trunc_normal_=nn.init.trunc_normal_)
module("timm.data", IMAGENET_DEFAULT_MEAN=(0.485, 0.456, 0.406), IMAGENET_DEFAULT_STD=(0.229, 0.224, 0.225), Mixup=None, create_transform=None)
module("timm.data.constants", **vars(sys.modules["timm.data"]))
module("timm.data.transforms", _pil_interp=None)
module("timm.scheduler")
module("timm.scheduler.cosine_lr", CosineLRScheduler=None)
module("timm.scheduler.step_lr", StepLRScheduler=None)
module("timm.scheduler.scheduler", Scheduler=Scheduler)
module("termcolor", colored=lambda text, color: text)
torchvision.datasets.ImageFolder = Images
torchvision.transforms.Compose = lambda steps: lambda image: image
settings = {
    "MODEL": {
        "TYPE": "swin", "NAME": "simmim_pretrain", "DROP_PATH_RATE": 0.1,
        "SWIN": {"EMBED_DIM": 8, "DEPTHS": [1, 2, 1, 1], "NUM_HEADS": [1, 2, 2, 4], "WINDOW_SIZE": 2},
    },
    "DATA": {"IMG_SIZE": 64, "MASK_PATCH_SIZE": 32, "MASK_RATIO": 0.6, "NUM_WORKERS": 0},
    "TRAIN": {
        "EPOCHS": 2, "WARMUP_EPOCHS": 1, "BASE_LR": 0.1, "AUTO_RESUME": False,
        "LR_SCHEDULER": {"NAME": "multistep", "GAMMA": 0.1, "MULTISTEPS": [2]},
    },
    "PRINT_FREQ": 1,
}
with open("small.yaml", "w", encoding="utf-8") as file:
    yaml.dump(settings, file)
os.environ.update(MASTER_ADDR="localhost", MASTER_PORT="0", RANK="0", WORLD_SIZE="1")
sys.argv = ["main_simmim.py", "--cfg", "small.yaml", "--batch-size", "4", "--data-path", "images", "--amp-opt-level", "O0", "--local_rank", "0"]
runpy.run_path("main_simmim.py", run_name="__main__")
