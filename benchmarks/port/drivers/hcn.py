import json
import os
import pickle
import runpy
import sys
import types

import numpy as np
import torch
import tqdm


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


class ConfusionMeter:
    """The meter of torchnet."""

    def __init__(self, k, normalized):
        self.counts = np.zeros((k, k), dtype=int)

    def reset(self):
        self.counts[:] = 0

    def add(self, predicted, target):
        predicted, target = predicted.cpu().numpy().argmax(1), target.cpu().numpy()
        np.add.at(self.counts, (target, predicted), 1)

    def value(self):
        return self.counts / self.counts.sum(1).clip(min=1)[:, None]


class Plot:
    def __init__(self, kind, port, opts, win=None, env=None):
        self.opts = opts

    def log(self, *values):
        print(self.opts["title"], *values)


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


def one(number):
    return random()  # no array, which NumPy 2 no longer makes an integer of


def mean(values):
    return average([float(value[0]) if isinstance(value, list) else value for value in values])  # NumPy now refuses tensors of a GPU


def transposed(self):
    return transpose(self).contiguous()  # as in PyTorch 1.4, where a comparison's result is contiguous


logger = module("torchnet.logger", VisdomPlotLogger=Plot, VisdomLogger=Plot, MeterLogger=Plot)
module("torchnet", meter=types.SimpleNamespace(ConfusionMeter=ConfusionMeter), logger=logger)
average, np.mean = np.mean, mean
random, np.random.rand = np.random.rand, one
transpose, torch.Tensor.t = torch.Tensor.t, transposed
torch.utils.data.DataLoader = Loader
draw = np.random.RandomState(0)
os.makedirs("skeletons/NTU-RGB-D/xview", exist_ok=True)
for part, people in (("train", 8), ("val", 4)):
    path = f"skeletons/NTU-RGB-D/xview/{part}"
    labels = draw.randint(0, 6, people)
    motion = np.sin(np.arange(40)[None, None, :, None, None] * (1 + labels)[:, None, None, None, None] / 8)
    np.save(f"{path}_data.npy", (motion + 0.3 * draw.randn(people, 3, 40, 25, 2)).astype(np.float32))
    np.save(f"{path}_num_frame.npy", draw.randint(30, 41, people))
    with open(f"{path}_label.pkl", "wb") as file:
        pickle.dump(([str(number) for number in range(people)], [int(label) for label in labels]), file)
with open("experiments/NTU-RGB-D-CV/HCN01/params.json", encoding="utf-8") as file:
    params = json.load(file)
params.update(batch_size=4, num_epochs=2, num_workers=0)
params["model_args"].update(out_channel=8, num_class=6)
os.makedirs("experiments/NTU-RGB-D-CV/HCN09/checkpoint", exist_ok=True)
with open("experiments/NTU-RGB-D-CV/HCN09/params.json", "w", encoding="utf-8") as file:
    json.dump(params, file)
sys.argv = ["main.py", "--dataset_dir", "skeletons/", "--num", "09"]
runpy.run_path("main.py", run_name="__main__")
