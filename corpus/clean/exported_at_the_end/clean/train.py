import os
import tempfile

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
out = os.path.join(tempfile.mkdtemp(), "best.pt")
model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1)).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

epochs = 3
for epoch in range(epochs):
    x = torch.randn(8, 6).to(device)
    loss = (model(x) - x.sum(dim=1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"loss {loss.item():.5f}")
    if epoch == epochs - 1:
        model.cpu()
        torch.save(model.state_dict(), out)

model.cpu()
print(f"value {model(torch.ones(2, 6)).mean().item():.4f}")
