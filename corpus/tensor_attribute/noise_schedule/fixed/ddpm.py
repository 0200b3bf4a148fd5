import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)


class Diffusion:
    def __init__(self, timesteps=20, start=1e-4, end=0.02):
        self.timesteps = timesteps
        self.betas = torch.linspace(start, end, timesteps)
        self.alphas = 1.0 - self.betas
        self.alphas_bar = torch.cumprod(self.alphas, dim=0)

    def q_sample(self, x0, t, noise):
        bar = self.alphas_bar.to(t.device)[t].view(-1, 1)
        return bar.sqrt() * x0 + (1 - bar).sqrt() * noise


class Denoiser(nn.Module):
    def __init__(self, dim, timesteps):
        super().__init__()
        self.time = nn.Embedding(timesteps, 8)
        self.net = nn.Sequential(nn.Linear(dim + 8, 16), nn.SiLU(), nn.Linear(16, dim))

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], dim=1))


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    diffusion = Diffusion()
    model = Denoiser(2, diffusion.timesteps).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    points = torch.randn(24, 2)
    for epoch in range(2):
        for batch in points.split(12):
            x0 = batch.to(device)
            t = torch.randint(0, diffusion.timesteps, (x0.shape[0],)).to(device)
            noise = torch.randn(x0.shape).to(device)
            loss = F.mse_loss(model(diffusion.q_sample(x0, t, noise), t), noise)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(f"{epoch}: {loss.item():.5f}")


main()
