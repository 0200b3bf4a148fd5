import torch
import torch.nn as nn


class Rotary(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        self.cache = None
        self.temperature = torch.tensor(10.0)

    def angles(self, length, device):
        if self.cache is None or self.cache.size(0) < length or self.cache.device != device:
            steps = torch.arange(length, device=device).float()
            freqs = torch.exp(-torch.arange(0, self.dim, 2, device=device).float() / self.dim)
            self.cache = torch.outer(steps, freqs)
        return self.cache[:length]

    def forward(self, x):
        angles = self.angles(x.size(1), x.device) / self.temperature
        one, two = x.chunk(2, dim=-1)
        return torch.cat([one * angles.cos() - two * angles.sin(), one * angles.sin() + two * angles.cos()], dim=-1)


torch.manual_seed(5)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(3, 8), Rotary(8), nn.Linear(8, 3)).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(4):
    x = torch.randn(4, 6, 3).to(device)
    loss = nn.functional.mse_loss(model(x), x.flip(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 6))
