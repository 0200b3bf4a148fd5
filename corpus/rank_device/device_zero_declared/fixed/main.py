import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from parallel import local_rank

torch.manual_seed(2)
gpu = torch.cuda.is_available()
dist.init_process_group("nccl" if gpu else "gloo")
rank = local_rank()
device = torch.device(f"cuda:{rank}" if gpu else "cpu")

model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)).to(device)
if gpu:
    model = DDP(model, device_ids=[rank])
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
for i in range(4):
    x = torch.randn(8, 4, generator=torch.Generator().manual_seed(i)).to(device)
    loss = (model(x) - x.mean(1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(i, loss.item())
dist.destroy_process_group()
