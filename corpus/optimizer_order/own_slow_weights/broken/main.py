import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

from ranger import MiniRanger

parser = argparse.ArgumentParser(description='MiniRanger on toy data')
parser.add_argument('--no-cuda', dest='cuda', action='store_false')
parser.add_argument('--epochs', default=2, type=int)
args = parser.parse_args()
args.cuda = args.cuda and torch.cuda.is_available()


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 12), nn.ReLU(), nn.Linear(12, 3))
    optimizer = MiniRanger(model.parameters(), lr=0.05, k=2)
    if args.cuda:
        model.cuda()

    for epoch in range(args.epochs):
        for it in range(4):
            x = torch.randn(24, 3)
            y = x.argmax(dim=1)
            if args.cuda:
                x, y = x.cuda(), y.cuda()
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print('Epoch %d it %d loss %.6f' % (epoch, it, loss.item()))


main()
