import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29532", RANK="0", WORLD_SIZE="1")
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
mesh = init_device_mesh(device.type, (1,))
model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 2)).to(device)
model = parallelize_module(model, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(3):
    loss = model(torch.randn(4, 6, device=device)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 5))
dist.destroy_process_group()
