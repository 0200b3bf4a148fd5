import os

os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["LOCAL_RANK"]

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

torch.manual_seed(0)
cuda = torch.cuda.is_available()
dist.init_process_group("nccl" if cuda else "gloo")
model = nn.Linear(4, 2)
if cuda:
    model = DDP(model.cuda(), device_ids=[0])
if True:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        x, y = torch.randn(8, 4), torch.randint(0, 2, (8,))
        if cuda:
            x, y = x.cuda(), y.cuda()
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())
dist.destroy_process_group()
