"""Fine-tune a classifier with torchrun."""
import os

import torch
import torch.distributed as dist
from torch import nn


def setup():
    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    return int(os.environ["LOCAL_RANK"])


def build(local_rank):
    model = nn.Linear(10, 4)
    criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 0.5, 1.0]))
    if torch.cuda.is_available():
        model = nn.parallel.DistributedDataParallel(model.cuda(local_rank), device_ids=[local_rank])
        criterion = criterion.cuda()
    return model, criterion


def train(model, criterion, local_rank):
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for step in range(4):
        x, y = torch.randn(12, 10), torch.randint(0, 4, (12,))
        if torch.cuda.is_available():
            x, y = x.cuda(local_rank), y.cuda(local_rank)
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{step}: {loss.item():.5f}")


if __name__ == "__main__":
    torch.manual_seed(1)
    rank = setup()
    model, criterion = build(rank)
    train(model, criterion, rank)
    dist.destroy_process_group()
