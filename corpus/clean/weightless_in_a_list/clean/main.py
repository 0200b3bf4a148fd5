import torch
import torch.nn as nn


class Net(nn.Module):
    ACTIVATIONS = {"relu": nn.ReLU(), "tanh": nn.Tanh()}

    def __init__(self, activation="tanh"):
        super().__init__()
        self.conv = nn.Conv1d(2, 4, 3, padding=1)
        self.pools = [nn.AvgPool1d(2), nn.MaxPool1d(2)]
        self.activation = self.ACTIVATIONS[activation]
        self.norms = (nn.Identity(), nn.Dropout(0.0))
        self.out = nn.Linear(4, 1)

    def forward(self, x):
        x = self.activation(self.conv(x))
        for norm in self.norms:
            x = norm(x)
        return self.out(sum(pool(x) for pool in self.pools).mean(2))


torch.manual_seed(9)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = Net().to(device)
criteria = [(nn.MSELoss(), 1.0), (nn.L1Loss(), 0.1)]
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(4):
    x = torch.randn(6, 2, 8).to(device)
    y = x.mean(dim=(1, 2)).unsqueeze(1)
    out = net(x)
    loss = sum(weight * criterion(out, y) for criterion, weight in criteria)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
