"""Noise on two moons, and a network that tells it from them: tables, steps and embedding are all made on the CPU."""

import math

import torch
import torch.nn.functional as F
from torch import nn

STEPS = 40


def cosine_schedule(steps, s=0.008):
    x = torch.linspace(0, steps, steps + 1)
    kept = torch.cos(((x / steps) + s) / (1 + s) * math.pi * 0.5) ** 2
    kept = kept / kept[0]
    return torch.clip(1 - kept[1:] / kept[:-1], 0.0001, 0.9999)


betas = cosine_schedule(STEPS)
kept = torch.cumprod(1.0 - betas, dim=0)
root_kept = torch.sqrt(kept)
root_lost = torch.sqrt(1.0 - kept)


def at_step(table, t, like):
    return table.gather(-1, t).reshape(len(t), *((1,) * (like.dim() - 1)))


def noised(x, t, noise):
    return at_step(root_kept, t, x).to(x.device) * x + at_step(root_lost, t, x).to(noise.device) * noise


class StepEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, step):
        half = self.dim // 2
        rates = torch.exp(torch.arange(half, device=step.device) * -(math.log(10000) / (half - 1)))
        angles = step[:, None] * rates[None, :]
        return torch.cat((angles.sin(), angles.cos()), dim=-1)


class Denoiser(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.step = nn.Sequential(StepEmbedding(dim), nn.Linear(dim, dim), nn.SiLU())
        self.enter = nn.Linear(2, dim)
        self.leave = nn.Linear(dim, 2)

    def forward(self, x, t):
        return self.leave(F.silu(self.enter(x) + self.step(t.to(x.device))))


def moons(count):
    angle = torch.rand(count) * math.pi
    return torch.stack((angle.cos(), angle.sin()), dim=1)


torch.manual_seed(11)
device = "cuda" if torch.cuda.is_available() else "cpu"
model = Denoiser().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

for step in range(6):
    optimizer.zero_grad()
    batch = moons(16).to(device)
    t = torch.randint(0, STEPS, (16,))
    noise = torch.randn(16, 2).to(device)
    loss = F.huber_loss(model(noised(batch, t, noise), t), noise)
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.6f}")
