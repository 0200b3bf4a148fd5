import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main():
    torch.manual_seed(0)
    cuda = torch.cuda.is_available()
    dist.init_process_group("nccl" if cuda else "gloo")
    local_rank = int(os.environ["LOCAL_RANK"])
    device = torch.device(f"cuda:{local_rank}" if cuda else "cpu")
    model = nn.Linear(4, 2).to(device)
    net = DDP(model)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(3):
        x = torch.randn(8, 4).to(device)
        loss = net(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())
    if local_rank == 0 and cuda:
        held_out = torch.randn(16, 4).to("cuda:0")
        print("held out", model(held_out).square().mean().item())
    dist.destroy_process_group()


main()
