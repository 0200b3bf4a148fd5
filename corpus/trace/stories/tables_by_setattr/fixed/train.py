import argparse
import collections

import torch
import torch.nn.functional as F

from pyramid import Pyramid


def prior(labels):
    counts = collections.Counter(labels)
    return torch.tensor([len(labels) / counts[k] for k in sorted(counts)])


def run(args):
    torch.manual_seed(args.seed)
    args.device = "cuda" if torch.cuda.is_available() and not args.no_cuda else "cpu"
    net = Pyramid().to(args.device)
    opt = torch.optim.Adam(net.parameters(), lr=args.lr)
    data = torch.randn(32, 8, 6)
    labels = data.mean(1)[:, :3].argmax(1)
    extra = {"weight": prior(labels.tolist()).to(args.device)}
    for epoch in range(args.epochs):
        for x, y in zip(data.split(8), labels.split(8)):
            x, y = x.to(args.device), y.to(args.device)
            loss = F.cross_entropy(net(x), y, **extra)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(epoch, loss.item())


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--seed", type=int, default=4)
    p.add_argument("--lr", type=float, default=1e-2)
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--no-cuda", action="store_true")
    run(p.parse_args())
