"""Train a regressor and evaluate an exponential moving average of its weights, a copy of the whole model."""
import copy

import torch
from torch import nn

torch.manual_seed(11)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.BatchNorm1d(24))
        self.head = nn.Linear(24, 1)

    def forward(self, x):
        return self.head(self.body(x)).squeeze(1)


class Average:
    def __init__(self, model, decay):
        self.model = copy.deepcopy(model).eval().requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for kept, new in zip(self.model.parameters(), model.parameters()):
            kept.mul_(self.decay).add_(new, alpha=1 - self.decay)
        for kept, new in zip(self.model.buffers(), model.buffers()):
            kept.copy_(new)


model = Regressor().to(device)
average = Average(model, 0.95)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
inputs = torch.randn(192, 6)
targets = inputs[:, 0] * inputs[:, 1] - inputs[:, 2]
for start in range(0, 192, 32):
    x, y = inputs[start : start + 32].to(device), targets[start : start + 32]
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average.update(model)
    print(f"{start:4d} {loss.item():.5f}")
with torch.no_grad():
    predicted = average.model(inputs[:48].to(device))
print(f"average {(predicted.cpu() - targets[:48]).square().mean().item():.5f}")
torch.save(average.model.state_dict(), "average.pt")
