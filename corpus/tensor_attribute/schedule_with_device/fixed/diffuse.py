import argparse

import torch
from torch import nn


class NoiseScheduler:
    def __init__(self, steps, device):
        self.steps = steps
        self.device = device
        betas = torch.linspace(0.01, 0.2, steps, dtype=torch.float32, device=device)
        alphas = 1.0 - betas
        self.bar = torch.cumprod(alphas, dim=0)
        self.root = self.bar.sqrt()
        self.rest = (1.0 - self.bar).sqrt()

    def pick(self, table, t, shape):
        return table.gather(-1, t).reshape(t.shape[0], *((1,) * (len(shape) - 1)))

    def noisy(self, x, noise, t):
        return self.pick(self.root, t, x.shape) * x + self.pick(self.rest, t, x.shape) * noise


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--iterations", type=int, default=4)
    parser.add_argument("--device", type=str, default="cuda" if torch.cuda.is_available() else "cpu")
    return parser.parse_args()


def train(args):
    torch.manual_seed(5)
    scheduler = NoiseScheduler(args.steps, args.device)
    model = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 1, 3, padding=1)).to(args.device)
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for it in range(args.iterations):
        x = torch.rand(4, 1, 6, 6).to(args.device)
        noise = torch.randn(4, 1, 6, 6).to(args.device)
        t = torch.randint(0, scheduler.steps, (4,)).to(args.device)
        loss = (model(scheduler.noisy(x, noise, t)) - noise).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(it, loss.item())


if __name__ == "__main__":
    train(parse())
