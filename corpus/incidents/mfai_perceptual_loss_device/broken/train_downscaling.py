import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from mfai_losses import PerceptualLoss


class HalfUNet(nn.Module):
    def __init__(self, channels: int = 3, filters: int = 8) -> None:
        super().__init__()
        self.down = nn.Conv2d(channels, filters, 3, 2, 1)
        self.up = nn.ConvTranspose2d(filters, channels, 2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.up(torch.relu(self.down(x)))


class Downscaler:
    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.model = HalfUNet().to(device)
        self.loss = PerceptualLoss(in_channels=3, alpha_style=0.1)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)

    def shared_step(self, batch) -> torch.Tensor:
        x, y = batch
        x, y = x.to(self.device), y.to(self.device)
        y_hat = self.model(x)
        return self.loss(y_hat, y) + nn.functional.mse_loss(y_hat, y)

    def fit(self, loader: DataLoader, epochs: int) -> None:
        for epoch in range(epochs):
            for batch in loader:
                loss = self.shared_step(batch)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                print(f"epoch {epoch} train_loss={loss.item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    args = parser.parse_args()
    torch.manual_seed(114)
    fields = torch.randn(8, 3, 8, 8)
    coarse = nn.functional.interpolate(nn.functional.avg_pool2d(fields, 2), scale_factor=2)
    Downscaler(torch.device("cuda" if torch.cuda.is_available() else "cpu")).fit(
        DataLoader(TensorDataset(coarse, fields), batch_size=4), args.epochs
    )
