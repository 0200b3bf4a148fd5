import torch
from torch import nn

torch.manual_seed(9)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
net.to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.2)
for step in range(4):
    x = torch.randn(10, 3)
    y = (x.sum(1) > 0).long()
    x = x.to(device)
    y = y.to(device)
    loss = nn.functional.nll_loss(net(x).log_softmax(1), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
