import torch
import torch.nn as nn
import torch.optim as optim

dev0, dev1 = ("cuda:0", "cuda:1") if torch.cuda.device_count() > 1 else ("cpu", "cpu")


class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = torch.nn.Linear(10, 10).to(dev0)
        self.relu = torch.nn.ReLU()
        self.net2 = torch.nn.Linear(10, 5).to(dev1)

    def forward(self, x):
        x = self.relu(self.net1(x.to(dev0)))
        return self.net2(x)


torch.manual_seed(0)
model = ToyModel()
loss_fn = nn.MSELoss()
optimizer = optim.SGD(model.parameters(), lr=0.01)
for _ in range(4):
    optimizer.zero_grad()
    outputs = model(torch.randn(20, 10))
    labels = torch.randn(20, 5).to(dev1)
    loss = loss_fn(outputs, labels)
    loss.backward()
    optimizer.step()
    print(loss.item())
