"""What may stay on the CPU: indices, masks of a subscript, scalars, sums of numbers, what only feeds NumPy."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(5)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

features = torch.randn(30, 4)
labels = (features.sum(dim=1) > 0).long()
train_mask = torch.zeros(30, dtype=torch.bool)
train_mask[torch.randperm(30)[:20]] = True
test_index = torch.arange(30)[~train_mask]
temperature = torch.tensor(2.0)
history = torch.zeros(4)

x, y = features.to(device), labels.to(device)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
criterion = nn.CrossEntropyLoss()

for epoch in range(4):
    logits = model(x) / temperature
    loss = criterion(logits[train_mask], y[train_mask])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history[epoch] = loss.detach()
    accuracy = torch.tensor(0.0)
    accuracy = accuracy + (logits[test_index].argmax(dim=1) == y[test_index]).float().mean()
    print(f"epoch {epoch}: loss {loss.item():.4f} accuracy {accuracy.item():.3f}")

weights = torch.ones(4) / 4
print("mean loss", (weights * history).sum().item(), np.round(history.numpy(), 3).tolist())
