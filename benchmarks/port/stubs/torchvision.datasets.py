"""Data sets of random images."""

import torch


class _Images(torch.utils.data.Dataset):
    shape = (1, 28, 28)

    def __init__(self, root="", train=True, **options):
        generator = torch.Generator().manual_seed(int(train))
        self.images = torch.rand(16, *self.shape, generator=generator)
        self.labels = torch.randint(0, 10, (16,), generator=generator)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], int(self.labels[index])


class MNIST(_Images):
    """Images of one channel, 28 x 28."""


class CIFAR10(_Images):
    """Images of three channels, 32 x 32."""

    shape = (3, 32, 32)


class ImageFolder(_Images):
    """Images of one channel."""
