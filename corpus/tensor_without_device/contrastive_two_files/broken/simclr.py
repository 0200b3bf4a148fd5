import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from losses import info_nce_loss


class TwoViews(Dataset):
    def __init__(self):
        self.base = torch.randn(16, 6, generator=torch.Generator().manual_seed(0))

    def __len__(self):
        return len(self.base)

    def __getitem__(self, index):
        row = self.base[index]
        return [row, row.flip(0)], index


class SimCLR(object):
    def __init__(self, model, optimizer, args):
        self.args = args
        self.model = model.to(self.args.device)
        self.optimizer = optimizer
        self.criterion = nn.CrossEntropyLoss().to(self.args.device)

    def train(self, train_loader):
        for epoch in range(self.args.epochs):
            for images, _ in train_loader:
                images = torch.cat(images, dim=0)
                images = images.to(self.args.device)
                features = self.model(images)
                logits, labels = info_nce_loss(features, 2, self.args.temperature)
                loss = self.criterion(logits, labels)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                print(f"Epoch: {epoch}\tLoss: {loss.item():.5f}")


def main():
    parser = argparse.ArgumentParser(description="PyTorch SimCLR")
    parser.add_argument("--epochs", default=2, type=int)
    parser.add_argument("--temperature", default=0.5, type=float)
    parser.add_argument("--seed", default=3, type=int)
    args = parser.parse_args()
    args.device = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")
    torch.manual_seed(args.seed)
    model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 4))
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    loader = DataLoader(TwoViews(), batch_size=8, shuffle=True, drop_last=True)
    SimCLR(model, optimizer, args).train(loader)


if __name__ == "__main__":
    main()
