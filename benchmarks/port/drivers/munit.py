import contextlib
import json
import os
import runpy
import sys
import types

import torch
import torch.utils.serialization
import yaml


class Pictures(torch.utils.data.Dataset):
    def __init__(self, folder, transform):
        self.seed = len(folder)

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.rand(3, 64, 64, generator=torch.Generator().manual_seed(self.seed * 10 + index)) * 2 - 1


class Board:
    def __init__(self, folder):
        self.folder = folder

    def add_scalar(self, name, value, step):
        print(step, name, float(value))


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


load = yaml.load
yaml.load = lambda stream: load(stream, yaml.SafeLoader)  # as in PyYAML 5
torch.utils.serialization.load_lua = None  # as in PyTorch 0.4
module("tensorboardX", SummaryWriter=Board)
import data

data.ImageFolder = Pictures
torch.manual_seed(0)
settings = {
    "image_save_iter": 2, "image_display_iter": 2, "display_size": 2, "snapshot_save_iter": 2, "log_iter": 1, "max_iter": 2, "batch_size": 1,
    "weight_decay": 0.0001, "beta1": 0.5, "beta2": 0.999, "init": "kaiming", "lr": 0.0001, "lr_policy": "step", "step_size": 100000,
    "gamma": 0.5, "gan_w": 1, "recon_x_w": 10, "recon_s_w": 1, "recon_c_w": 1, "recon_x_cyc_w": 10, "recon_kl_w": 0.01,
    "recon_kl_cyc_w": 0.01, "vgg_w": 0, "input_dim_a": 3, "input_dim_b": 3, "num_workers": 0, "new_size": 64, "crop_image_height": 64,
    "crop_image_width": 64, "data_root": "pictures",
    "gen": {"dim": 8, "mlp_dim": 16, "style_dim": 8, "activ": "relu", "n_downsample": 2, "n_res": 2, "pad_type": "reflect"},
    "dis": {"dim": 8, "norm": "none", "activ": "lrelu", "n_layer": 3, "gan_type": "lsgan", "num_scales": 3, "pad_type": "reflect"},
}
for trainer, gan in (("MUNIT", "lsgan"), ("UNIT", "nsgan")):
    settings["dis"]["gan_type"] = gan
    os.makedirs(trainer, exist_ok=True)
    with open(f"{trainer}.yaml", "w", encoding="utf-8") as file:
        json.dump(settings, file)
    sys.argv = ["train.py", "--config", f"{trainer}.yaml", "--output_path", trainer, "--trainer", trainer]
    with contextlib.suppress(SystemExit):
        runpy.run_path("train.py", run_name="__main__")
