import os
import runpy
import sys
import types

import numpy as np
import torch


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


class Photos(torch.utils.data.Dataset):
    def __init__(self, img_root, txt_root):
        self.draw = np.random.RandomState(0)

    def __len__(self):
        return 8

    def __getitem__(self, index):
        image = self.draw.randint(0, 256, (3, 64, 64)).astype(np.float32)
        score = (self.draw.rand(16, 16, 1) < 0.5).astype(np.float32)
        geometry = self.draw.uniform(0, 30, (16, 16, 5)).astype(np.float32)
        geometry[:, :, 4] = self.draw.uniform(-0.5, 0.5, (16, 16))
        return image, score, geometry, np.ones((16, 16, 1), np.float32)


module("geo_map_cython_lib", gen_geo_map=None)  # these are compiled, for the data and the test
module("lanms", merge_quadrangle_n9=None)
np.RankWarning = np.exceptions.RankWarning  # as in NumPy 1.26
import config
import data_utils
import model

torch.manual_seed(0)
config.train_batch_size_per_gpu, config.num_workers = 2, 0
data_utils.custom_dset = Photos
model.resnet50 = lambda pretrained: model.ResNet(model.Bottleneck, [1, 1, 1, 1])
os.makedirs("result", exist_ok=True)
sys.argv = ["main.py"]
runpy.run_path("main.py", run_name="__main__")
