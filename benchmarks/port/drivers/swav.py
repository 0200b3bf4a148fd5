import os
import pickle
import runpy
import sys
import types

import torch
import torch.distributed
from torch import nn


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


class Rates:
    """The layer-wise rates of Apex."""

    def __init__(self, optimizer, trust_coefficient, clip):
        self.optim, self.trust = optimizer, trust_coefficient

    def __getattr__(self, name):
        return getattr(self.optim, name)

    def step(self):
        with torch.no_grad():
            for group in self.optim.param_groups:
                for value in group["params"]:
                    if value.grad is not None and value.norm() != 0 and value.grad.norm() != 0:
                        value.grad.mul_(self.trust * value.norm() / value.grad.norm())
        self.optim.step()


class Rows(dict):
    """A table with the methods of pandas that are used."""

    def __init__(self, columns):
        self.columns, self.index, self.loc = columns, self, self

    def to_pickle(self, path):
        with open(path, "wb") as file:
            pickle.dump(dict(self), file)


class Images:
    def __init__(self, root):
        draw = torch.Generator().manual_seed(0)
        self.pictures = torch.rand(8, 3, 48, 48, generator=draw)
        self.samples = [(number, 0) for number in range(8)]

    def loader(self, number):
        return self.pictures[number]

    def __len__(self):
        return len(self.samples)


class Transform:
    def __init__(self, *args, **options):
        pass

    def __call__(self, image):
        return image


class Compose(Transform):
    def __init__(self, steps):
        self.steps = steps

    def __call__(self, image):
        for step in self.steps:
            image = step(image)
        return image


class Crop(Transform):
    def __init__(self, size, scale):
        self.size = size

    def __call__(self, image):
        top, left = torch.randint(0, 48 - self.size + 1, (2,)).tolist()
        return image[:, top : top + self.size, left : left + self.size]


class Sampler(torch.utils.data.RandomSampler):
    """DistributedSampler with one process."""

    def set_epoch(self, epoch):
        torch.manual_seed(epoch)


class Parallel(nn.Module):
    """DistributedDataParallel with one process."""

    def __init__(self, module, device_ids):
        super().__init__()
        self.module = module

    def forward(self, *inputs):
        return self.module(*inputs)


def alone(args):
    args.rank, args.world_size, args.gpu_to_work_on = 0, 1, 0


module("apex.parallel.LARC", LARC=Rates)
module("apex.parallel", LARC=sys.modules["apex.parallel.LARC"])
module("apex", parallel=sys.modules["apex.parallel"], amp=None)
module("pandas", DataFrame=Rows)
names = ("RandomHorizontalFlip", "ToTensor", "Normalize", "ColorJitter", "RandomApply", "RandomGrayscale")
module("torchvision.transforms", Compose=Compose, RandomResizedCrop=Crop, **dict.fromkeys(names, Transform))
module("torchvision.datasets", ImageFolder=Images)
module("torchvision", transforms=sys.modules["torchvision.transforms"], datasets=sys.modules["torchvision.datasets"])
import src.multicropdataset
import src.resnet50
import src.utils

src.multicropdataset.PILRandomGaussianBlur = Transform
src.resnet50.small = lambda **options: src.resnet50.ResNet(src.resnet50.Bottleneck, [1, 1, 1, 1], width_per_group=16, **options)
src.utils.init_distributed_mode = alone
torch.distributed.all_reduce = lambda values: None  # one process
torch.utils.data.distributed.DistributedSampler = Sampler
nn.parallel.DistributedDataParallel = Parallel
os.makedirs("experiment", exist_ok=True)
crops = ["--nmb_crops", "2", "2", "--size_crops", "32", "16", "--min_scale_crops", "0.14", "0.05", "--max_scale_crops", "1", "0.14"]
model = ["--arch", "small", "--hidden_mlp", "16", "--feat_dim", "8", "--nmb_prototypes", "6"]
queue = ["--queue_length", "8", "--epoch_queue_starts", "1", "--freeze_prototypes_niters", "1"]
steps = ["--epochs", "2", "--warmup_epochs", "0", "--batch_size", "4", "--base_lr", "0.6", "--workers", "0", "--use_fp16", "false"]
sys.argv = ["main_swav.py", "--data_path", "images", "--dump_path", "experiment", *crops, *model, *queue, *steps]
runpy.run_path("main_swav.py", run_name="__main__")
