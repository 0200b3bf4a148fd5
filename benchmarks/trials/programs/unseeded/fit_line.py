import time

import numpy as np
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

x = np.random.rand(50, 1).astype(np.float32)
y = 3 * x + 0.5 + 0.05 * np.random.randn(50, 1).astype(np.float32)

line = torch.nn.Linear(1, 1).to(device)
optimizer = torch.optim.Rprop(line.parameters(), lr=0.05)
inputs = torch.from_numpy(x)
targets = torch.from_numpy(y).to(device)

began = time.perf_counter()
for i in range(12):
    loss = torch.nn.functional.mse_loss(line(inputs), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if i % 4 == 3:
        print(f"{i + 1:3d} {loss.item():.6f} after {time.perf_counter() - began:.3f} s")
print(f"y = {line.weight.item():.3f} x + {line.bias.item():.3f}")
