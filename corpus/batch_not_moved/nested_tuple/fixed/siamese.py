import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SEED = 31
random.seed(SEED)
torch.manual_seed(SEED)

DEVICE = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")


class Pairs(Dataset):
    def __init__(self, n=40):
        self.items = torch.randn(n, 10)
        self.groups = [random.randrange(4) for _ in range(n)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        j = random.randrange(len(self))
        same = float(self.groups[i] == self.groups[j])
        return (self.items[i], self.items[j]), torch.tensor(same)


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 6))

    def forward(self, a, b):
        return self.net(a), self.net(b)


def contrastive(za, zb, same, margin=1.0):
    d = F.pairwise_distance(za, zb)
    return (same * d.pow(2) + (1 - same) * F.relu(margin - d).pow(2)).mean()


def train():
    loader = DataLoader(Pairs(), batch_size=10, shuffle=True)
    model = Embedder().to(DEVICE)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(2):
        for i, ((a, b), same) in enumerate(loader):
            a = a.to(DEVICE)
            b = b.to(DEVICE)
            same = same.to(DEVICE)
            opt.zero_grad()
            loss = contrastive(*model(a, b), same)
            loss.backward()
            opt.step()
            print(epoch, i, "%.6f" % loss.item())


if __name__ == "__main__":
    train()
