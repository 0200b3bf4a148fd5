import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from framework import BaseTask


class Regression(BaseTask):
    lr = 5e-2

    def build(self):
        return nn.Linear(4, 1)

    def compute_loss(self, x, y):
        return nn.functional.l1_loss(self.model(x).squeeze(1), y)


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(32, 4)
    Regression().fit(DataLoader(TensorDataset(x, x.sum(1)), batch_size=8, shuffle=True))
