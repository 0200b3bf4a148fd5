import argparse
import os
import tempfile

import torch
import torch.distributed as dist
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--dist-backend", default="nccl", type=str)
parser.add_argument("--world-size", default=1, type=int)
parser.add_argument("--steps", default=5, type=int)
args = parser.parse_args()

torch.manual_seed(3)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
dist.init_process_group(
    backend=args.dist_backend if torch.cuda.is_available() else "gloo",
    init_method="file://" + os.path.join(tempfile.mkdtemp(), "rendezvous"),
    rank=0,
    world_size=args.world_size,
)
net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3)).to(device)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
correct, seen = 0.0, 0
for step in range(args.steps):
    inputs = torch.randn(8, 6, device=device)
    labels = torch.randint(0, 3, (8,), device=device)
    scores = net(inputs)
    loss = nn.functional.cross_entropy(scores, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    correct += (scores.argmax(1) == labels).sum().item()
    seen += len(labels)
    print(step, loss.item())
totals = torch.tensor([correct, seen])
dist.all_reduce(totals)
print("accuracy", (totals[0] / totals[1]).item())
dist.destroy_process_group()
