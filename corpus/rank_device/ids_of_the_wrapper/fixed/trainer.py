import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel


class Trainer:
    def __init__(self, model, local_rank):
        self.local_rank = local_rank
        self.cuda = torch.cuda.is_available()
        self.device = torch.device(f"cuda:{local_rank}" if self.cuda else "cpu")
        model = model.to(self.device)
        if self.cuda:
            self.model = DistributedDataParallel(model, device_ids=[local_rank], output_device=local_rank)
        else:
            self.model = DistributedDataParallel(model)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-2)
        self.loss = nn.MSELoss()

    def step(self, x, y):
        x, y = x.to(self.device), y.to(self.device)
        self.optimizer.zero_grad()
        loss = self.loss(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.item()


if __name__ == "__main__":
    torch.manual_seed(3)
    dist.init_process_group(backend="nccl" if torch.cuda.is_available() else "gloo")
    net = nn.Sequential(*(nn.Sequential(nn.Linear(5, 5), nn.Tanh()) for _ in range(7)), nn.Linear(5, 1))
    trainer = Trainer(net, int(os.environ["LOCAL_RANK"]))
    for epoch in range(4):
        x = torch.randn(16, 5)
        print(f"epoch {epoch} loss {trainer.step(x, x.sum(1, keepdim=True)):.6f}")
        with torch.no_grad():
            held_out = [trainer.model.module(torch.randn(16, 5).to(trainer.device)).mean() for _ in range(8)]
        print("held out", sum(held_out).item())
    dist.destroy_process_group()
