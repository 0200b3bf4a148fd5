from itertools import islice

import numpy as np
import torch
from torch import nn


class G(nn.Module):
    def __init__(self, z=4):
        super().__init__()
        self.z = z
        self.net = nn.Sequential(nn.Linear(z, 16), nn.BatchNorm1d(16), nn.LeakyReLU(0.2), nn.Linear(16, 2))

    def sample(self, n):
        noise = torch.randn(n, self.z)
        return self.net(noise)


class D(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))

    def forward(self, x):
        return self.net(x)


def real_points(batch):
    rng = np.random.RandomState(42)
    while True:
        angle = rng.rand(batch) * 2 * np.pi
        yield torch.tensor(np.stack([np.cos(angle), np.sin(angle)], 1), dtype=torch.float32)


torch.manual_seed(0)
cuda = torch.cuda.is_available()
g, d = G(), D()
if cuda:
    g.cuda()
    d.cuda()
opt_g = torch.optim.Adam(g.parameters(), lr=2e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(d.parameters(), lr=2e-3, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()

for step, real in enumerate(islice(real_points(16), 8)):
    if cuda:
        real = real.cuda()
    fake = g.sample(16)
    loss_d = bce(d(real), torch.ones(16, 1)) + bce(d(fake.detach()), torch.zeros(16, 1))
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()
    loss_g = bce(d(fake), torch.ones(16, 1))
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    print(step, "D %.4f" % loss_d.item(), "G %.4f" % loss_g.item())

g.eval()
with torch.no_grad():
    points = g.sample(32).cpu().numpy()
np.save("samples.npy", points)
print("radius %.4f" % np.linalg.norm(points, axis=1).mean())
