import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

from ranger import Ranger


class Mish(nn.Module):
    def forward(self, x):
        return x * torch.tanh(nn.functional.softplus(x))


def mxresnet(c_out=4):
    return nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), Mish(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, c_out))


class Learner:
    def __init__(self, data, model, opt_func, loss_func):
        self.data = data
        self.model = model
        self.opt = opt_func(self.model.parameters())
        self.loss_func = loss_func

    def to_gpu(self):
        if torch.cuda.is_available():
            self.model.cuda()
        return self

    def fit(self, epochs):
        device = next(self.model.parameters()).device
        for epoch in range(epochs):
            self.model.train()
            for xb, yb in self.data:
                loss = self.loss_func(self.model(xb.to(device)), yb.to(device))
                loss.backward()
                self.opt.step()
                self.opt.zero_grad()
                print(epoch, round(loss.item(), 4))


if __name__ == '__main__':
    torch.manual_seed(0)
    x = torch.randn(12, 3, 8, 8)
    dl = DataLoader(TensorDataset(x, (x.mean((1, 2, 3)) * 40).long() % 4), batch_size=4, shuffle=True)
    model = mxresnet()
    learn = Learner(dl, model, lambda params: Ranger(params, lr=4e-3, k=2), nn.CrossEntropyLoss())
    learn.to_gpu()
    learn.fit(2)
