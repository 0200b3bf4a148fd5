import os

import torch
import torch.nn as nn

os.environ.setdefault("OMP_NUM_THREADS", "1")
torch.manual_seed(9)
device = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")


class Tower(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.features = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        for layer in self.features:
            x = x + torch.tanh(layer(x))
        return self.out(x)


model = Tower(width=6, depth=1).to(device)

# the second stage uses a deeper tower, the first layers keep their weights
for extra in range(2):
    model.features.append(nn.Linear(6, 6))
print("depth is now", len(model.features))

optimizer = torch.optim.NAdam(model.parameters(), lr=2e-3)
inputs = torch.randn(40, 6)
targets = inputs.prod(dim=1, keepdim=True)

best = float("inf")
for epoch in range(4):
    perm = torch.randperm(len(inputs))
    for chunk in perm.chunk(2):
        pred = model(inputs[chunk].to(device))
        loss = (pred - targets[chunk].to(device)).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    best = min(best, loss.item())
    print(f"epoch {epoch} loss {loss.item():.6f} best {best:.6f}")
