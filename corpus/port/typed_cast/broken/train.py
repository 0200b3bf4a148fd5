import torch
from torch import nn

torch.manual_seed(2)
net = nn.Linear(4, 3).cuda()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
data = torch.rand(8, 4)
target = (data.sum(1) > 2).float()
for step in range(3):
    output = net(data.type(torch.cuda.FloatTensor))
    loss = nn.functional.cross_entropy(output, target.type(torch.cuda.LongTensor))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
