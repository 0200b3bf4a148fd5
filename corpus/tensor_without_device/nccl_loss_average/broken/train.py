import os
import tempfile

import torch
import torch.distributed as dist
from torch import nn


def init_distributed():
    rank = int(os.environ.get("RANK", 0))
    world = int(os.environ.get("WORLD_SIZE", 1))
    backend = "nccl" if torch.cuda.is_available() else "gloo"
    store = "file://" + os.path.join(tempfile.mkdtemp(), "store")
    dist.init_process_group(backend=backend, init_method=store, rank=rank, world_size=world)
    return int(os.environ.get("LOCAL_RANK", 0))


def average_loss(total, batches, device):
    stats = torch.tensor([total, float(batches)])
    dist.all_reduce(stats, op=dist.ReduceOp.SUM)
    return (stats[0] / stats[1]).item()


def main():
    local_rank = init_distributed()
    device = torch.device(f"cuda:{local_rank}" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(12)
    model = nn.Sequential(nn.Linear(6, 10), nn.ReLU(), nn.Linear(10, 1)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(2):
        running = 0.0
        for _ in range(3):
            x = torch.randn(8, 6).to(device)
            loss = (model(x).squeeze(1) - x.sum(1)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item()
        print("epoch", epoch, "loss", average_loss(running, 3, device))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
