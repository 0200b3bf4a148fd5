import time

import torch
from torch import nn

torch.manual_seed(4)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
sample = torch.randn(64, 3)
start = time.perf_counter()
sample.to(device)
print("copied", time.perf_counter() - start > 0)
model = nn.Linear(3, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    x = sample[step * 16 : step * 16 + 16].to(device)
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
