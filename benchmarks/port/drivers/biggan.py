import runpy
import sys
import types

import numpy as np
import torch
from torch import nn


class Pictures(torch.utils.data.Dataset):
    def __init__(self, root, transform, load_in_mem, **options):
        draw = torch.Generator().manual_seed(0)
        self.images = torch.rand(32, 3, 32, 32, generator=draw) * 2 - 1
        self.labels = torch.randint(0, 10, (32,), generator=draw)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], int(self.labels[index])


class Inception(nn.Module):
    """As Inception v3, with a channel or two."""

    def __init__(self, pretrained, transform_input):
        super().__init__()
        names = ("Conv2d_1a_3x3", "Conv2d_2a_3x3", "Conv2d_2b_3x3", "Conv2d_3b_1x1", "Conv2d_4a_3x3")
        names += tuple("Mixed_" + each for each in ("5b", "5c", "5d", "6a", "6b", "6c", "6d", "6e", "7a", "7b", "7c"))
        for name in names:
            setattr(self, name, nn.Identity())
        self.Conv2d_1a_3x3 = nn.Conv2d(3, 4, 3, 8)
        self.fc = nn.Linear(4, 10)


class Loader(torch.utils.data.DataLoader):
    def __init__(self, data, num_workers=0, **options):
        super().__init__(data, **options)


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


module("torchvision.models")
module("torchvision.models.inception", inception_v3=Inception)
import torchvision
import utils

torchvision.utils.save_image = lambda images, path, **options: print(path, tuple(images.shape), float(images.mean()))
utils.dset_dict["C10"], utils.DataLoader = Pictures, Loader
np.savez("C10_inception_moments.npz", mu=np.zeros(4), sigma=np.eye(4))
sys.argv = [
    "train.py", "--shuffle", "--batch_size", "4", "--num_epochs", "1", "--num_D_steps", "4", "--G_lr", "2e-4", "--D_lr", "2e-4",
    "--dataset", "C10", "--G_attn", "0", "--D_attn", "0", "--G_init", "N02", "--D_init", "N02", "--ema", "--use_ema", "--ema_start", "1",
    "--test_every", "2", "--save_every", "2", "--G_ch", "2", "--D_ch", "2", "--num_inception_images", "20",
]
runpy.run_path("train.py", run_name="__main__")
