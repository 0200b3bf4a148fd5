import torch
from torch import nn


class MoE(nn.Module):
    def __init__(self, dim, n):
        super().__init__()
        self.gate = nn.Linear(dim, n)
        self.experts = nn.ModuleList([nn.Linear(dim, dim) for _ in range(n)])

    def forward(self, x):
        g = self.gate(x).softmax(-1)
        return sum(g[:, i : i + 1] * expert(x) for i, expert in enumerate(self.experts))


def train():
    torch.manual_seed(4)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = MoE(5, 3).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(4):
        x = torch.randn(8, 5, device=device)
        loss = (model(x) - x.flip(1)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


train()
