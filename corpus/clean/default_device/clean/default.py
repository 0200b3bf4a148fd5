import torch
import torch.nn as nn

if torch.cuda.is_available():
    torch.set_default_device("cuda")
torch.manual_seed(0)

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 50))
model[2] = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
x = torch.linspace(-1, 1, 40).reshape(10, 4)
y = x.sin().sum(1, keepdim=True)
for step in range(5):
    loss = (model(x) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
