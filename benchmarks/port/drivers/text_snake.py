import runpy
import sys
import types

import numpy as np
import torch
from torch import nn


class Settings(dict):
    """The dictionary of easydict."""

    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


class Writer:
    def __init__(self, log_path):
        self.log_path = log_path

    def add_scalar(self, name, value, step):
        print(step, name, value)


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, batch_size, shuffle, num_workers):
        super().__init__(dataset, batch_size)  # without a sampler that draws on the default device


class Convolutions(nn.Module):
    """The convolutions of VGG, without its classifier."""

    def __init__(self, features, init_weights):
        super().__init__()
        self.features = features


class Scenes(torch.utils.data.Dataset):
    """Photos with one horizontal line of text each, and its maps."""

    def __init__(self, data_root, ignore_list, is_training, transform):
        self.number, self.seed = (4, 0) if is_training else (2, 10)

    def __len__(self):
        return self.number

    def __getitem__(self, index):
        draw = np.random.RandomState(self.seed + index)
        top, left = draw.randint(8, 24, 2)
        image = draw.randn(3, 64, 64).astype(np.float32)
        train_mask, region, line = np.ones((64, 64), np.uint8), np.zeros((64, 64), np.uint8), np.zeros((64, 64), np.uint8)
        region[top:top + 18, left:left + 32] = 1
        line[top + 6:top + 12, left + 3:left + 29] = 1
        image[:, region == 1] += 1
        train_mask[:4, :4] = 0
        maps = [(line * value).astype(np.float32) for value in (9, 0.1, 0.995)]
        return image, train_mask, region, line, *maps, {"image_id": f"img{index}.jpg"}


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


module("easydict", EasyDict=Settings)
module("tensorboardX", SummaryWriter=Writer)
import dataset.total_text
from network import vgg

torch.manual_seed(0)
vgg.VGG = Convolutions
weights = Convolutions(vgg.make_layers(vgg.cfg["D"]), init_weights=False).state_dict()
torch.utils.model_zoo.load_url = lambda url: weights
dataset.total_text.TotalText = Scenes
torch.utils.data.DataLoader = Loader
sys.argv = ["train_textsnake.py", "tiny", "--batch_size", "2", "--num_workers", "0", "--max_epoch", "2", "--input_size", "64"]
sys.argv += ["--display_freq", "1", "--log_freq", "1"]
runpy.run_path("train_textsnake.py", run_name="__main__")
