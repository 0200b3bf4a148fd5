import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)
gpu = torch.cuda.is_available()
net = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 1))
if gpu:
    net.cuda()
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
for x, y in DataLoader(TensorDataset(torch.randn(16, 4), torch.randn(16, 1)), batch_size=4):
    if gpu:
        x = x.cuda()
        y = y.cuda()
    loss = nn.functional.l1_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
