import torch
from net import Recurrent

torch.manual_seed(2)
model = Recurrent()
model.cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(4):
    x, y = torch.rand(4, 7, 3).cuda(), torch.rand(4, 1).cuda()
    loss = (model(x) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
