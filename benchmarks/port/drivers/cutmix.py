import sys

import numpy as np
import torch
import torchvision

np.int = int  # removed from NumPy 1.24
torchvision.datasets.CIFAR100 = torchvision.datasets.CIFAR10
view = torch.Tensor.view
torch.Tensor.view = lambda self, *shape: view(self.contiguous(), *shape)  # as in PyTorch 1.6
import train  # noqa: E402

torch.manual_seed(0)
np.random.seed(0)
sys.argv = [
    "train.py", "--net_type", "pyramidnet", "--dataset", "cifar10", "--depth", "11", "--alpha", "8", "--batch_size", "6",
    "--epochs", "1", "--beta", "1.0", "--cutmix_prob", "0.7", "--no-verbose", "-j", "0",
]  # fmt: skip
train.main()
