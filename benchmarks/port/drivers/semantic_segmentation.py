import ast
import collections
import collections.abc
import runpy
import sys
import types

import numpy as np
import torch
import yaml


class Node(dict):
    """A configuration with the methods of yacs that are used."""

    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__

    def merge(self, values):
        for name, value in values.items():
            if isinstance(value, dict):
                self[name].merge(value)
            else:
                self.put(name, value)

    def put(self, name, value):
        if isinstance(value, str) and not isinstance(self[name], str):
            value = ast.literal_eval(value)
        self[name] = value

    def merge_from_file(self, name):
        with open(name, encoding="utf-8") as file:
            self.merge(yaml.safe_load(file))

    def merge_from_list(self, options):
        for name, value in zip(options[::2], options[1::2], strict=True):
            *parts, last = name.split(".")
            node = self
            for part in parts:
                node = node[part]
            node.put(last, value)


class Scenes:
    """TrainDataset without files: each sample is a batch of one device."""

    def __init__(self, root, odgt, opt, batch_per_gpu):
        self.count, self.classes, self.rate = batch_per_gpu, opt.num_class, opt.segm_downsampling_rate

    def __getitem__(self, index):
        draw = torch.Generator().manual_seed(index)
        labels = torch.randint(-1, self.classes, (self.count, 64 // self.rate, 48 // self.rate), generator=draw)
        return {"img_data": torch.randn(self.count, 3, 64, 48, generator=draw), "seg_label": labels}


class Loader:
    """Batches of one device, which the script itself copies only when there are several devices."""

    def __init__(self, dataset, **options):
        self.dataset = dataset

    def __iter__(self):
        for index in range(100):
            yield async_copy_to(self.dataset[index], 0)


sys.modules["yacs"] = types.ModuleType("yacs")
sys.modules["yacs.config"] = types.ModuleType("yacs.config")
sys.modules["yacs.config"].CfgNode = Node
collections.Mapping, collections.Sequence = collections.abc.Mapping, collections.abc.Sequence  # as in Python 3.9
import mit_semseg.dataset
import mit_semseg.models.mobilenet
from mit_semseg.lib.nn import async_copy_to

np.random.seed(0)
mit_semseg.models.mobilenet.load_url = lambda url: {}
mit_semseg.dataset.TrainDataset = Scenes
torch.utils.data.DataLoader = Loader
settings = {
    "DATASET": {"num_class": 6, "padding_constant": 8, "segm_downsampling_rate": 8},
    "MODEL": {"arch_encoder": "mobilenetv2dilated", "arch_decoder": "c1_deepsup", "fc_dim": 320},
    "TRAIN": {"batch_size_per_gpu": 2, "num_epoch": 1, "epoch_iters": 3, "disp_iter": 1},
    "DIR": "ckpt/small",
}
with open("small.yaml", "w", encoding="utf-8") as file:
    yaml.dump(settings, file)
sys.argv = ["train.py", "--cfg", "small.yaml", "--gpus", "0", "TRAIN.workers", "0"]
runpy.run_path("train.py", run_name="__main__")
