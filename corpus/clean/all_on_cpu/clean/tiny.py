"""So small that an accelerator would only slow it down."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = torch.device("cpu")

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 100)).to(device)
model[2] = nn.Linear(8, 2)
print("accelerator present:", torch.cuda.is_available(), file=__import__("sys").stderr)

x = torch.randn(40, 4)
loader = DataLoader(TensorDataset(x, (x[:, 1] > 0).long()), batch_size=10)
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
for features, target in loader:
    loss = nn.functional.cross_entropy(model(features), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
