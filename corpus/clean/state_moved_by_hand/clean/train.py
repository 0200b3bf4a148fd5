import sys

import torch
from torch import nn


def optimizer_to(optimizer, device):
    for state in optimizer.state.values():
        for key, value in state.items():
            if torch.is_tensor(value) and key != "step":
                state[key] = value.to(device)


torch.manual_seed(17)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
first = "--first" in sys.argv
model = nn.Linear(4, 3)
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
if not first:
    saved = torch.load("state.pt", map_location="cpu")
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
model.to(device)
optimizer_to(optimizer, device)
for _ in range(3):
    x = torch.randn(6, 4).to(device)
    loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
if first:
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, "state.pt")
