import random

import dataloaders.base
import iBatchLearn
import numpy as np
import torch


class Digits(torch.utils.data.Dataset):
    root = "."

    def __init__(self, root, train=True, transform=None, download=False):
        draw = torch.Generator().manual_seed(int(train))
        self.images, self.labels = torch.rand(8, 1, 32, 32, generator=draw), [0, 1, 2, 3] * 2
        self.__class__ = type("Train" if train else "Test", (Digits,), {})

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        if index >= len(self.images):
            raise IndexError(index)
        return self.images[index], self.labels[index]


dataloaders.base.torchvision.datasets.MNIST = Digits
for agent, name in (("default", "NormalNN"), ("regularization", "EWC"), ("regularization", "SI")):
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    options = ["--force_out_dim", "0", "--schedule", "1", "--batch_size", "4", "--workers", "0", "--print_freq", "1"]
    args = iBatchLearn.get_args([*options, "--agent_type", agent, "--agent_name", name])
    args.reg_coef = 10.0
    print(iBatchLearn.run(args))
