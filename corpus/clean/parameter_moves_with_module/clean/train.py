import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Parameter(torch.randn(4))
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x):
        return (x - self.mean) * torch.sigmoid(self.gate.to(x.dtype))


torch.manual_seed(2)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
gate = Gate().to(device)
optimizer = torch.optim.SGD(gate.parameters(), lr=0.1)
for step in range(4):
    x = torch.randn(5, 4).to(device)
    loss = (gate(x) - x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
