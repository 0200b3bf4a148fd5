import os
import runpy
import sys

import augmentations
import numpy as np
import torch
import torchvision


class Photos(torch.utils.data.Dataset):
    def __init__(self, root, train, transform, download):
        draw = np.random.RandomState(int(train))
        self.train, self.transform = train, transform
        self.data, self.targets = draw.randint(0, 256, (8, 32, 32, 3)).astype(np.uint8), draw.randint(0, 10, 8)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        image = self.data[index]
        return (image if self.train else self.transform(image)), int(self.targets[index])


def compose(steps):
    return lambda image: torch.from_numpy(image.copy()).permute(2, 0, 1).float() / 128 - 1


def flip(image, severity):
    return image[:, ::-1]


def move(image, severity):
    return np.roll(image, severity, axis=0)


augmentations.augmentations = [flip, move]
torchvision.transforms.Compose = compose
torchvision.datasets.CIFAR10 = Photos
folder = "data/cifar/CIFAR-10-C/"
os.makedirs(folder)
draw = np.random.RandomState(2)
for name in (
    "gaussian_noise", "shot_noise", "impulse_noise", "defocus_blur", "glass_blur", "motion_blur", "zoom_blur", "snow", "frost", "fog",
    "brightness", "contrast", "elastic_transform", "pixelate", "jpeg_compression",
):  # fmt: skip
    np.save(folder + name + ".npy", draw.randint(0, 256, (4, 32, 32, 3)).astype(np.uint8))
np.save(folder + "labels.npy", draw.randint(0, 10, 4))
sys.argv = [
    "cifar.py", "--layers", "10", "--widen-factor", "1", "--batch-size", "4", "--eval-batch-size", "4", "--num-workers", "0",
    "--epochs", "2", "--print-freq", "1",
]  # fmt: skip
runpy.run_path("cifar.py", run_name="__main__")
