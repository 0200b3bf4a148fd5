import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width, tasks):
        super().__init__()
        self.blocks = nn.ModuleList([nn.ModuleList([nn.Linear(width, width), nn.LayerNorm(width)]) for _ in range(2)])
        self.extra = nn.ModuleList()
        self.extra.append(nn.Linear(width, width))
        self.extra.extend(nn.Linear(width, width) for _ in range(2))
        self.heads = nn.ModuleDict()
        for task in tasks:
            self.heads[task] = nn.Linear(width, 1)
        self.scales = nn.ParameterList([nn.Parameter(torch.ones(width)) for _ in range(2)])

    def forward(self, x):
        for (linear, norm), scale in zip(self.blocks, self.scales):
            x = x + norm(linear(x)) * scale
        for layer in self.extra[1:]:
            x = torch.relu(layer(x))
        return {task: head(x) for task, head in self.heads.items()}


torch.manual_seed(11)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = Net(4, ["a", "b"]).to(device)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(4):
    x = torch.randn(6, 4).to(device)
    out = net(x)
    loss = (out["a"] - out["b"] - x[:, :1]).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
