import runpy
import sys
import types

import numpy as np
import torch


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


class Images(torch.utils.data.Dataset):
    def __init__(self, part, options):
        self.label = [index // 3 for index in range(9)]
        self.images = torch.randn(9, 3, 32, 32) + torch.tensor(self.label).view(-1, 1, 1, 1)

    def __len__(self):
        return len(self.label)

    def __getitem__(self, index):
        return self.images[index], self.label[index]


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


class Bar(list):
    set_description = staticmethod(print)


class Writer:
    def __init__(self, folder):
        self.folder = folder

    def add_scalar(self, name, value, step):
        print(step, name, value)

    def close(self):
        pass


def transport(supply, demand, kind, cost):
    """Return a plan that moves the supply to the demand, not the cheapest one."""
    plan = (supply @ demand.T / demand.sum()).astype(np.float32)
    return float((plan * cost).sum()), None, plan


module("cv2", EMD=transport, DIST_USER=-1)
module("qpth")
module("qpth.qp", QPFunction=None)
module("tqdm", tqdm=Bar)
module("torch.utils.tensorboard", SummaryWriter=Writer)
module("Models.dataloader.miniimagenet.fcn.mini_imagenet", MiniImageNet=Images)
torch.utils.data.DataLoader = Loader
tasks = ["-gpu", "0", "-max_epoch", "2", "-way", "3", "-shot", "1", "-query", "2"]
sys.argv = ["train_pretrain.py", *tasks, "-bs", "3", "-num_episode", "2"]
runpy.run_path("train_pretrain.py", run_name="__main__")
folder = "checkpoint/pre_train/miniimagenet/3-0.1000-30-0.20/max_acc.pth"
load = torch.load
torch.load = lambda name, **options: load(folder if "resnet12" in name else name, **{"weights_only": False, **options})  # as in PyTorch 2.5
sys.argv = ["train_meta.py", *tasks, "-val_frequency", "2", "-val_episode", "2", "-test_episode", "2"]
runpy.run_path("train_meta.py", run_name="__main__")
