import torch
from torch import nn

from config import DEVICE, LATENT, STEPS

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(LATENT, 12), nn.SiLU(), nn.Linear(12, 4))

    def forward(self, z):
        return self.layers(z)


def sample(n):
    return torch.randn(n, LATENT).to(DEVICE)


torch.manual_seed(8)
decoder = Decoder().to(device)
optimizer = torch.optim.Adam(decoder.parameters(), lr=1e-3)
images = torch.rand(STEPS, 6, 4).to(device)
for step in range(STEPS):
    loss = nn.functional.mse_loss(decoder(sample(6)), images[step])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
