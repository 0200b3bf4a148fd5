import types

import torch
from torch import nn

torch.manual_seed(21)


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        return (q @ k.transpose(1, 2)).softmax(-1) @ v


def soften(length, slope):
    cap = torch.linspace(0.0, slope, length)
    if gpu:
        cap = cap.cuda()

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = q @ k.transpose(1, 2)
        return (scores - cap).softmax(-1) @ v

    return forward


def patch(model, cls, maker):
    for module in model.modules():
        if type(module).__name__ == cls:
            module.forward = types.MethodType(maker(), module)


net = nn.Sequential(nn.Linear(3, 8), Attention(8), nn.Flatten(), nn.Linear(48, 1))
gpu = torch.cuda.is_available()
if gpu:
    net = net.cuda()
patch(net, "Attention", lambda: soften(6, 2.0))
optimizer = torch.optim.SGD(net.parameters(), lr=0.02)

for i in range(5):
    x = torch.rand(8, 6, 3)
    target = x.sum(dim=(1, 2)).unsqueeze(1)
    if gpu:
        x, target = x.cuda(), target.cuda()
    loss = nn.functional.smooth_l1_loss(net(x), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"[{i}] {loss.item():.6f}")
