import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=int(os.environ.get("LOCAL_RANK", 0)))
parser.add_argument("--epochs", type=int, default=2)
args = parser.parse_args()


def main():
    cuda = torch.cuda.is_available()
    dist.init_process_group("nccl" if cuda else "gloo")
    if torch.cuda.is_available():
        torch.cuda.set_device(args.local_rank)
    torch.manual_seed(5)
    device = torch.device("cuda", args.local_rank) if cuda else torch.device("cpu")
    model = DistributedDataParallel(torch.nn.Linear(3, 3).to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(args.epochs):
        running = torch.zeros(1)
        if cuda:
            running = running.cuda()
        for _ in range(3):
            x = torch.randn(4, 3).to(device)
            loss = F.mse_loss(model(x), x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.detach()
            print(loss.item())
        dist.all_reduce(running)
        print("epoch", epoch, running.item() / 3)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
