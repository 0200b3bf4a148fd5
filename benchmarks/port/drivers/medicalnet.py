import os
import random
import runpy
import sys
import types

import numpy as np
import torch


class Volume:
    def __init__(self, path):
        self.values = np.load(path)

    def get_data(self):
        return self.values


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


def zoom(volume, scale, order):
    volume = np.asarray(volume)
    sizes = [int(round(size * factor)) for size, factor in zip(volume.shape, scale)]
    places = [np.minimum(np.arange(new) * old // new, old - 1) for new, old in zip(sizes, volume.shape)]
    return volume[np.ix_(*places)]


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


module("nibabel", load=Volume)
module("scipy.ndimage", interpolation=types.SimpleNamespace(zoom=zoom))
module("scipy", ndimage=sys.modules["scipy.ndimage"])
from models import resnet

np.random.seed(0)
random.seed(0)
torch.manual_seed(0)
torch.utils.data.DataLoader = Loader
draw = np.random.RandomState(1)
os.makedirs("data", exist_ok=True)
with open("data/train.txt", "w", encoding="utf-8") as file:
    for number in range(2):
        volume, mask = np.zeros((16, 32, 32)), np.zeros((16, 32, 32))
        volume[2:14, 4:28, 4:28] = draw.rand(12, 24, 24) + 0.1
        mask[4:11, 8:22, 8:22] = 1
        np.save(f"data/{number}.npy", volume)
        np.save(f"data/{number}_mask.npy", mask)
        file.write(f"{number}.npy {number}_mask.npy\n")
sizes = ["--model_depth", "10", "--input_D", "16", "--input_H", "32", "--input_W", "32"]
net = resnet.resnet10(sample_input_D=16, sample_input_H=32, sample_input_W=32, num_seg_classes=2)
weights = {"module." + name: value for name, value in net.state_dict().items() if "conv_seg" not in name}
os.makedirs("pretrain", exist_ok=True)
torch.save({"state_dict": weights}, "pretrain/resnet_10.pth")
options = ["--pretrain_path", "pretrain/resnet_10.pth", "--gpu_id", "0", "--n_epochs", "2", "--save_intervals", "1"]
sys.argv = ["train.py", *sizes, *options]
runpy.run_path("train.py", run_name="__main__")
