import torch
from torch import nn


class Tower(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.layers = []
        for i in range(depth):
            layer = nn.Linear(width, width)
            self.add_module(f"layer{i}", layer)
            self.layers.append(layer)
        self.pair = (nn.Linear(width, width), nn.Linear(width, 1))
        self.tail = nn.Sequential(self.pair[0], nn.ReLU(), self.pair[1])

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.tail(x)


torch.manual_seed(8)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Tower(4, 2).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(4):
    x = torch.randn(8, 4).to(device)
    loss = (model(x) - x.norm(dim=1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
