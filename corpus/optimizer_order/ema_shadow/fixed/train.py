import torch
import torch.nn.functional as F
from torch import nn

from ema import EMA

torch.manual_seed(3)
device = torch.device('cuda:0' if torch.cuda.is_available() else 'cpu')

model = nn.Sequential(nn.Linear(5, 12), nn.Tanh(), nn.Linear(12, 3))
ema = EMA(model, 0.95)

# the network itself goes to the card
model = model.to(device)
ema.register()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for step in range(4):
    x = torch.randn(16, 5)
    y = x[:, :3].argmax(dim=1)
    loss = F.cross_entropy(model(x.to(device)), y.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    ema.update()
    print(step, loss.item())
