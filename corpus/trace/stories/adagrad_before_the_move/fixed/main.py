import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.fc1 = nn.Linear(5, 10)
        self.fc2 = nn.Linear(10, 1)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


torch.manual_seed(10)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Net()
model.to(device)
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
for epoch in range(4):
    x = torch.rand(20, 5).to(device)
    loss = (model(x) - x.max(1, keepdim=True)[0]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("epoch %d: %.5f" % (epoch, loss.item()))
