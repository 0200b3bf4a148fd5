import sys

import datasets
import torch


class Images(torch.utils.data.Dataset):
    def __init__(self, split):
        draw = torch.Generator().manual_seed(len(split))
        self.images, self.labels = torch.rand(8, 3, 32, 32, generator=draw), torch.randint(0, 10, (8,), generator=draw)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], int(self.labels[index])


view = torch.Tensor.view
torch.Tensor.view = lambda self, *shape: view(self.contiguous(), *shape)  # as in PyTorch 1.2
torch.manual_seed(0)
sys.argv = [
    "train.py", "cifar10", "cifar_resnet20", "small", "--batch", "4", "--epochs", "1", "--noise_sd", "0.25", "--workers", "0",
    "--print-freq", "1",
]
import train

train.get_dataset = lambda name, split: Images(split)
train.main()

import core

core.binom_test = lambda count, number, p: 1.0 / number
net = train.get_architecture("cifar_resnet20", "cifar10")
smooth = core.Smooth(net, 10, 0.25)
print(smooth.predict(Images("test")[0][0].cuda(), 6, 0.5, 3))
