import torch
from torch import nn
from utils.utils import Cluster

torch.manual_seed(0)
model = nn.Conv2d(3, 4, 3, padding=1).cuda()
cluster = Cluster()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(2):
    image = torch.rand(1, 3, 24, 24).cuda()
    loss = (model(image)[:, :3].pow(2) - model(image)[:, 3:]).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    truth = torch.zeros(24, 24).cuda()
    truth[:12] = 1
    print(step, loss.item(), cluster.cluster_with_gt(model(image)[0].detach(), truth).sum().item())
