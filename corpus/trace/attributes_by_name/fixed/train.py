import json
import os

import torch

from model import Tabled
from objective import Objective

with open(os.path.join(os.path.dirname(__file__), "conf.json")) as handle:
    conf = json.load(handle)

torch.manual_seed(6)
device = "cuda" if torch.cuda.is_available() else "cpu"
model = Tabled(conf).to(device)
objective = Objective(conf)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    x = torch.rand(14, 6)
    y = x[:, :3].argmax(1)
    loss = objective(model(x.to(device)), y.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.6f}")
