import os
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def start(backend):
    path = os.path.join(tempfile.mkdtemp(), "store")
    dist.init_process_group(backend, init_method=f"file://{path}", rank=0, world_size=1)


def mean_over_processes(value, device):
    if not (dist.is_available() and dist.is_initialized()):
        return value
    tensor = torch.tensor(value).to(device)
    dist.all_reduce(tensor)
    return tensor.item() / dist.get_world_size()


torch.manual_seed(18)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
print("before:", mean_over_processes(1.0, "cpu"))
start("nccl" if device.type == "cuda" else "gloo")
model = nn.Linear(4, 2).to(device)
model = DistributedDataParallel(model, device_ids=[0] if device.type == "cuda" else None)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    loss = model(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, mean_over_processes(loss.item(), device))
gathered = [torch.zeros(1, device=device)]
dist.all_gather(gathered, loss.detach().reshape(1))
dist.destroy_process_group()

start("gloo")
counts = torch.ones(3)
dist.all_reduce(counts)
dist.broadcast(counts, src=0)
print(counts.tolist(), gathered[0].item())
dist.destroy_process_group()
