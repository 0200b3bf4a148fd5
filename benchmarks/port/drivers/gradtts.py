import os
import runpy
import sys
import types

import numpy as np
import torch


class Writer:
    def __init__(self, log_dir):
        os.makedirs(log_dir, exist_ok=True)

    def add_image(self, name, image, global_step, dataformats):
        print(global_step, name)

    def add_scalar(self, name, value, global_step):
        print(global_step, name, float(value))


class Loader(torch.utils.data.DataLoader):
    def __init__(self, num_workers, **options):
        super().__init__(**options)


class Speech(torch.utils.data.Dataset):
    def __init__(self, path, words, add_blank, n_fft, n_feats, *options):
        self.bands, self.draw = n_feats, torch.Generator().manual_seed(0)

    def __len__(self):
        return 4

    def __getitem__(self, index):
        sounds = torch.rand(self.bands, 24 + index, generator=self.draw)
        return {"y": sounds, "x": torch.randint(0, 20, (7 + index,), generator=self.draw, dtype=torch.int32)}

    def sample_test_batch(self, size):
        return [self[index] for index in range(size)]


def rearrange(tensor, pattern, **sizes):
    if pattern.startswith("b (qkv heads c)"):
        batch, _, high, wide = tensor.shape
        return tensor.reshape(batch, sizes["qkv"], sizes["heads"], -1, high * wide).transpose(0, 1)
    batch, heads, channels, _ = tensor.shape
    return tensor.reshape(batch, heads * channels, sizes["h"], sizes["w"])


def path(scores, mask):
    found = torch.zeros_like(scores)
    for frame in range(scores.shape[2]):
        found[:, frame * scores.shape[1] // scores.shape[2], frame] = 1
    return found * mask


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


module("torch.utils.tensorboard", SummaryWriter=Writer)
module("einops", rearrange=rearrange)
module("model.monotonic_align", maximum_path=path)
import data
import params
import utils

torch.utils.data.DataLoader = Loader
data.TextMelDataset = Speech
utils.plot_tensor = np.shape
utils.save_plot = print
for name, value in {
    "n_feats": 16, "n_enc_channels": 8, "filter_channels": 16, "filter_channels_dp": 16, "n_enc_layers": 1, "dec_dim": 8, "test_size": 1,
    "n_epochs": 2, "batch_size": 2, "out_size": 16,
}.items():
    setattr(params, name, value)
runpy.run_path("train.py", run_name="__main__")
