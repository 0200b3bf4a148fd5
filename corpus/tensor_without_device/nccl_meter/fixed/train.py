import os
import tempfile

import torch
import torch.distributed as dist
import torch.nn as nn


class AverageMeter:
    def __init__(self, name):
        self.name = name
        self.sum = 0.0
        self.count = 0

    def update(self, val, n=1):
        self.sum += val * n
        self.count += n

    def all_reduce(self):
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        total = torch.tensor([self.sum, self.count], dtype=torch.float32, device=device)
        dist.all_reduce(total, dist.ReduceOp.SUM, async_op=False)
        self.sum, self.count = total.tolist()
        return self.sum / self.count


torch.manual_seed(6)
gpu = torch.cuda.is_available()
dist.init_process_group(
    "nccl" if gpu else "gloo",
    init_method="file://" + os.path.join(tempfile.mkdtemp(), "init"),
    rank=0,
    world_size=1,
)
net = nn.Linear(5, 3)
criterion = nn.CrossEntropyLoss()
if gpu:
    net.cuda()
    criterion.cuda()
optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
losses = AverageMeter("Loss")
for i in range(5):
    images, target = torch.randn(6, 5), torch.randint(0, 3, (6,))
    if gpu:
        images, target = images.cuda(), target.cuda()
    loss = criterion(net(images), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.update(loss.item(), images.size(0))
    print(i, loss.item())
print(f"Loss {losses.all_reduce():.4f}")
dist.destroy_process_group()
