import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(2)
model = nn.Sequential(nn.Linear(5, 9), nn.Tanh(), nn.Linear(9, 2))

if sys.argv[1:] == ["pretrain"]:
    torch.save({"model": model.to(device).state_dict()}, "base.ckpt")
    sys.exit()

state = torch.load("base.ckpt", map_location="cpu")
model.load_state_dict(state["model"])
model.to(device)
loader = DataLoader(TensorDataset(torch.randn(24, 5), torch.randint(0, 2, (24,))), batch_size=8)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for x, y in loader:
    loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
