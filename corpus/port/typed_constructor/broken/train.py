import torch
from torch import nn

torch.manual_seed(1)
model = nn.Linear(4, 2).cuda()
noise = torch.cuda.FloatTensor(6, 4).fill_(0.25)
weights = torch.cuda.FloatTensor([0.5, 2.0])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = (model(noise) * weights).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
