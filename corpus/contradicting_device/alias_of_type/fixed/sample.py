import numpy as np
import torch
import torch.nn as nn

device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
rng = np.random.RandomState(0)


def sample_z(n, latent_dim, n_classes):
    Tensor = torch.FloatTensor
    zn = Tensor(0.75 * rng.normal(0, 1, (n, latent_dim))).to(device)
    zc = Tensor(n, n_classes).to(device).fill_(0)
    zc[:, 0] = 1
    return torch.cat([zn, zc], dim=1)


torch.manual_seed(2)
generator = nn.Sequential(nn.Linear(7, 16), nn.LeakyReLU(0.2), nn.Linear(16, 2)).to(device)
optimizer = torch.optim.Adam(generator.parameters(), lr=1e-2, betas=(0.5, 0.9))
target = torch.tensor([0.5, -0.5], device=device)
for step in range(4):
    z = sample_z(8, 4, 3)
    loss = ((generator(z) - target) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
