import math

import torch
import torch.nn as nn


def positions(x):
    return torch.arange(x.size(1), device=x.device)


def sinusoid(length, dim):
    pos = torch.arange(length).unsqueeze(1)
    freq = torch.exp(torch.arange(0, dim, 2) * (-math.log(100.0) / dim))
    return torch.cat([torch.sin(pos * freq), torch.cos(pos * freq)], dim=1)


class Net(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.emb = nn.Embedding(12, dim)
        self.pos = nn.Embedding(6, dim)
        self.out = nn.Linear(dim, 12)

    def forward(self, ids):
        x = self.emb(ids) + self.pos(positions(ids))
        x = x + sinusoid(ids.size(1), x.size(2)).type_as(x)
        mask = torch.tril(torch.ones(ids.size(1), ids.size(1))).to(x)
        x = (mask @ x) / mask.sum(1, keepdim=True)
        return self.out(x * x.new_tensor([1.0]) + torch.zeros_like(x))


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Net().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step in range(5):
    ids = torch.randint(0, 12, (8, 6)).to(device)
    loss = nn.functional.cross_entropy(model(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
