import os
import tempfile

import torch
import torch.distributed as dist
from torch import nn

from ensemble import Mean


def initialize():
    """One process per device; a store in a file, for a run without a launcher."""
    backend = "nccl" if torch.cuda.is_available() else "gloo"
    store = os.path.join(tempfile.mkdtemp(), "store")
    dist.init_process_group(backend, init_method="file://" + store, rank=0, world_size=1)
    if torch.cuda.is_available():
        torch.cuda.set_device(dist.get_rank())
        return torch.device("cuda", dist.get_rank())
    return torch.device("cpu")


if __name__ == "__main__":
    torch.manual_seed(57)
    device = initialize()
    model = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 2)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    mean = Mean(input_shape=(2,), device=device)
    for step in range(4):
        invar = torch.randn(8, 5).to(device)
        target = invar[:, :2] * invar[:, 2:4]
        pred = model(invar)
        loss = (pred - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ensemble = mean(pred.detach()) if step == 0 else mean.update(pred.detach())
        print(step, loss.item(), ensemble.tolist())
    dist.destroy_process_group()
