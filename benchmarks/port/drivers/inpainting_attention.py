import os
import runpy
import shutil
import sys
import types

import numpy as np
import torch
import yaml


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


class Photo:
    size = (256, 256)

    def __init__(self, file):
        self.number = int(os.path.basename(file.name)[:-4])

    def convert(self, mode):
        return self


class Loader(torch.utils.data.DataLoader):
    def __init__(self, num_workers, **options):
        super().__init__(**options)


class Writer:
    def __init__(self, logdir):
        self.logdir = logdir

    def add_scalar(self, name, value, step):
        print(step, name, float(value))


def same(shape):
    return lambda photo: photo


def to_tensor(photo):
    return torch.rand(3, 256, 256, generator=torch.Generator().manual_seed(photo.number))


module("PIL", Image=module("PIL.Image", open=Photo))
transforms = module("torchvision.transforms", RandomCrop=same, Resize=same, ToTensor=lambda: to_tensor)
utils = module("torchvision.utils", save_image=lambda images, path, nrow, normalize: None)
module("torchvision", transforms=transforms, utils=utils)
module("tensorboardX", SummaryWriter=Writer)
load = yaml.load
yaml.load = lambda stream: load(stream, yaml.SafeLoader)  # as in PyYAML 5
np.random.seed(0)
torch.utils.data.DataLoader = Loader
shutil.rmtree("checkpoints", ignore_errors=True)
os.makedirs("images/n01440764", exist_ok=True)
for number in range(4):
    open(f"images/n01440764/{number}.jpg", "w", encoding="utf-8").close()
with open("configs/config.yaml", encoding="utf-8") as file:
    settings = yaml.load(file)
settings |= {"train_data_path": os.path.abspath("images"), "batch_size": 2}
settings |= {"gpu_ids": [0], "n_critic": 2, "niter": 4, "print_iter": 1, "viz_iter": 2, "snapshot_save_iter": 4}
settings |= {"netG": {"input_dim": 3, "ngf": 4}, "netD": {"input_dim": 3, "ndf": 4}}
with open("configs/small.yaml", "w", encoding="utf-8") as file:
    yaml.dump(settings, file)
sys.argv = ["train.py", "--config", "configs/small.yaml", "--seed", "0"]
runpy.run_path("train.py", run_name="__main__")
