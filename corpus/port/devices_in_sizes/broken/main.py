import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
gpus = torch.cuda.device_count()
rows = torch.randn(32, 5)
data = TensorDataset(rows, rows.sum(1, keepdim=True))
loader = DataLoader(data, batch_size=8 * gpus, shuffle=True)

model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))
if gpus > 1:
    model = nn.DataParallel(model)
model = model.cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05 * gpus)
criterion = nn.MSELoss().cuda()

for x, y in loader:
    loss = criterion(model(x.cuda()), y.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item() / gpus)
