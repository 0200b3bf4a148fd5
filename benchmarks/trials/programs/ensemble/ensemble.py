import argparse
import logging
import pathlib

import torch
import torch.nn as nn

log = logging.getLogger(__name__)


class Member(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, 2))

    def forward(self, x):
        mean, log_scale = self.net(x).chunk(2, dim=1)
        return mean.squeeze(1), log_scale.squeeze(1).clamp(-3, 3)


class Ensemble(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.members = [Member(width) for width in widths]
        self.trunk = nn.Linear(5, 5)

    def parameters(self, recurse=True):
        yield from self.trunk.parameters()
        for member in self.members:
            yield from member.parameters()

    def forward(self, x):
        x = x + torch.tanh(self.trunk(x))
        return [member(x) for member in self.members]


def nll(outputs, y):
    return sum((s + 0.5 * ((y - m) / s.exp()) ** 2).mean() for m, s in outputs) / len(outputs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--save", type=pathlib.Path, default=pathlib.Path("ensemble"))
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    args.device = torch.device("cuda" if torch.cuda.is_available() and not args.cpu else "cpu")
    torch.manual_seed(88)
    ensemble = Ensemble([6, 8, 10]).to(args.device)
    optimizer = torch.optim.Adam(ensemble.parameters(), lr=0.01, eps=1e-6)
    x = torch.randn(64, 5)
    y = x.sum(1) + 0.2 * torch.randn(64)
    for epoch in range(2):
        for i in torch.randperm(64).split(16):
            loss = nll(ensemble(x[i].to(args.device)), y[i].to(args.device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        log.info("epoch %d nll %.4f", epoch, loss.item())
    for member in ensemble.members:
        member.eval()
    with torch.no_grad():
        means = torch.stack([m for m, _ in ensemble(x.to(args.device))]).cpu()
    log.info("disagreement %.4f", means.std(0).mean())
    args.save.mkdir(exist_ok=True)
    for i, member in enumerate(ensemble.members):
        torch.save(member.state_dict(), args.save / f"member{i}.pt")
    torch.save(means, args.save / "means.pt")


if __name__ == "__main__":
    main()
