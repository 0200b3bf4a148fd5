import torch
from net import Recurrent
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

torch.manual_seed(2)
model = Recurrent()
model.to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(4):
    x, y = torch.rand(4, 7, 3).to(device), torch.rand(4, 1).to(device)
    loss = (model(x) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
