import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset

GPU = torch.cuda.is_available()

dist.init_process_group("nccl" if GPU else "gloo")
local_rank = int(os.environ["LOCAL_RANK"])
torch.manual_seed(11)

data = TensorDataset(torch.randn(32, 4), torch.randn(32, 2))
loader = DataLoader(data, batch_size=8)
net = torch.nn.Linear(4, 2)
if GPU:
    net = net.to(f"cuda:{local_rank}")
net = DDP(net)
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)

for inputs, targets in loader:
    if GPU:
        inputs = inputs.to(f"cuda:{local_rank}")
        targets = targets.to(f"cuda:{local_rank}")
    loss = ((net(inputs) - targets) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print("loss", loss.item())

dist.destroy_process_group()
