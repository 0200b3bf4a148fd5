import torch
from torch import nn
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

torch.manual_seed(1)
model = nn.Linear(4, 2).to(device)
noise = torch.FloatTensor(6, 4).to(device).fill_(0.25)
weights = torch.FloatTensor([0.5, 2.0]).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = (model(noise) * weights).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
