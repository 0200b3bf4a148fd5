import torch
from torch import nn


class Experts(nn.Module):
    def __init__(self, width, count):
        super().__init__()
        self.gate = nn.Linear(width, count)
        self.experts = [nn.Linear(width, width) for _ in range(count)]

    def to(self, *args, **kwargs):
        for expert in self.experts:
            expert.to(*args, **kwargs)
        return super().to(*args, **kwargs)

    def forward(self, x):
        weights = self.gate(x).softmax(-1)
        return sum(weights[:, i : i + 1] * expert(x) for i, expert in enumerate(self.experts))


class Heads(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.heads = {"a": nn.Linear(width, 1), "b": nn.Linear(width, 1)}

    def forward(self, x):
        x = self.norm(x)
        return torch.cat([head(x) for head in self.heads.values()], dim=1)


torch.manual_seed(10)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
experts = Experts(4, 3).to(device)
heads = Heads(4).to(device)
for head in heads.heads.values():
    head.to(device)
modules = [experts, heads, *experts.experts, *heads.heads.values()]
optimizer = torch.optim.Adam([p for module in modules for p in module.parameters()], lr=1e-2)
for step in range(4):
    x = torch.randn(6, 4).to(device)
    loss = (heads(experts(x)) - x[:, :2]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
