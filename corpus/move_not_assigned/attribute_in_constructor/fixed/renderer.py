import torch
import torch.nn as nn


class Renderer:
    def __init__(self, device):
        self.light = torch.ones(4)
        self.light = self.light.to(device)
        self.device = device

    def render(self, vertices):
        return vertices * self.light


torch.manual_seed(4)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
renderer = Renderer(device)
net = nn.Linear(4, 4).to(device)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(4):
    shape = torch.randn(6, 4).to(device)
    image = renderer.render(net(shape))
    loss = (image - shape).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
