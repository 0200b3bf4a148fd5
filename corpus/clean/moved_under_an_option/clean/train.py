import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Trainer:
    def __init__(self, args):
        self.fast = args.fast
        self.model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)
        if self.fast:
            self.model.cuda()

    def train(self, data):
        target = torch.zeros(8, 1)
        if self.fast:
            target = target.cuda()
        for epoch in range(3):
            for (x,) in DataLoader(data, batch_size=8):
                if self.fast:
                    x = x.cuda()
                loss = (self.model(x) - target).pow(2).mean()
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            print(epoch, round(loss.item(), 4))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fast", type=bool, default=True)
    args = parser.parse_args()
    args.fast = args.fast and torch.cuda.is_available()
    torch.manual_seed(0)
    trainer = Trainer(args)
    trainer.train(TensorDataset(torch.randn(64, 6)))


if __name__ == "__main__":
    main()
