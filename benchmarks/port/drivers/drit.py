import sys
import types

import saver
import torch
import train


class Pictures(torch.utils.data.Dataset):
    def __init__(self, options):
        self.size = options.crop_size

    def __len__(self):
        return 5

    def __getitem__(self, index):
        draw = torch.Generator().manual_seed(index)
        return torch.rand(2, 3, self.size, self.size, generator=draw).mul(2).sub(1).unbind()


class Board:
    def __init__(self, logdir):
        self.folder = logdir

    def add_image(self, name, image, step):
        print(step, name, float(image.mean()))

    def add_scalar(self, name, value, step):
        print(step, name, value)


class Adam(torch.optim.Adam):
    def step(self):
        weights = tuple(weight for group in self.param_groups for weight in group["params"])
        with torch.autograd._unsafe_preserve_version_counter(weights):  # as in PyTorch 1.4
            super().step()


def grid(images, nrow):
    return images[:nrow].flatten(0, 1)


def save(images, path, nrow):
    print(path, float(images.mean()))


torch.optim.Adam = Adam
train.dataset_unpair = Pictures
saver.SummaryWriter = Board
saver.torchvision = types.SimpleNamespace(utils=types.SimpleNamespace(make_grid=grid, save_image=save))
torch.manual_seed(0)
sys.argv = [
    "train.py", "--dataroot", "data", "--crop_size", "212", "--nThreads", "0", "--n_ep", "1", "--img_save_freq", "1", "--model_save_freq", "1",
]
train.main()
