"""Tensors that are made on the CPU and brought along in time, in five ways."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def causal_mask(n):
    return torch.tril(torch.ones(n, n)).bool()


def grid(n):
    a, b = torch.meshgrid(torch.arange(n), torch.arange(n), indexing="ij")
    return torch.stack([a, b], dim=-1).reshape(-1, 2).float()


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 6)
        self.register_buffer("scale", torch.linspace(0.5, 1.0, 6))

    def forward(self, x, mask):
        h = self.fc(x) * self.scale
        weights = (h @ h.T).masked_fill(~mask, float("-inf")).softmax(dim=-1)
        bias = torch.zeros(6).type_as(h)
        return weights @ h + bias + torch.arange(6).to(h)


model = Block().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
points = grid(3).to(device)
mask = causal_mask(9).to(points.device)
targets = torch.zeros(9, dtype=torch.long)
targets[4:] = 1
targets = targets.to(device)

for step in range(3):
    noise = torch.randn(9, 2)
    noise = 0.1 * noise
    loss = F.cross_entropy(model(points + noise.to(points), mask), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
