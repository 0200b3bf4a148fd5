"""Wasserstein GAN on a ring of points."""
import argparse
import math

import torch
import torch.nn as nn
from torch import autograd
from torch.utils.data import DataLoader, Dataset


class Ring(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, i):
        a = 2 * math.pi * i / 64
        return torch.tensor([math.cos(a), math.sin(a)])


class Generator(nn.Module):
    def __init__(self, nz):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(nz, 16), nn.ReLU(), nn.Linear(16, 2))

    def forward(self, z):
        return self.main(z)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))

    def forward(self, x):
        return self.main(x)


def endless(loader):
    while True:
        for batch in loader:
            yield batch


def gradient_penalty(critic, real, fake):
    alpha = torch.rand(real.size(0), 1).to(fake.device)
    mix = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    grad = autograd.grad(critic(mix).sum(), mix, create_graph=True)[0]
    return ((grad.norm(2, dim=1) - 1) ** 2).mean()


def main(opt):
    torch.manual_seed(opt.manual_seed)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    netG = Generator(opt.nz).to(device)
    netD = Critic().to(device)
    optG = torch.optim.Adam(netG.parameters(), lr=1e-3, betas=(0.5, 0.9))
    optD = torch.optim.Adam(netD.parameters(), lr=1e-3, betas=(0.5, 0.9))

    data = endless(DataLoader(Ring(), batch_size=16, shuffle=True))
    for it in range(opt.iters):
        for _ in range(2):
            real = next(data)
            z = torch.randn(real.size(0), opt.nz).to(device)
            fake = netG(z).detach()
            lossD = netD(fake).mean() - netD(real).mean() + 10 * gradient_penalty(netD, real, fake)
            optD.zero_grad()
            lossD.backward()
            optD.step()

        z = torch.randn(16, opt.nz).to(device)
        lossG = -netD(netG(z)).mean()
        optG.zero_grad()
        lossG.backward()
        optG.step()
        print(f"[{it}/{opt.iters}] Loss_D: {lossD.item():.4f} Loss_G: {lossG.item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--iters", type=int, default=4)
    parser.add_argument("--nz", type=int, default=4)
    parser.add_argument("--manual-seed", type=int, default=1)
    main(parser.parse_args())
