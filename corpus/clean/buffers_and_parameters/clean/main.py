import torch
from torch import nn


class Memory(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.fc = nn.Linear(width, width)
        self.register_buffer("scale", torch.linspace(0.5, 1.5, width))
        self.register_buffer("state", None, persistent=False)
        self.shift = nn.Parameter(torch.ones(width), requires_grad=False)
        self.tied = self.fc.weight
        self.state = torch.zeros(1, width)

    def forward(self, x):
        out = torch.tanh(self.fc(x) * self.scale + self.shift + self.state) @ self.tied
        self.state = out.detach().mean(0, keepdim=True)
        return out


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Memory().to(device)
optimizer = torch.optim.Adam((p for p in model.parameters() if p.requires_grad), lr=1e-2)
for step in range(4):
    x = torch.randn(6, 4).to(device)
    loss = (model(x) - x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
