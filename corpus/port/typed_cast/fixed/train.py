import torch
from torch import nn
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

torch.manual_seed(2)
net = nn.Linear(4, 3).to(device)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
data = torch.rand(8, 4)
target = (data.sum(1) > 2).float()
for step in range(3):
    output = net(data.to(device, torch.float32))
    loss = nn.functional.cross_entropy(output, target.to(device, torch.int64))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
