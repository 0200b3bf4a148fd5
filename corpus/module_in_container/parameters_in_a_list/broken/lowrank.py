import torch
import torch.nn as nn


class LowRank(nn.Module):
    def __init__(self, width, rank, layers):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.down = [nn.Parameter(torch.randn(width, rank) / width) for _ in range(layers)]

    def forward(self, x):
        x = self.first(x)
        for a in self.down:
            x = x + torch.tanh(x @ a) @ a.t()
        return x


if torch.cuda.is_available():
    device = torch.device("cuda")
else:
    device = torch.device("cpu")
torch.manual_seed(19)
model = LowRank(6, 2, 2).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(4):
    x = torch.randn(5, 6).to(device)
    loss = (model(x) - x.flip(1)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
