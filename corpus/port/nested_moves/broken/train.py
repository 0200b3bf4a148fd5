import torch
from torch import nn

torch.manual_seed(9)
model = nn.Linear(4, 2).cuda()
scale = torch.stack([torch.ones(2).cuda(), torch.zeros(2).cuda()]).mean(0).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x = torch.cat([torch.rand(3, 4).cuda(), torch.rand(3, 4).to("cuda")]).cuda(non_blocking=True)
    loss = (model(x) * scale).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
