import torch
from torch.utils.data import DataLoader, TensorDataset

CUDA = torch.cuda.is_available()
PIN = True

torch.manual_seed(1)
data = TensorDataset(torch.randn(24, 5), torch.randn(24, 1))
net = torch.nn.Linear(5, 1)
if CUDA:
    net = net.cuda()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for xb, yb in DataLoader(data, batch_size=6):
    if CUDA:
        xb, yb = xb.cuda(PIN), yb.cuda(PIN)
    loss = ((net(xb) - yb) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())
