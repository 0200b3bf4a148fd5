import importlib
import os
import sys
import types

import torch
from torch import nn


class Photos(torch.utils.data.Dataset):
    def __init__(self, mode, transform, target_transform):
        self.seed = len(mode)

    def __len__(self):
        return 2

    def __getitem__(self, index):
        draw = torch.Generator().manual_seed(self.seed * 10 + index)
        return torch.randn(3, 32, 32, generator=draw), torch.randint(0, 21, (32, 32), generator=draw)


class Loader(torch.utils.data.DataLoader):
    def __init__(self, data, num_workers=0, **options):
        super().__init__(data, **options)


class Board:
    def __init__(self, folder):
        self.folder = folder

    def add_image(self, name, image):
        print(name)

    def add_scalar(self, name, value, step):
        print(step, name, value)


class Vgg(nn.Module):
    def __init__(self):
        super().__init__()
        layers, before = [], 3
        for width, number in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
            for _ in range(number):
                layers += [nn.Conv2d(before, width, 3, padding=1), nn.ReLU(inplace=True)]
                before = width
            layers.append(nn.MaxPool2d(2, 2))
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(nn.Linear(512 * 7 * 7, 4096), nn.ReLU(), nn.Dropout(), nn.Linear(4096, 4096))

    def load_state_dict(self, state):
        print("pretrained weights:", len(state))


def compose(steps):
    return lambda picture: standard_transforms.Anything() if isinstance(picture, torch.Tensor) else torch.zeros(3, 4, 4)


def plateau(optimizer, mode, verbose, **options):
    return torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode, **options)  # as in PyTorch 2.6


root = os.path.abspath(os.path.join("..", ".."))
sys.path.append(root)
sys.modules["tensorboard"] = types.ModuleType("tensorboard")
sys.modules["tensorboard"].SummaryWriter = Board
sys.modules["segmentation"] = types.ModuleType("segmentation")
sys.modules["segmentation"].__path__ = [root]
sys.modules["models"] = importlib.import_module("segmentation.models")
import torchvision.models
import torchvision.transforms as standard_transforms
import train

get = torch.Tensor.__getitem__
torch.Tensor.__getitem__ = lambda self, index: self.item() if isinstance(index, int) and not self.dim() else get(self, index)  # as in PyTorch 0.3
torch.save({}, "vgg16.pth")
sys.modules["segmentation.models.fcn8s"].vgg16_path = "vgg16.pth"
torchvision.models.vgg16 = Vgg
standard_transforms.Compose = compose
train.voc.VOC, train.DataLoader, train.ReduceLROnPlateau = Photos, Loader, plateau
torch.manual_seed(0)
train.args.update(epoch_num=1, lr=1e-4, print_freq=1, val_img_sample_rate=1)
train.main(train.args)
