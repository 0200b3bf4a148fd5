import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

X = torch.randn(96, 12)
y = (X[:, 0] * X[:, 1] > 0).float().unsqueeze(1)
loader = DataLoader(TensorDataset(X, y), batch_size=24, shuffle=True)


class BinaryNet(nn.Module):
    def __init__(self, n_in, n_hidden):
        super().__init__()
        self.hidden = nn.Linear(n_in, n_hidden)
        self.bn = nn.BatchNorm1d(n_hidden)
        self.out = nn.Linear(n_hidden, 1)

    def forward(self, x):
        return self.out(torch.relu(self.bn(self.hidden(x))))


model = BinaryNet(12, 16)
loss_fn = nn.BCEWithLogitsLoss()
opt = optim.Adam(model.parameters(), lr=1e-2)

for epoch in range(2):
    for inputs, targets in loader:
        inputs = inputs.to(device)
        targets = targets.to(device)
        opt.zero_grad()
        loss = loss_fn(model(inputs), targets)
        loss.backward()
        opt.step()
    print("epoch", epoch, "loss", loss.item())
