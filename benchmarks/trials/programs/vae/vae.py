import numpy as np
import torch
from torch import nn, optim
from torch.nn import functional as F

torch.manual_seed(1)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(16, 12)
        self.fc21 = nn.Linear(12, 3)
        self.fc22 = nn.Linear(12, 3)
        self.fc3 = nn.Linear(3, 12)
        self.fc4 = nn.Linear(12, 16)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn(std.size())
        return mu + eps * std

    def decode(self, z):
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x):
        mu, logvar = self.encode(x.view(-1, 16))
        z = self.reparameterize(mu, logvar)
        return self.decode(z), mu, logvar


def images(n):
    base = torch.zeros(n, 1, 4, 4)
    for i in range(n):
        base[i, 0, i % 4, :] = 1.0
    return base


model = VAE().to(device)
optimizer = optim.Adam(model.parameters(), lr=1e-2)
data = images(40)


def elbo(recon, x, mu, logvar):
    bce = F.binary_cross_entropy(recon, x.view(-1, 16), reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce + kld


def train(epoch):
    model.train()
    train_loss = 0
    for i in range(0, 40, 10):
        batch = data[i : i + 10].to(device)
        optimizer.zero_grad()
        recon, mu, logvar = model(batch)
        loss = elbo(recon, batch, mu, logvar)
        loss.backward()
        train_loss += loss.item()
        optimizer.step()
    print("====> Epoch: {} Average loss: {:.4f}".format(epoch, train_loss / 40))


for epoch in range(1, 3):
    train(epoch)
    model.eval()
    with torch.no_grad():
        sample = torch.randn(4, 3)
        sample = model.decode(sample).cpu()
    np.save(f"sample_{epoch}.npy", sample.view(4, 4, 4).numpy())
    with open(f"sample_{epoch}.pgm", "wb") as file:
        file.write(b"P5 4 16 255\n" + (sample * 255).byte().numpy().tobytes())
