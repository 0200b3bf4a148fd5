import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)


class Trainer:
    def __init__(self, net):
        self.net = net
        self.on_gpu = torch.cuda.is_available()
        if self.on_gpu:
            self.net.cuda()
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def train(self, loader):
        for (x,) in loader:
            if self.on_gpu:
                x = x.cuda()
            loss = (self.net(x) - x).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            print("loss", loss.item())


Trainer(nn.Sequential(nn.Linear(6, 3), nn.ReLU(), nn.Linear(3, 6))).train(
    DataLoader(TensorDataset(torch.randn(16, 6)), batch_size=4)
)
