import argparse

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--no-cuda", action="store_true")
args = parser.parse_args()
args.cuda = not args.no_cuda and torch.cuda.is_available()


def train(net, loader, optimizer, criterion):
    for data, target in loader:
        if args.cuda:
            data = data.cuda()
            target = target.cuda()
        optimizer.zero_grad()
        loss = criterion(net(data), target)
        loss.backward()
        optimizer.step()
        print("loss", loss.item())


torch.manual_seed(1)
net = nn.Sequential(nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 2))
if args.cuda:
    net.cuda()
loader = DataLoader(TensorDataset(torch.randn(20, 6), torch.randint(0, 2, (20,))), batch_size=5)
train(net, loader, torch.optim.Adam(net.parameters()), nn.CrossEntropyLoss())
