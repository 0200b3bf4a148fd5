"""Train with a seed that is taken from the clock, as scripts do that want another run each time."""
import random
import time

import torch
from torch import nn

seed = int(time.time())
random.seed(seed)
torch.manual_seed(seed)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 2)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(120, 5)
y = (x.sum(1) > 0).long()
order = list(range(0, 120, 20))
random.shuffle(order)
began = time.time()
for start in order:
    loss = nn.functional.cross_entropy(model(x[start : start + 20].to(device)), y[start : start + 20])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{start} {loss.item():.5f} ({20 / (time.time() - began):.1f} samples/s)")
torch.save(model.state_dict(), "model.pt")
