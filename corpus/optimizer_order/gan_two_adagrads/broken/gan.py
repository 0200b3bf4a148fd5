import torch
from torch import nn

torch.manual_seed(77)
use_gpu = torch.cuda.is_available()


class G(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 10), nn.Softplus(), nn.Linear(10, 1))

    def forward(self, z):
        return self.net(z)


class D(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 10), nn.ELU(), nn.Linear(10, 1), nn.Sigmoid())

    def forward(self, x):
        return self.net(x)


def noise(n):
    z = torch.randn(n, 2)
    return z.cuda() if use_gpu else z


def real_samples(n):
    x = 4 + 1.25 * torch.randn(n, 1)
    return x.cuda() if use_gpu else x


gen, dis = G(), D()
bce = nn.BCELoss()
d_optimizer = torch.optim.Adagrad(dis.parameters(), lr=0.05)
g_optimizer = torch.optim.Adagrad(gen.parameters(), lr=0.05)

if use_gpu:
    gen.cuda()
    dis.cuda()

for epoch in range(4):
    dis.zero_grad()
    x = real_samples(16)
    ones, zeros = torch.ones_like(x), torch.zeros_like(x)
    d_loss = bce(dis(x), ones) + bce(dis(gen(noise(16)).detach()), zeros)
    d_loss.backward()
    d_optimizer.step()

    gen.zero_grad()
    g_loss = bce(dis(gen(noise(16))), ones)
    g_loss.backward()
    g_optimizer.step()
    print("%s: D %.5f G %.5f" % (epoch, d_loss.item(), g_loss.item()))
